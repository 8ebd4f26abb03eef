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
        count: Maximum number of rows.
        floor: Only rows with a higher score are found.
        among: Mask of the rows to choose from; None for all.

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
    """Find the rows with the highest scores, in ascending row order, including ties with the lowest of these scores.

    Args:
        scores: Scores of shape (rows,).
        count: Number of rows; more are found where several have the lowest of their scores.
        floor: Only rows with a higher score are found.
        among: Mask of the rows to choose from; None for all.

    Returns:
        Row numbers in ascending order.
    """
    is_above = scores > max(floor, _estimate_cut(scores, count, floor=floor, among=among))
    rows = np.flatnonzero(is_above if among is None else is_above & among)
    if count > len(rows):  # the estimate was too high, or there are no more
        is_above = scores > floor
        rows = np.flatnonzero(is_above if among is None else is_above & among)
    if count < len(rows):
        row_scores = scores[rows]
        rows = (
            rows[row_scores >= np.partition(row_scores, len(row_scores) - count)[len(row_scores) - count]]
            if count
            else rows[:0]
        )
    return rows


def _estimate_cut(
    scores: npt.NDArray[np.float32], count: int, *, floor: float, among: npt.NDArray[np.bool_] | None
) -> float:
    """Estimate from a sample a score that somewhat more than `count` rows exceed, so that not all rows are sorted."""
    if len(scores) < _STRIDE * count:
        return -np.inf
    sample = scores[::_STRIDE] if among is None else scores[::_STRIDE][among[::_STRIDE]]
    sample = sample[sample > floor]
    rank = 2 * count // _STRIDE + _STRIDE
    return float(np.partition(sample, len(sample) - rank)[len(sample) - rank]) if rank < len(sample) else -np.inf
