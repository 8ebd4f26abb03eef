"""The home: its storage, its locks, its models, and the fingerprints of what is kept there."""
