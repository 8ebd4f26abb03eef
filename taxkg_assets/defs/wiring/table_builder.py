"""What builds a table: a pure function, the tables that it reads and what opens its other arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from taxkg_assets.defs.wiring.resources import Home


@dataclass(frozen=True, slots=True)
class TableBuilder:
    """The function that builds a table, and where its arguments come from.

    Attributes:
        build: The function.
        reads: Names of the tables that it takes.
        resources: Functions that open its other arguments, by name of the argument.
        has_settings: Whether it takes `settings`.
    """

    build: Callable[..., pl.DataFrame]
    reads: tuple[str, ...]
    resources: Mapping[str, Callable[[Home], Any]]
    has_settings: bool

    def make(self, home: Home, **replacements: Any) -> pl.DataFrame:
        """Build the table from the home's current tables.

        Args:
            home: Home whose tables are read.
            replacements: Arguments by name that are passed to the builder as they are, not opened from the home.

        Returns:
            Rows of the table.
        """
        arguments: dict[str, Any] = {name: home.store.read(name) for name in self.reads}
        arguments |= {name: opener(home) for name, opener in self.resources.items() if name not in replacements}
        return self.build(**arguments, **replacements, **({"settings": home.settings} if self.has_settings else {}))
