"""Extend each hit by the rows around it, within a budget of words, so that no row is returned twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from taxkg_assets.retrieval.encoding.arrays import Ints
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.rules.models.ranking import load_ranking

SHOWN_COLUMNS = ("text", "bboxes", "node_ids", "heading_path", "anchor_key", "anchor_id", "chunk_id", "terms")
"""Columns of the rows that are returned."""


@dataclass(frozen=True, slots=True)
class Window:
    """Adjacent chunks of a document joined to one passage.

    Attributes:
        text: Text of the chunks.
        bboxes: Their rectangles.
        chunk_ids: Their ids.
        hit_start: Index of the character of `text` at which the hit begins, after its context.
    """

    text: str
    bboxes: tuple[dict[str, Any], ...]
    chunk_ids: tuple[str, ...]
    hit_start: int = 0


@dataclass
class Windows:
    """Extends hits to passages so that no row is in two passages.

    A window of level `paragraph` is the hit alone; of `section` its whole section; of `page` and `document` the text
    around it up to the budget. A window of `auto` is the hit, other candidates under the same or the parent heading,
    and adjacent rows; only the first windows of `auto` are wide, so that the results cover many passages.

    Attributes:
        facts: Columns of passages.
        level: Size of a window.
        ranked_rows: Candidate rows, best first.
        used_rows: Rows that earlier windows contain.
        window_count: Number of earlier windows.
    """

    facts: PassageFacts
    level: str = "auto"
    ranked_rows: Sequence[int] = ()
    used_rows: set[int] = field(default_factory=set)
    window_count: int = 0

    def expand_hit(self, row: int) -> Window | None:
        """Extend a hit to a passage.

        Args:
            row: Row of the hit.

        Returns:
            The hit with the rows around it; None if an earlier window contains the hit.
        """
        rows = self.choose(row)
        return self.open(rows, hit=row) if rows else None

    def choose(self, row: int) -> list[int]:
        """Choose the rows of the passage around a hit.

        Args:
            row: Row of the hit.

        Returns:
            Rows in reading order; empty if an earlier window already contains the hit.
        """
        if row in self.used_rows:
            return []
        limits = load_ranking().windows
        chosen_rows = {row}
        if self.level == "auto" and self._scopes(row):
            is_wide = self.window_count < limits.wide
            self._take_ranked(row, chosen_rows, budget=limits.words if is_wide else limits.narrow)
            self._take_adjacent(row, chosen_rows, budget=limits.neighbors if is_wide else 0)
        else:
            self._take_adjacent(row, chosen_rows, budget=limits.words)
        self.window_count += 1
        rows = sorted(chosen_rows)
        self.used_rows.update(rows)
        self.used_rows.update(self._same_unit(row))
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
        self.facts.prefetch(rows, SHOWN_COLUMNS)
        text, hit_start = "", 0
        for row, printed_text in zip(rows, self._print(rows, hit=hit), strict=True):
            text += "\n" if text else ""
            hit_start = len(text) if row == hit else hit_start
            text += printed_text
        return Window(
            text=text,
            hit_start=hit_start,
            bboxes=tuple(box for row in rows for box in columns["bboxes"][row]),
            chunk_ids=tuple(columns["chunk_id"][row] for row in rows),
        )

    def _take_ranked(self, row: int, chosen_rows: set[int], *, budget: int) -> None:
        """Add other candidates under the same or the parent heading, within the budget of words."""
        words = self.facts.word_counts
        words_left = budget - words[row]
        for near_row in self._find_near(row):
            if near_row != row and near_row not in self.used_rows and words[near_row] <= words_left:
                chosen_rows.add(near_row)
                words_left -= words[near_row]

    def _find_near(self, row: int) -> list[int]:
        """Return the top candidates under the same or the parent heading, best first."""
        facts, best = self.facts, self._best
        is_near = facts.anchor_number[best] == facts.anchor_number[row]
        is_near |= facts.parent_number[best] == facts.parent_number[row]
        is_near &= facts.document_number[best] == facts.document_number[row]
        near: list[int] = best[is_near & (facts.is_table[best] == 0)].tolist()
        return near

    @cached_property
    def _best(self) -> Ints:
        return np.array(self.ranked_rows[: load_ranking().windows.ranked], dtype=np.int64)

    def _take_adjacent(self, row: int, chosen_rows: set[int], *, budget: int) -> None:
        """Add rows after and before the hit, within the budget of words: first under its heading, then around it."""
        words = self.facts.word_counts
        words_left = budget - sum(words[chosen_row] for chosen_row in chosen_rows)
        for scope in self._scopes(row):
            for step in (1, -1):
                next_row = row + step
                while next_row in chosen_rows or (
                    self._may_join(row, next_row, scope) and words[next_row] <= words_left
                ):
                    if next_row not in chosen_rows:
                        chosen_rows.add(next_row)
                        words_left -= words[next_row]
                    next_row += step

    def _print(self, rows: Sequence[int], *, hit: int) -> Iterator[str]:
        """Yield the text of each row, after its heading if this is a new one that the text does not begin with."""
        anchors, columns = self.facts.anchor_number, self.facts.columns
        previous_anchor = anchors[hit]
        for row in rows:
            heading, text = columns["heading_path"][row].rpartition(" > ")[2], columns["text"][row]
            is_new = self.level == "auto" and anchors[row] not in (previous_anchor, anchors[hit])
            if is_new and heading and heading not in text.partition("\n")[0]:
                text = f"{heading}\n{text}"
            previous_anchor = anchors[row]
            yield text

    def _scopes(self, row: int) -> tuple[str, ...]:
        """Return the units within which adjacent rows join a hit, smallest first; empty for a hit that stays alone."""
        if self.facts.is_table[row] or self.level in ("paragraph", "table"):
            return ()
        by_level = {"section": ("anchor",), "page": ("page",), "document": ("document",)}
        return by_level.get(self.level, ("anchor", "parent"))

    def _same_unit(self, row: int) -> list[int]:
        """Return all rows of the hit's page or document if windows are of that level."""
        if self.level not in ("page", "document"):
            return []
        is_same = self.facts.document_number == self.facts.document_number[row]
        if self.level == "page":
            is_same &= self.facts.pages == self.facts.pages[row]
        return np.flatnonzero(is_same).tolist()

    def _may_join(self, row: int, other: int, scope: str) -> bool:
        """Return whether a row is in the same unit as a hit, is no table, and is in no earlier window."""
        facts = self.facts
        documents = facts.document_number
        if not 0 <= other < len(documents) or other in self.used_rows or documents[other] != documents[row]:
            return False
        if facts.is_table[other]:
            return False
        if scope == "anchor":
            return bool(facts.anchor_number[other] == facts.anchor_number[row])
        if scope == "parent":
            return bool(facts.parent_number[other] == facts.parent_number[row])
        return scope == "document" or bool(facts.pages[other] == facts.pages[row])
