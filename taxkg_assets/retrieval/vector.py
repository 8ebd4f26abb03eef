"""Exact inner products of vectors, and lists of vectors as matrices."""

from __future__ import annotations

import numpy as np
import polars as pl

from taxkg_assets.retrieval.encoder import Vectors


def score_rows(vectors: Vectors, query: Vectors) -> Vectors:
    """Cosine of some thousand rows with the question; all are unit vectors.

    Row by row: a product of matrices keeps other cores waiting for more of it, and those have other work to do.
    """
    scores: Vectors = np.vecdot(vectors, query)
    return scores


def stack_vectors(vectors: pl.Series) -> Vectors:
    """A list column of equally long vectors as one matrix."""
    if vectors.is_empty():
        return np.zeros((0, 0), dtype=np.float32)
    matrix: Vectors = vectors.explode().to_numpy().astype(np.float32).reshape(len(vectors), -1)
    return matrix


def list_vectors(vectors: Vectors) -> pl.Series:
    """A matrix as a list column of its rows."""
    if not len(vectors):
        return pl.Series([], dtype=pl.List(pl.Float32))
    return pl.Series(vectors, dtype=pl.Array(pl.Float32, vectors.shape[1])).cast(pl.List(pl.Float32))
