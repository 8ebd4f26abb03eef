"""Confidence of a decision: the share of decisions of its kind that were right where somebody looked."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import load_family


@cache
def read_confidence(group: str, kind: str) -> float:
    """Share of right decisions of one kind, with one right and one wrong added.

    A kind that was looked at too seldom, or never, has the share of all such kinds of its group.
    """
    family = load_family("confidence")
    counts: dict[str, list[int]] = family[group]
    right, n = counts.get(kind, (0, 0))
    if n < family["seldom"]:
        seldom = [count for count in counts.values() if count[1] < family["seldom"]]
        right, n = sum(count[0] for count in seldom), sum(count[1] for count in seldom)
    return round((right + 1) / (n + 2), 3)


def find_sure_threshold() -> float:
    """The confidence from which a decision counts as sure."""
    threshold: float = load_family("confidence")["sure"]
    return threshold
