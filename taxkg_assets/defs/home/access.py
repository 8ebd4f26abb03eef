"""A home as readers open it: its settings and its tables, without an orchestrator.

Here: what the pipeline's resource and a reader's home have in common. Not here: running anything on a home.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from taxkg_assets.defs.home.store import Store
from taxkg_assets.settings import Settings, settings_of


class AnyHome(Protocol):
    """Interface of anything that identifies a home: the Dagster resource, or a reader's `HomeFolder`."""

    @property
    def settings(self) -> Settings:
        """Return the settings of this process, with this home."""

    @property
    def store(self) -> Store:
        """Return the home's tables and files."""


class NamedHome:
    """Settings and tables of the home named by the attribute `home`."""

    __slots__ = ()
    home: str

    @property
    def settings(self) -> Settings:
        """Return the settings of this process, with this home."""
        return settings_of(self.home)

    @property
    def store(self) -> Store:
        """Return the home's tables and files."""
        return Store(self.settings.home)


@dataclass(frozen=True, slots=True)
class HomeFolder(NamedHome):
    """A home opened outside of the asset graph; an empty name means the setting `home`."""

    home: str = ""
