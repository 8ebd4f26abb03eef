"""A passage among the others that may mention a claim: how near it is, and others that say the contrary.

A claim whose nearest passages deny what it affirms is rarely supported by one farther away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from taxkg_assets.verification.comparison import Comparison

_MIXED = 0.5  # agreement of a passage that both affirms and denies
_REACH = 0.5  # bound of a rivalry, on either side


def relate(rows: Sequence[Comparison]) -> list[Comparison]:
    """Add to each comparison what other passages say about the same claim.

    Args:
        rows: Comparisons of the claim with passages of the documents that it is about.

    Returns:
        The same comparisons in the same order.
    """
    best = max((row.similarity for row in rows), default=0.0)
    return [
        replace(
            row,
            rivalry=_score_rivalry(row, rows),
            behind=best - row.similarity,
        )
        for row in rows
    ]


def _score_rivalry(row: Comparison, rows: Sequence[Comparison]) -> float:
    """Return how much nearer to the claim the nearest passage is that says otherwise, -0.5 to 0.5."""
    rivals = [_nearness(own) for own in rows if _is_contrary(own) and not _is_same_place(own, row)]
    return min(max(max(rivals, default=-_REACH) - _nearness(row), -_REACH), _REACH) if rivals else -_REACH


def _nearness(row: Comparison) -> float:
    return row.similarity + row.soft_coverage


def _is_contrary(row: Comparison) -> bool:
    return row.agreement <= _MIXED or row.turns_part or row.is_excepted or row.is_of_others


def _is_same_place(one: Comparison, other: Comparison) -> bool:
    """Return whether one of two passages contains the other."""
    texts = one.passage.spoken, other.passage.spoken
    return texts[0] in texts[1] or texts[1] in texts[0]
