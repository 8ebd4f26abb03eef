"""Several rankings to one: reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

RRF_K = 60


def find_top(scores: npt.NDArray[np.float32], count: int, *, floor: float = -np.inf) -> npt.NDArray[np.int64]:
    """Row numbers of the highest scores above `floor`, best first; ties by row number."""
    count = min(count, len(scores))
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    cut = np.partition(scores, len(scores) - count)[len(scores) - count]
    rows = np.flatnonzero((scores >= cut) & (scores > floor))
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
