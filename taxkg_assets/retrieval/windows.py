"""Parent assembly: a hit widened to its surroundings within a budget, no text handed over twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from taxkg_assets.retrieval.facts import PassageFacts
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

    facts: PassageFacts
    level: str = "auto"
    used: set[int] = field(default_factory=set)

    def grow(self, row: int) -> Window | None:
        """Widen a hit; None if an earlier window already holds it."""
        if row in self.used:
            return None
        low = high = row
        words = self.facts.word_counts
        budget = int(load_family("ranking")["windows"]["words"]) - words[row]
        for scope in self._scopes(row):
            for step in (1, -1):
                while True:
                    following = high + 1 if step > 0 else low - 1
                    if not self._may_join(row, following, scope) or words[following] > budget:
                        break
                    budget -= words[following]
                    low, high = min(low, following), max(high, following)
        self.used.update(range(low, high + 1))
        self.used.update(self._same_unit(row))
        columns = self.facts.columns
        boxes = self.facts.rows["bboxes"][low : high + 1].to_list()
        return Window(
            text="\n".join(columns["text"][low : high + 1]),
            page=columns["page"][low],
            bboxes=tuple(box for own in boxes for box in own),
            chunk_ids=tuple(columns["chunk_id"][low : high + 1]),
        )

    def _scopes(self, row: int) -> tuple[str, ...]:
        if self.facts.columns["level"][row] == "table" or self.level in ("paragraph", "table"):
            return ()
        by_level = {"section": ("anchor",), "page": ("page",), "document": ("document",)}
        return by_level.get(self.level, ("anchor", "parent"))

    def _same_unit(self, row: int) -> list[int]:
        """The other rows of the hit's page or document, where those are what is ranked."""
        if self.level not in ("page", "document"):
            return []
        documents, pages = self.facts.columns["document_id"], self.facts.columns["page"]
        return [
            other
            for other, document in enumerate(documents)
            if document == documents[row] and (self.level == "document" or pages[other] == pages[row])
        ]

    def _may_join(self, row: int, other: int, scope: str) -> bool:
        columns = self.facts.columns
        documents = columns["document_id"]
        if not 0 <= other < len(documents) or other in self.used or documents[other] != documents[row]:
            return False
        if columns["level"][other] == "table":
            return False
        if scope == "anchor":
            return bool(self.facts.anchor_number[other] == self.facts.anchor_number[row])
        if scope == "parent":
            return self.facts.parent_paths[other] == self.facts.parent_paths[row]
        return scope == "document" or bool(columns["page"][other] == columns["page"][row])
