"""The rows with the highest of many scores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_STRIDE = 16
"""Of many scores one in `_STRIDE` is sampled to estimate how high the best of them are."""


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
    rows = find_above(scores, count, floor=floor, among=among)
    order = np.lexsort((rows, -scores[rows]))
    top: npt.NDArray[np.int64] = rows[order][:count]
    return top


def find_above(
    scores: npt.NDArray[np.float32],
    count: int,
    *,
    floor: float = -np.inf,
    among: npt.NDArray[np.bool_] | None = None,
) -> npt.NDArray[np.int64]:
    """Find the rows with the highest scores in ascending row order, including ties with the lowest of them.

    Args:
        scores: Scores of shape (rows,).
        count: Number of rows.
        floor: Scores must be above it.
        among: Rows to choose from; None for all.

    Returns:
        Row numbers in ascending order.
    """
    is_above = scores > max(floor, _estimate_cut(scores, count, floor=floor, among=among))
    rows = np.flatnonzero(is_above if among is None else is_above & among)
    if count > len(rows):  # the estimate was too high, or there are no more
        is_above = scores > floor
        rows = np.flatnonzero(is_above if among is None else is_above & among)
    if count < len(rows):
        chosen = scores[rows]
        rows = rows[chosen >= np.partition(chosen, len(chosen) - count)[len(chosen) - count]] if count else rows[:0]
    return rows


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
