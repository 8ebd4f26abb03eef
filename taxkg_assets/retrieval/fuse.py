"""Several rankings to one: reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

RRF_K = 60


def find_top(
    scores: npt.NDArray[np.float32],
    count: int,
    *,
    floor: float = -np.inf,
    among: npt.NDArray[np.bool_] | None = None,
) -> npt.NDArray[np.int64]:
    """Row numbers of the highest scores above `floor`, of the rows `among` alone if given, best first; ties by row."""
    is_held = scores > floor
    rows = np.flatnonzero(is_held if among is None else is_held & among)
    if count < len(rows):
        own = scores[rows]
        rows = rows[own >= np.partition(own, len(own) - count)[len(own) - count]] if count else rows[:0]
    order = np.lexsort((rows, -scores[rows]))
    top: npt.NDArray[np.int64] = rows[order][:count]
    return top


def fuse_rankings(rankings: Sequence[Sequence[int]], *, weights: Sequence[float] | None = None) -> dict[int, float]:
    """Sum 1/(60 + rank) over the rankings that hold a row (Cormack, Clarke and Büttcher 2009)."""
    fused: dict[int, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, row in enumerate(ranking, 1):
            fused[int(row)] = fused.get(int(row), 0.0) + weight / (RRF_K + rank)
    return fused
