"""A passage among the others that may mention a claim: words that only others have, and others that say the contrary.

Words near in meaning are not always the same thing: `overnight camp` is near `day camp`. Where another passage that is
about as near to the claim has the very word, it means that one; and a claim whose nearest passages deny what it affirms
is rarely supported by one farther away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from taxkg_assets.verification.claims import Claim
from taxkg_assets.verification.comparison import Comparison

_ABOUT_AS_NEAR = 0.25  # how much less similar a passage may be whose words count
_MIXED = 0.5  # agreement of a passage that both affirms and denies
_REACH = 0.5  # bound of a rivalry, on either side


def relate(claim: Claim, rows: Sequence[Comparison]) -> list[Comparison]:
    """Add to each comparison what other passages say about the same claim.

    Args:
        claim: The claim in its own words.
        rows: Comparisons of the claim with passages of the documents that it is about.

    Returns:
        The same comparisons in the same order.
    """
    best = max((row.similarity for row in rows), default=0.0)
    return [
        replace(
            row,
            found_elsewhere=_score_elsewhere(claim, row, rows),
            rivalry=_score_rivalry(row, rows),
            behind=best - row.similarity,
        )
        for row in rows
    ]


def _score_elsewhere(claim: Claim, row: Comparison, rows: Sequence[Comparison]) -> float:
    """Return the weighted share of a claim's words that a passage and its headings lack and another one has, 0 to 1."""
    others = [own for own in rows if own.similarity >= row.similarity - _ABOUT_AS_NEAR and not _is_same_place(own, row)]
    there = frozenset().union(*(_list_missing(row) - own.own_absent for own in others)) if others else frozenset[str]()
    total = sum(claim.weights.values())
    return sum(claim.weights.get(word, 0.0) for word in there) / total if total else 0.0


def _list_missing(row: Comparison) -> frozenset[str]:
    """Return the words of a claim, as it is written, that neither a passage nor its headings have."""
    return frozenset((row.literal or row).missing)


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
