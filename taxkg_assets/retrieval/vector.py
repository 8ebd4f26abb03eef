"""The vector leg: exact inner products over the whole matrix."""

from __future__ import annotations

from taxkg_assets.retrieval.encoder import Vectors


def score_rows(vectors: Vectors, query: Vectors) -> Vectors:
    """Cosine of every row with the question; both are unit vectors."""
    scores: Vectors = vectors @ query
    return scores
