"""Rule family `confidence`: how many decisions of each kind were checked, and how many were right."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, load_model

Counts = dict[str, tuple[int, int]]
"""Right decisions and checked decisions, by kind of decision."""


class Confidence(Family):
    """Content of `rules/confidence.yaml`.

    Attributes:
        date: Day of the last count, `YYYY-MM-DD`.
        seldom: Kinds with fewer checked decisions than this are counted together, by group.
        sure: Confidence, 0 to 1, from which a decision counts as sure.
    """

    date: str
    seldom: int
    sure: float
    reference_cues: Counts
    reference_mentions: Counts
    roles: Counts
    anchors: Counts
    owners: Counts
    tables: Counts

    def counts_of(self, group: str) -> Counts:
        """Return the counts of a group of decisions.

        Args:
            group: Name of the group, such as `roles`.

        Raises:
            KeyError: There is no such group.
        """
        counts: Counts = self.model_dump(include={group})[group]
        return counts


@cache
def load_confidence() -> Confidence:
    """Return how many decisions of each kind were checked, and how many of them were right."""
    return load_model("confidence", Confidence)
