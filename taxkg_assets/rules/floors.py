"""Loader of the floors that gates measure against (floors.yaml)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from taxkg_assets.rules.loader import load_family

LOCATED = " (located)"
"""Ends the name of a query set whose gold was found in this corpus by locators."""


@dataclass(frozen=True, slots=True)
class Floor:
    """One bound of a gate, and the measurement that it was taken from.

    A share of fewer than `least_n` rows says nothing and is not judged.
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
            raise ValueError(f"floor {self.id}: bound is {self.bound!r}, neither min nor max")

    def holds(self, value: float) -> bool:
        """Whether a figure keeps the bound; meeting it exactly is enough."""
        return value >= self.floor if self.bound == "min" else value <= self.floor

    def binds(self, query_set: str) -> bool:
        """Whether a query set is held to the floor.

        Located gold names one right passage of perhaps several in a corpus it was not written for: such a set is
        reported, and bound only by a floor of its own.
        """
        return self.query_set == query_set or (self.query_set is None and not query_set.endswith(LOCATED))

    def describe(self) -> str:
        """The bound in words, for whoever reads why a gate failed."""
        return f"{self.metric} must be at {'least' if self.bound == 'min' else 'most'} {self.floor:g}"


@cache
def load_floors(gate: str | None = None) -> tuple[Floor, ...]:
    """Read the floors of one gate, or of all, in the file's order."""
    floors = tuple(Floor(**row) for row in load_family("floors")["floors"])
    return tuple(floor for floor in floors if gate in (None, floor.gate))
