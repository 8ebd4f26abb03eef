"""Convert texts to search terms, vectors and codes of vectors; the models that make vectors."""
