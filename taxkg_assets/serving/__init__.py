"""Parse, call, render: the command line and whatever else people talk to."""
