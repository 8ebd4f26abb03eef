"""What builds a table: a pure function, the tables that it reads and what opens its other arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from taxkg_assets.defs.wiring.resources import Home


@dataclass(frozen=True, slots=True)
class TableBuilder:
    """A table's builder, with its input tables and the functions that open its other arguments."""

    build: Callable[..., pl.DataFrame]
    reads: tuple[str, ...]
    resources: Mapping[str, Callable[[Home], Any]]
    has_settings: bool

    def make(self, home: Home, **instead: Any) -> pl.DataFrame:
        """Build the table from the home's current tables.

        Args:
            home: Home whose tables are read.
            instead: Arguments to pass instead of opening them from the home, by name.

        Returns:
            Rows of the table.
        """
        arguments: dict[str, Any] = {n: home.store.read(n) for n in self.reads}
        arguments |= {n: opener(home) for n, opener in self.resources.items() if n not in instead}
        return self.build(**arguments, **instead, **({"settings": home.settings} if self.has_settings else {}))
