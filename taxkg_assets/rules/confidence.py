"""Confidence of a decision: the share of right decisions of its kind among those that were checked."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.models.confidence import load_confidence


@cache
def read_confidence(group: str, kind: str) -> float:
    """Return the measured accuracy of one kind of decision, with Laplace smoothing.

    Kinds with few checked decisions (fewer than `seldom`) are pooled by group.

    Args:
        group: List of kinds in rules/confidence.yaml, such as `reference_cues`.
        kind: Kind of the decision, such as the id of a rule.

    Returns:
        Probability between 0 and 1, rounded to 3 digits.
    """
    family = load_confidence()
    counts = family.counts_of(group)
    right, n = counts.get(kind, (0, 0))
    if n < family.seldom:
        seldom = [count for count in counts.values() if count[1] < family.seldom]
        right, n = sum(count[0] for count in seldom), sum(count[1] for count in seldom)
    return round((right + 1) / (n + 2), 3)


def find_sure_threshold() -> float:
    """Return the confidence threshold from which a decision needs no review."""
    return load_confidence().sure
