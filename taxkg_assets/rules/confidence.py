"""Confidence of a decision: the share of right decisions of its kind among those that were checked."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.models.confidence import load_confidence


@cache
def read_confidence(group: str, kind: str) -> float:
    """Return the measured accuracy of one kind of decision, with Laplace smoothing.

    All kinds of a group with few checked decisions (fewer than `seldom_counts`) are counted together.

    Args:
        group: Group of kinds in rules/confidence.yaml, such as `reference_cues`.
        kind: Kind of the decision, such as the id of a rule.

    Returns:
        Probability between 0 and 1, rounded to 3 digits.
    """
    family = load_confidence()
    counts = family.counts_of(group)
    right_count, checked_count = counts.get(kind, (0, 0))
    if checked_count < family.seldom:
        seldom_counts = [count for count in counts.values() if count[1] < family.seldom]
        right_count, checked_count = sum(count[0] for count in seldom_counts), sum(count[1] for count in seldom_counts)
    return round((right_count + 1) / (checked_count + 2), 3)


def find_sure_threshold() -> float:
    """Return the confidence threshold from which a decision needs no review."""
    return load_confidence().sure
