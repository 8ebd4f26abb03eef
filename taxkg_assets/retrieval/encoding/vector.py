"""Exact inner products of vectors, and conversion between columns and matrices of vectors."""

from __future__ import annotations

import numpy as np
import polars as pl

from taxkg_assets.retrieval.encoding.encoder import Vectors


def score_rows(vectors: Vectors, query: Vectors) -> Vectors:
    """Compute the inner products of a few thousand rows with a vector; cosines if all are unit vectors.

    It computes row by row, as a matrix product would occupy all cores.

    Args:
        vectors: Vectors of shape (rows, dimension).
        query: Vector of shape (dimension,).

    Returns:
        Products of shape (rows,).
    """
    scores: Vectors = np.vecdot(vectors, query)
    return scores


def stack_vectors(vectors: pl.Series) -> Vectors:
    """Convert a list column of equally long vectors to a matrix.

    Args:
        vectors: Column of lists.

    Returns:
        Matrix of shape (rows, dimension); (0, 0) for an empty column.
    """
    if vectors.is_empty():
        return np.zeros((0, 0), dtype=np.float32)
    matrix: Vectors = vectors.explode().to_numpy().astype(np.float32).reshape(len(vectors), -1)
    return matrix


def list_vectors(vectors: Vectors) -> pl.Series:
    """Convert a matrix to a list column of its rows.

    Args:
        vectors: Matrix of shape (rows, dimension).

    Returns:
        Column of lists of float32.
    """
    if not len(vectors):
        return pl.Series([], dtype=pl.List(pl.Float32))
    return pl.Series(vectors, dtype=pl.Array(pl.Float32, vectors.shape[1])).cast(pl.List(pl.Float32))
