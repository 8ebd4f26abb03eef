"""How documents get in: sources, reading in child processes or on Spark, publication of their rows."""
