"""Passages in context: for each line the lines that introduce it, even where these are in another passage.

An item means nothing by itself: "Investment expenses" under "Do not include:" is an exclusion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.lines import (
    Line,
    find_mark,
    is_first_item,
    is_short_item,
    repeats_heading,
    starts_with_heading,
)
from taxkg_assets.rules.models.answers import load_answers

CONTEXT_COLUMNS = ("text", "heading_path", "anchor_key", "node_ids", "chunk_id", "terms")
"""Columns that are read of every row of a context."""
INTRO_COLUMNS = ("text", "heading_path", "node_ids")
"""Columns from which the introducing rows of an item are found."""
_PLAIN = "plain"
"""Kind of mark of an item that is printed without one."""
_SENTENCE_END = re.compile(r"[.?!][”\"’')\]]*$")
_NO_INTRO = -1
"""Placeholder for the introducing line of a list that has none in its context."""


@dataclass(frozen=True, slots=True)
class _OpenList:
    """A list that the next line may continue.

    Attributes:
        mark: Kind of mark of its items.
        intro_ix: Index of the line that introduces it; -1 for none.
    """

    mark: str
    intro_ix: int


@dataclass
class PassageContext:
    """Adjacent rows of one document, line by line.

    Attributes:
        rows: Rows of the index in reading order.
        facts: Columns of passages.
    """

    rows: Sequence[int]
    facts: PassageFacts
    _open_lists: list[_OpenList] = field(default_factory=list, init=False)
    """Lists around the last line that was read, outermost first."""
    _left_lists: list[_OpenList] = field(default_factory=list, init=False)
    """Lists that a paragraph or table interrupted; a later item may continue them."""
    _headings: dict[int, str] = field(default_factory=dict, init=False)
    _lines: list[Line] = field(default_factory=list, init=False)
    """Lines that were read: all, or those up to the last row that a caller needed."""

    @cached_property
    def lines(self) -> list[Line]:
        """Return all lines in reading order."""
        for _ in self._further_lines:
            pass
        return self._lines

    def find_intro_rows(self, row: int) -> set[int]:
        """Return the rows that introduce the first line of a row, without reading the rows after it.

        Args:
            row: A row of the context.
        """
        first_line = next((line for line in self._lines if line.row == row), None)
        if first_line is None:
            first_line = next(line for line in self._further_lines if line.row == row)
        return {self._lines[line_ix].row for line_ix in first_line.intro_ixs}

    @cached_property
    def _further_lines(self) -> Iterator[Line]:
        """Return the one iterator that reads further lines."""
        return self._read_lines()

    def _read_lines(self) -> Iterator[Line]:
        """Read line after line, add each to those that were read, and yield it."""
        lines = self._lines
        for row in self.rows:
            for number, (text, is_heading) in enumerate(self._split(row)):
                is_rest = number == 0 and bool(lines) and continues_element(row, self.facts)
                lines.append(self._make_line(text, row, before=lines, is_heading=is_heading, is_rest=is_rest))
                yield lines[-1]

    @cached_property
    def lines_by_row(self) -> dict[int, list[Line]]:
        """Return the lines of each row."""
        by_row: dict[int, list[Line]] = {row: [] for row in self.rows}
        for line in self.lines:
            by_row[line.row].append(line)
        return by_row

    @property
    def is_cut(self) -> bool:
        """Return whether the document continues after the last row."""
        documents, last = self.facts.document_number, self.rows[-1]
        return bool(last + 1 < len(documents) and documents[last + 1] == documents[last])

    def heading(self, row: int) -> str:
        """Return the heading above a row.

        Args:
            row: A row of the context.
        """
        heading = self._headings.get(row)
        if heading is None:
            path: str = self.facts.columns["heading_path"][row]
            heading = self._headings[row] = path.rpartition(" > ")[2]
        return heading

    def denial(self, row: int) -> str:
        """Return the nearest heading above a row's own that excludes items, such as `Do not include`; empty for none.

        Args:
            row: A row of the context.
        """
        outer_headings = self.facts.columns["heading_path"][row].split(" > ")[1:-1]
        return next((heading for heading in reversed(outer_headings) if load_answers().denials.matches(heading)), "")

    def chunk(self, line: Line) -> str:
        """Return the id of the passage that contains a line.

        Args:
            line: A line of the context.
        """
        return str(self.facts.columns["chunk_id"][line.row])

    def node(self, line: Line) -> str:
        """Return the id of the element that a line prints; empty where it is unknown.

        A passage prints its heading first, then one element in each line.

        Args:
            line: A line of the context.
        """
        nodes: Sequence[str] = self.facts.columns["node_ids"][line.row]
        lines = self.lines_by_row[line.row]
        if line.is_table or len(nodes) == 1:
            return nodes[0]
        if len(lines) == len(nodes) + 1:
            lines = lines[1:]
        node_ix = next((ix for ix, other in enumerate(lines) if other.line_ix == line.line_ix), None)
        return nodes[node_ix] if node_ix is not None and len(lines) == len(nodes) else ""

    def items_of(self, line: Line) -> list[Line]:
        """Return the items of the list that an item belongs to, in reading order, without nested items.

        Args:
            line: A line of the context.
        """
        return [
            other
            for other in self.lines
            if other.mark == line.mark and other.intro_ixs == line.intro_ixs and self._is_same_list(other, line)
        ]

    def items_introduced_by(self, line_ix: int) -> list[Line]:
        """Return the items of the list that a line introduces, without nested items.

        Args:
            line_ix: Index of the introducing line.
        """
        return [line for line in self.lines if line.intro_ixs and line.intro_ixs[-1] == line_ix]

    def _is_same_list(self, item: Line, other: Line) -> bool:
        """Return whether two items with the same introduction, or both without, are of one list: no prose between."""
        low, high = sorted((item.line_ix, other.line_ix))
        return bool(item.intro_ixs) or all(line.is_item for line in self.lines[low : high + 1])

    def _split(self, row: int) -> Iterator[tuple[str, bool]]:
        heading = self.heading(row)
        for text in self.facts.columns["text"][row].splitlines():
            if text.strip():
                yield text, repeats_heading(text, heading)

    def _make_line(self, text: str, row: int, *, before: Sequence[Line], is_heading: bool, is_rest: bool) -> Line:
        """Return a line with the lines that introduce it, and update the open lists.

        `before` are the lines before it; `is_rest` says that it continues the last of these.
        """
        is_table = bool(self.facts.is_table[row])
        mark = "" if is_table else find_mark(text)
        if is_rest and before[-1].is_item:
            return self._make_rest_of_item(text, row, before=before)
        is_heading = is_heading and not (mark and self._open_lists)
        if is_table or is_heading:
            mark = ""
            self._left_lists[:] = (self._open_lists or self._left_lists) if is_table else []
            self._open_lists.clear()
        elif mark:
            self._add_marked_item(text, mark, row, before=before)
        else:
            mark = self._add_unmarked_line(text, row, before=before)
        return Line(
            line_ix=len(before),
            row=row,
            text=text,
            mark=mark,
            intro_ixs=tuple(parent.intro_ix for parent in self._open_lists if parent.intro_ix != _NO_INTRO),
            is_heading=is_heading,
            is_table=is_table,
            heading=self.heading(row),
            is_one_sentence=is_table or (bool(mark) and is_short_item(text)),
        )

    def _make_rest_of_item(self, text: str, row: int, *, before: Sequence[Line]) -> Line:
        """Return the rest of an item that begins in the row before: the same lines introduce it."""
        last = before[-1]
        return Line(len(before), row, text, mark=last.mark, intro_ixs=last.intro_ixs, heading=self.heading(row))

    def _add_marked_item(self, text: str, mark: str, row: int, *, before: Sequence[Line]) -> None:
        """Update the open lists at an item: it continues one of these lists or begins a new one."""
        last = before[-1] if before else None
        if not self._open_lists and last is not None and self._resumes_list(text, mark, row, before=before):
            self._open_lists[:] = self._left_lists
        open_marks = [parent.mark for parent in self._open_lists]
        is_nested = last is not None and last.is_list_intro and last.mark == mark and is_first_item(text)
        if mark in open_marks and not is_nested:
            del self._open_lists[open_marks.index(mark) + 1 :]
        elif last is None or last.is_heading or last.is_table:
            self._open_lists[:] = [_OpenList(mark, self._find_intro_above_table(row, before=before))]
        else:
            self._open_lists.append(_OpenList(mark, last.line_ix))

    def _find_intro_above_table(self, row: int, *, before: Sequence[Line]) -> int:
        """Return the index of the line that introduces a list with only tables between the two; -1 for none."""
        above = next((line for line in reversed(before) if not line.is_table), None)
        if above is None or above.is_heading or not above.is_list_intro:
            return _NO_INTRO
        anchors = self.facts.anchor_number
        return above.line_ix if anchors[above.row] == anchors[row] else _NO_INTRO

    def _resumes_list(self, text: str, mark: str, row: int, *, before: Sequence[Line]) -> bool:
        """Return whether an item after a paragraph or a table resumes the list before it, not a new one."""
        interrupted = next((parent for parent in self._left_lists if parent.mark == mark), None)
        if interrupted is None or is_first_item(text):
            return False
        last = before[-1]
        if last.is_table:
            anchors, intro_ix = self.facts.anchor_number, interrupted.intro_ix
            return intro_ix != _NO_INTRO and bool(anchors[before[intro_ix].row] == anchors[row])
        return not last.is_list_intro and not load_answers().lead_ins.matches(last.text)

    def _add_unmarked_line(self, text: str, row: int, *, before: Sequence[Line]) -> str:
        """Update the open lists at a line without a printed mark; return `plain` if it is an item, empty for prose."""
        last = before[-1] if before else None
        has_heading = starts_with_heading(text, self.heading(row))
        if last is None or has_heading or not self._is_unmarked_item(text, last):
            self._left_lists[:] = self._open_lists or self._left_lists
            self._open_lists.clear()
            return ""
        if last.is_list_intro or last.mark != _PLAIN:
            self._open_lists.append(_OpenList(_PLAIN, last.line_ix))
        return _PLAIN

    def _is_unmarked_item(self, text: str, last: Line) -> bool:
        """Return whether a line is an item without a mark: a short line after a colon, or after another such item.

        An item that ends a sentence ends its list.
        """
        if last.is_table or len(text.split()) > load_answers().lists.plain_words:
            return False
        return last.is_list_intro or (last.mark == _PLAIN and not _SENTENCE_END.search(last.text.rstrip()))


def open_contexts(
    rows: Sequence[int], facts: PassageFacts, *, columns: Sequence[str] = CONTEXT_COLUMNS
) -> dict[int, PassageContext]:
    """Open the context of each row: preceding rows back to the possible start of its list, and some following rows.

    Args:
        rows: Rows of the index.
        facts: Columns of passages.
        columns: Columns to load of all these rows in one read.

    Returns:
        Context by row, for the given rows and those around them; adjacent rows share one context.
    """
    limits = load_answers().lists
    documents = facts.document_number
    prefetch_contexts(rows, facts, columns=columns)
    context_rows: set[int] = set()
    for row in rows:
        for near_row in range(_find_list_start(row, facts), min(len(documents), row + limits.rows_after + 1)):
            if documents[near_row] == documents[row]:
                context_rows.add(near_row)
    contexts: dict[int, PassageContext] = {}
    for adjacent_rows in _group_adjacent(sorted(context_rows), facts):
        contexts.update(dict.fromkeys(adjacent_rows, PassageContext(adjacent_rows, facts)))
    return contexts


def _group_adjacent(rows: Sequence[int], facts: PassageFacts) -> list[tuple[int, ...]]:
    """Group sorted rows into runs of consecutive rows of one document."""
    documents = facts.document_number
    groups: list[list[int]] = []
    for row in rows:
        if groups and row == groups[-1][-1] + 1 and documents[row] == documents[row - 1]:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [tuple(group) for group in groups]


def prefetch_contexts(rows: Sequence[int], facts: PassageFacts, *, columns: Sequence[str] = CONTEXT_COLUMNS) -> None:
    """Load the cells that the contexts of some rows may need, in one read.

    An index in memory has nothing to load.

    Args:
        rows: Rows of the index.
        facts: Columns of passages.
        columns: Columns to load.
    """
    rows_after = load_answers().lists.rows_after + 1
    row_ranges = (range(max(0, _list_possible_starts(row, facts)[-1] - 1), row + rows_after) for row in rows)
    row_count = len(facts.document_number)
    facts.prefetch(sorted({row for row_range in row_ranges for row in row_range if row < row_count}), columns)


def _list_possible_starts(row: int, facts: PassageFacts) -> list[int]:
    """Return the rows where a list around a row may begin, nearest first.

    The first is `rows_before` rows back, the others are the rows before it as far as they are under its heading.
    """
    limits, anchors = load_answers().lists, facts.anchor_number
    rows = [max(0, row - limits.rows_before)]
    furthest = max(0, row - limits.rows_of_list)
    while rows[-1] > furthest and anchors[rows[-1]] == anchors[row] and not facts.is_table[rows[-1]]:
        rows.append(rows[-1] - 1)
    return rows


def _find_list_start(row: int, facts: PassageFacts) -> int:
    """Return the first row of the context of a row: the nearest possible start that is not in the middle of a list."""
    texts = facts.columns["text"]
    *starts, furthest = _list_possible_starts(row, facts)
    return next(
        (start for start in starts if not continues_element(start, facts) and not find_mark(texts[start])), furthest
    )


def continues_element(row: int, facts: PassageFacts) -> bool:
    """Return whether a row continues the paragraph or item of the row before it.

    Args:
        row: Row of the index.
        facts: Columns of passages.
    """
    if row == 0 or facts.is_table[row] or facts.is_table[row - 1]:
        return False
    nodes = facts.columns["node_ids"]
    return bool(nodes[row][0] == nodes[row - 1][-1])


def add_lead_ins(passages: Sequence[Sequence[int]], facts: PassageFacts) -> list[list[int]]:
    """Add to each passage the rows that introduce the list in which it begins.

    So no passage starts with an item whose introduction is missing.

    Args:
        passages: Rows of each passage.
        facts: Columns of passages.

    Returns:
        Rows of each passage in ascending order.
    """
    item_rows = [_find_cut_items(rows, facts) for rows in passages]
    prefetch_contexts([row for rows in item_rows for row in rows], facts, columns=INTRO_COLUMNS)
    return [
        _add_intro_rows(rows, passage_item_rows, facts)
        for rows, passage_item_rows in zip(passages, item_rows, strict=True)
    ]


def _find_cut_items(rows: Sequence[int], facts: PassageFacts) -> list[int]:
    """Find the rows of a passage that begin with an item while the row before them is not in the passage."""
    texts = facts.columns["text"]
    return [row for row in rows if row - 1 not in rows and not facts.is_table[row] and find_mark(texts[row])]


def _add_intro_rows(rows: Sequence[int], item_rows: Sequence[int], facts: PassageFacts) -> list[int]:
    contexts = open_contexts(item_rows, facts, columns=INTRO_COLUMNS) if item_rows else {}
    return sorted(set(rows).union(*(contexts[row].find_intro_rows(row) for row in item_rows)))
