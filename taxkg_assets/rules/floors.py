"""Loader of the floors that gates measure against (floors.yaml)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from taxkg_assets.rules.families import Family, load_model

LOCATED = " (located)"
"""Ends the name of a query set whose gold was found in this corpus by locators."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A floor or ceiling of a gate, with the measurement it was set from.

    A share over fewer than `least_n` rows is not judged, as it is not significant.

    Attributes:
        id: Name of the floor.
        gate: Table whose gate it belongs to.
        metric: Figure that it bounds.
        floor: The bound.
        bound: `min` or `max`.
        measured: Figure when the floor was set; None where it was not measured.
        n: Rows behind that figure.
        source: Labeled data behind that figure.
        date: Day of the measurement.
        query_set: Query set that it binds; None for all except located ones.
        least_n: Rows from which the figure is judged.

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
        """Return whether a value meets the floor, including equality.

        Args:
            value: Figure in the unit of the metric.
        """
        return value >= self.floor if self.bound == "min" else value <= self.floor

    def binds(self, query_set: str) -> bool:
        """Return whether the floor applies to a query set.

        Located gold may miss other right passages in a corpus that it was not written for: such a set is reported, and
        bound only by a floor of its own.

        Args:
            query_set: Name of the query set.
        """
        return self.query_set == query_set or (self.query_set is None and not query_set.endswith(LOCATED))

    def describe(self) -> str:
        """Describe the floor for the message of a failed gate.

        Returns:
            One phrase.
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
