"""Fusion of several rankings: reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence

RRF_K = 60


def fuse_rankings(rankings: Sequence[Sequence[int]], *, weights: Sequence[float] | None = None) -> dict[int, float]:
    """Fuse rankings by reciprocal rank: a row scores the sum of weight/(60 + rank) over the rankings that contain it.

    Args:
        rankings: Row numbers of each ranking, best first.
        weights: Weight of each ranking; 1 where None.

    Returns:
        Fused score by row.

    Source:
        Cormack, Clarke and Büttcher 2009, reciprocal rank fusion.
    """
    fused: dict[int, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for divisor, row in enumerate(ranking, RRF_K + 1):
            fused[row] = fused.get(row, 0.0) + weight / divisor
    return fused
