"""Texts to what is searched: terms, vectors and codes of vectors, and the models that make them."""
