"""Several rankings to one: reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

RRF_K = 60
_STRIDE = 16
"""Of many scores one in so many is looked at to guess how high the best of them are."""


def find_top(
    scores: npt.NDArray[np.float32],
    count: int,
    *,
    floor: float = -np.inf,
    among: npt.NDArray[np.bool_] | None = None,
) -> npt.NDArray[np.int64]:
    """Row numbers of the highest scores above `floor`, of the rows `among` alone if given, best first; ties by row."""
    is_held = scores > max(floor, _guess_cut(scores, count, floor=floor, among=among))
    rows = np.flatnonzero(is_held if among is None else is_held & among)
    if count > len(rows):  # the guess was too high, or there are no more
        is_held = scores > floor
        rows = np.flatnonzero(is_held if among is None else is_held & among)
    if count < len(rows):
        own = scores[rows]
        rows = rows[own >= np.partition(own, len(own) - count)[len(own) - count]] if count else rows[:0]
    order = np.lexsort((rows, -scores[rows]))
    top: npt.NDArray[np.int64] = rows[order][:count]
    return top


def _guess_cut(
    scores: npt.NDArray[np.float32], count: int, *, floor: float, among: npt.NDArray[np.bool_] | None
) -> float:
    """A score that most likely somewhat more rows than asked for exceed: to order all of many takes long."""
    if len(scores) < _STRIDE * count:
        return -np.inf
    some = scores[::_STRIDE] if among is None else scores[::_STRIDE][among[::_STRIDE]]
    some = some[some > floor]
    rank = 2 * count // _STRIDE + _STRIDE
    return float(np.partition(some, len(some) - rank)[len(some) - rank]) if rank < len(some) else -np.inf


def fuse_rankings(rankings: Sequence[Sequence[int]], *, weights: Sequence[float] | None = None) -> dict[int, float]:
    """Sum 1/(60 + rank) over the rankings that hold a row (Cormack, Clarke and Büttcher 2009)."""
    fused: dict[int, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, row in enumerate(ranking, 1):
            fused[int(row)] = fused.get(int(row), 0.0) + weight / (RRF_K + rank)
    return fused
