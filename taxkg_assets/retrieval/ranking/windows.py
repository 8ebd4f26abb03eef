"""Parent assembly: a hit widened to its surroundings within a budget, no text returned twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from taxkg_assets.retrieval.encoding.arrays import Ints
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.rules.models.ranking import load_ranking

SHOWN = ("text", "bboxes", "node_ids", "heading_path", "anchor_key", "anchor_id", "chunk_id", "terms")
"""Columns of the rows that are returned."""


@dataclass(frozen=True, slots=True)
class Window:
    """Adjacent chunks of a document joined to one passage."""

    text: str
    bboxes: tuple[dict[str, Any], ...]
    chunk_ids: tuple[str, ...]


@dataclass
class Windows:
    """Extends hits to passages so that no row is in two passages.

    Levels: `paragraph` is the hit itself; `section` its whole section; `page` and `document` the surrounding text up to
    the budget; `auto` the hit with the candidates under the same or the parent heading and the adjacent rows. The first
    windows of `auto` are wide and later ones narrow, so that the results cover many passages rather than much of a few.

    Attributes:
        facts: Columns of passages.
        level: Size of a window.
        ranked: Candidate rows, best first.
        used: Rows of windows so far.
        grown: Number of windows so far.
    """

    facts: PassageFacts
    level: str = "auto"
    ranked: Sequence[int] = ()
    used: set[int] = field(default_factory=set)
    grown: int = 0

    def expand_hit(self, row: int) -> Window | None:
        """Extend a hit to a passage; None if an earlier passage already contains it.

        Args:
            row: Row of the hit.

        Returns:
            The hit with the rows around it.
        """
        chosen = self.choose(row)
        return self.open(chosen, hit=row) if chosen else None

    def choose(self, row: int) -> list[int]:
        """Choose the rows of the passage around a hit.

        Args:
            row: Row of the hit.

        Returns:
            Rows in reading order; empty if an earlier window already contains the hit.
        """
        if row in self.used:
            return []
        limits = load_ranking().windows
        chosen = {row}
        if self.level == "auto" and self._scopes(row):
            is_wide = self.grown < limits.wide
            self._take_ranked(row, chosen, budget=limits.words if is_wide else limits.narrow)
            self._take_adjacent(row, chosen, budget=limits.neighbors if is_wide else 0)
        else:
            self._take_adjacent(row, chosen, budget=limits.words)
        self.grown += 1
        rows = sorted(chosen)
        self.used.update(rows)
        self.used.update(self._same_unit(row))
        return rows

    def open(self, rows: Sequence[int], *, hit: int) -> Window:
        """Join chosen rows into one passage.

        Args:
            rows: Rows in reading order.
            hit: Row of the hit.

        Returns:
            Text, rectangles and chunks.
        """
        columns = self.facts.columns
        self.facts.prefetch(rows, SHOWN)
        return Window(
            text="\n".join(self._print(rows, hit=hit)),
            bboxes=tuple(box for row in rows for box in columns["bboxes"][row]),
            chunk_ids=tuple(columns["chunk_id"][row] for row in rows),
        )

    def _take_ranked(self, row: int, chosen: set[int], *, budget: int) -> None:
        """Add ranked candidates under the same heading or the heading above, within the budget."""
        words = self.facts.word_counts
        left = budget - words[row]
        for other in self._find_near(row):
            if other != row and other not in self.used and words[other] <= left:
                chosen.add(other)
                left -= words[other]

    def _find_near(self, row: int) -> list[int]:
        """Return the best rows of the ranking that stand under the same heading or the heading above, best first."""
        facts, best = self.facts, self._best
        is_near = facts.anchor_number[best] == facts.anchor_number[row]
        is_near |= facts.parent_number[best] == facts.parent_number[row]
        is_near &= facts.document_number[best] == facts.document_number[row]
        near: list[int] = best[is_near & (facts.is_table[best] == 0)].tolist()
        return near

    @cached_property
    def _best(self) -> Ints:
        return np.array(self.ranked[: load_ranking().windows.ranked], dtype=np.int64)

    def _take_adjacent(self, row: int, chosen: set[int], *, budget: int) -> None:
        """Add the rows after and before the hit, within the budget."""
        words = self.facts.word_counts
        left = budget - sum(words[own] for own in chosen)
        for scope in self._scopes(row):
            for step in (1, -1):
                following = row + step
                while following in chosen or (self._may_join(row, following, scope) and words[following] <= left):
                    if following not in chosen:
                        chosen.add(following)
                        left -= words[following]
                    following += step

    def _print(self, rows: Sequence[int], *, hit: int) -> Iterator[str]:
        """Yield the rows' texts in reading order, each new heading before them unless the text begins with it."""
        anchors, columns = self.facts.anchor_number, self.facts.columns
        before = anchors[hit]
        for row in rows:
            heading, text = columns["heading_path"][row].rpartition(" > ")[2], columns["text"][row]
            is_new = self.level == "auto" and anchors[row] not in (before, anchors[hit])
            if is_new and heading and heading not in text.partition("\n")[0]:
                yield heading
            before = anchors[row]
            yield text

    def _scopes(self, row: int) -> tuple[str, ...]:
        if self.facts.is_table[row] or self.level in ("paragraph", "table"):
            return ()
        by_level = {"section": ("anchor",), "page": ("page",), "document": ("document",)}
        return by_level.get(self.level, ("anchor", "parent"))

    def _same_unit(self, row: int) -> list[int]:
        """Return the other rows of the hit's page or document, where those are what is ranked."""
        if self.level not in ("page", "document"):
            return []
        is_same = self.facts.document_number == self.facts.document_number[row]
        if self.level == "page":
            is_same &= self.facts.pages == self.facts.pages[row]
        return np.flatnonzero(is_same).tolist()

    def _may_join(self, row: int, other: int, scope: str) -> bool:
        facts = self.facts
        documents = facts.document_number
        if not 0 <= other < len(documents) or other in self.used or documents[other] != documents[row]:
            return False
        if facts.is_table[other]:
            return False
        if scope == "anchor":
            return bool(facts.anchor_number[other] == facts.anchor_number[row])
        if scope == "parent":
            return bool(facts.parent_number[other] == facts.parent_number[row])
        return scope == "document" or bool(facts.pages[other] == facts.pages[row])
