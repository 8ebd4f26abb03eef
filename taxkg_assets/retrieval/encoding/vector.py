"""Exact inner products of vectors, the highest of many scores, and lists of vectors as matrices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets.retrieval.encoding.encoder import Vectors

_STRIDE = 16
"""Of many scores one in `_STRIDE` is sampled to estimate how high the best of them are."""


def score_rows(vectors: Vectors, query: Vectors) -> Vectors:
    """Compute inner products of some thousand rows with a vector; cosines where all are unit vectors.

    Row by row: a product of matrices keeps other cores waiting, and those have other work to do.

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


def find_top(
    scores: npt.NDArray[np.float32],
    count: int,
    *,
    floor: float = -np.inf,
    among: npt.NDArray[np.bool_] | None = None,
) -> npt.NDArray[np.int64]:
    """Find the rows with the highest scores.

    Args:
        scores: Scores of shape (rows,).
        count: Largest number of rows.
        floor: Scores must be above it.
        among: Rows to choose from; None for all.

    Returns:
        Row numbers, best first; ties by row.
    """
    is_above = scores > max(floor, _estimate_cut(scores, count, floor=floor, among=among))
    rows = np.flatnonzero(is_above if among is None else is_above & among)
    if count > len(rows):  # the estimate was too high, or there are no more
        is_above = scores > floor
        rows = np.flatnonzero(is_above if among is None else is_above & among)
    if count < len(rows):
        own = scores[rows]
        rows = rows[own >= np.partition(own, len(own) - count)[len(own) - count]] if count else rows[:0]
    order = np.lexsort((rows, -scores[rows]))
    top: npt.NDArray[np.int64] = rows[order][:count]
    return top


def _estimate_cut(
    scores: npt.NDArray[np.float32], count: int, *, floor: float, among: npt.NDArray[np.bool_] | None
) -> float:
    """Estimate a score that somewhat more rows than requested exceed: to sort all of many takes long."""
    if len(scores) < _STRIDE * count:
        return -np.inf
    some = scores[::_STRIDE] if among is None else scores[::_STRIDE][among[::_STRIDE]]
    some = some[some > floor]
    rank = 2 * count // _STRIDE + _STRIDE
    return float(np.partition(some, len(some) - rank)[len(some) - rank]) if rank < len(some) else -np.inf
