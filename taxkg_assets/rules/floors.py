"""Loader of the floors that gates measure against (floors.yaml)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from taxkg_assets.rules.families import Family, load_model

LOCATED = " (located)"
"""Suffix of the name of a query set that was written for another corpus, so that other passages may be right, too."""
BUNDLED_SET = "bundled"
"""Name of the query set that was written for the bundled samples alone."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A lower or upper limit for a figure of a gate, with the measurement on which the limit is based.

    Attributes:
        id: Id of the floor.
        gate: Table of the gate.
        metric: Figure that is limited.
        floor: The limit.
        bound: `min` if the figure must be at least the limit, `max` if at most.
        measured: Value of the figure when the limit was set; None if it was not measured.
        n: Number of rows that were measured.
        source: Labeled data that was measured.
        date: Day of the measurement.
        query_set: Query set to which the floor applies; None for all sets except located ones.
        least_n: The gate ignores a figure from fewer rows than this, as it is not significant.

    Raises:
        ValueError: `bound` is neither `min` nor `max`.
    """

    id: str
    gate: str
    metric: str
    floor: float
    bound: str
    measured: float | None
    n: int | None
    source: str
    date: str
    query_set: str | None = None
    least_n: int = 0

    def __post_init__(self) -> None:
        if self.bound not in ("min", "max"):
            raise ValueError(f"floor {self.id}: bound must be min or max, not {self.bound!r}")

    def holds(self, value: float) -> bool:
        """Return whether a value is within the limit, which is allowed itself.

        Args:
            value: Value of the figure.
        """
        return value >= self.floor if self.bound == "min" else value <= self.floor

    def binds(self, query_set: str) -> bool:
        """Return whether the floor applies to a query set.

        The gold of a located query set may lack correct passages, because it was written for another corpus: such a set
        is reported, and only a floor with its name applies to it.

        Args:
            query_set: Name of the query set.
        """
        return self.query_set == query_set or (self.query_set is None and not query_set.endswith(LOCATED))

    def describe(self) -> str:
        """Describe the floor for the message of a failed gate.

        Returns:
            One phrase, such as "recall must be at least 0.9".
        """
        return f"{self.metric} must be at {'least' if self.bound == 'min' else 'most'} {self.floor:g}"


class Floors(Family):
    """Content of `rules/floors.yaml`."""

    floors: tuple[Floor, ...]


@cache
def load_floors(gate: str | None = None) -> tuple[Floor, ...]:
    """Return the floors of one gate, or of all, in file order.

    Args:
        gate: Table of the gate; None for all.

    Returns:
        Floors of rules/floors.yaml.
    """
    return tuple(floor for floor in load_model("floors", Floors).floors if gate in (None, floor.gate))
