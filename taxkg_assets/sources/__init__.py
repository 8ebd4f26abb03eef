"""Sources of documents, and what each document is."""
