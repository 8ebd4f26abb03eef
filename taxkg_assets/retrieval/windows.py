"""Parent assembly: a hit widened to its surroundings within a budget, no text handed over twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl

from taxkg_assets.rules.loader import load_family


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of neighbouring chunks handed over as one passage."""

    text: str
    page: int
    bboxes: tuple[dict[str, Any], ...]
    chunk_ids: tuple[str, ...]


@dataclass
class Windows:
    """Grows windows over the rows of an index; a row goes into one window only.

    Levels: paragraph hands over the hit itself; section its whole anchor; page and document what stands there, cut to
    the budget; auto the hit with its neighbours under the same heading, then under the heading above.
    """

    rows: pl.DataFrame
    level: str = "auto"
    used: set[int] = field(default_factory=set)

    def grow(self, row: int) -> Window | None:
        """Widen a hit; None if an earlier window already holds it."""
        if row in self.used:
            return None
        low = high = row
        budget = int(load_family("ranking")["windows"]["words"]) - self._words(row)
        for scope in self._scopes(row):
            for step in (1, -1):
                while True:
                    following = high + 1 if step > 0 else low - 1
                    if not self._may_join(row, following, scope) or self._words(following) > budget:
                        break
                    budget -= self._words(following)
                    low, high = min(low, following), max(high, following)
        self.used.update(range(low, high + 1))
        self.used.update(self._same_unit(row))
        part = self.rows[low : high + 1]
        return Window(
            text="\n".join(part["text"]),
            page=part["page"][0],
            bboxes=tuple(box for boxes in part["bboxes"] for box in boxes),
            chunk_ids=tuple(part["chunk_id"]),
        )

    def _scopes(self, row: int) -> tuple[str, ...]:
        if self.rows["level"][row] == "table" or self.level in ("paragraph", "table"):
            return ()
        by_level = {"section": ("anchor",), "page": ("page",), "document": ("document",)}
        return by_level.get(self.level, ("anchor", "parent"))

    def _same_unit(self, row: int) -> list[int]:
        """The other rows of the hit's page or document, where those are what is ranked."""
        if self.level not in ("page", "document"):
            return []
        columns = ["document_id", "page"] if self.level == "page" else ["document_id"]
        own = self.rows.select(columns).row(row)
        same = pl.all_horizontal(pl.col(name) == value for name, value in zip(columns, own, strict=True))
        return self.rows.select(pl.arg_where(same)).to_series().to_list()

    def _may_join(self, row: int, other: int, scope: str) -> bool:
        rows = self.rows
        if not 0 <= other < rows.height or other in self.used or rows["document_id"][other] != rows["document_id"][row]:
            return False
        if rows["level"][other] == "table":
            return False
        if scope == "anchor":
            return bool(rows["anchor_id"][other] == rows["anchor_id"][row])
        if scope == "parent":
            return _parent(rows["heading_path"][other]) == _parent(rows["heading_path"][row])
        return scope == "document" or bool(rows["page"][other] == rows["page"][row])

    def _words(self, row: int) -> int:
        return len(self.rows["text"][row].split())


def _parent(heading_path: str) -> str:
    return heading_path.rpartition(" > ")[0]
