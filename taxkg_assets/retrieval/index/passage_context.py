"""Passages in context: for each line, the lines that lead it in, also where these are in another passage.

An item means nothing by itself: "Investment expenses" under "Do not include:" is an exclusion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.lines import Line, find_mark, is_same, is_short_item, starts_list, starts_with_heading
from taxkg_assets.rules.models.answers import load_answers

READ = ("text", "heading_path", "anchor_key", "node_ids", "chunk_id", "terms")
"""Columns that are read of every row of a context."""
_PLAIN = "plain"
"""Mark of an item that is printed without one."""
_CLOSED = re.compile(r"[.?!][”\"’')\]]*$")


@dataclass
class PassageContext:
    """Adjacent rows of one document, line by line.

    Attributes:
        rows: Rows of the index in reading order.
        facts: Columns of passages.
    """

    rows: Sequence[int]
    facts: PassageFacts
    _open: list[tuple[str, int]] = field(default_factory=list, init=False)
    _left: list[tuple[str, int]] = field(default_factory=list, init=False)
    _headings: dict[int, str] = field(default_factory=dict, init=False)

    @cached_property
    def lines(self) -> list[Line]:
        """Return all lines in reading order."""
        all_lines: list[Line] = []
        for row in self.rows:
            for number, (text, is_heading) in enumerate(self._split(row)):
                is_rest = number == 0 and bool(all_lines) and continues_element(row, self.facts)
                all_lines.append(self._place(text, row, before=all_lines, is_heading=is_heading, is_rest=is_rest))
        return all_lines

    @cached_property
    def of_row(self) -> dict[int, list[Line]]:
        """Return lines by row."""
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
            row: Row number in the context.
        """
        cached = self._headings.get(row)
        if cached is None:
            path: str = self.facts.columns["heading_path"][row]
            cached = self._headings[row] = path.rpartition(" > ")[2]
        return cached

    def denial(self, row: int) -> str:
        """Return the nearest heading above a row that excludes, such as `Do not include`; empty for none.

        Args:
            row: Row number in the context.
        """
        above = self.facts.columns["heading_path"][row].split(" > ")[1:-1]
        return next((heading for heading in reversed(above) if load_answers().denials.matches(heading)), "")

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
        lines = self.of_row[line.row]
        if line.is_table or len(nodes) == 1:
            return nodes[0]
        if len(lines) == len(nodes) + 1:
            lines = lines[1:]
        place = next((number for number, other in enumerate(lines) if other.place == line.place), None)
        return nodes[place] if place is not None and len(lines) == len(nodes) else ""

    def items_of(self, line: Line) -> list[Line]:
        """Return the items of the list that an item belongs to, in reading order, without nested items.

        Args:
            line: A line of the context.
        """
        return [
            other
            for other in self.lines
            if other.mark == line.mark and other.leads == line.leads and self._near(other, line)
        ]

    def hanging_on(self, place: int) -> list[Line]:
        """Return the items that a line introduces.

        Args:
            place: Index of the introducing line.
        """
        return [line for line in self.lines if line.leads and line.leads[-1] == place]

    def _near(self, one: Line, other: Line) -> bool:
        """Return whether no line of prose is between two items."""
        low, high = sorted((one.place, other.place))
        return bool(one.leads) or all(line.is_item for line in self.lines[low : high + 1])

    def _split(self, row: int) -> Iterator[tuple[str, bool]]:
        heading = self.heading(row)
        for text in self.facts.columns["text"][row].splitlines():
            if text.strip():
                yield text, is_same(text, heading)

    def _place(self, text: str, row: int, *, before: Sequence[Line], is_heading: bool, is_rest: bool) -> Line:
        is_table = bool(self.facts.is_table[row])
        mark = "" if is_table else find_mark(text)
        if is_rest and before[-1].is_item:
            return self._place_rest(text, row, before=before)
        is_heading = is_heading and not (mark and self._open)
        if is_table or is_heading:
            mark = ""
            self._left[:] = (self._open or self._left) if is_table else []
            self._open.clear()
        elif mark:
            self._hang_item(text, mark, row, before=before)
        else:
            mark = self._hang_plain(text, row, before=before)
        return Line(
            place=len(before),
            row=row,
            text=text,
            mark=mark,
            leads=tuple(place for _, place in self._open if place >= 0),
            is_heading=is_heading,
            is_table=is_table,
            heading=self.heading(row),
            is_whole=is_table or (bool(mark) and is_short_item(text)),
        )

    def _place_rest(self, text: str, row: int, *, before: Sequence[Line]) -> Line:
        """Return the rest of an item that the row before begins: it depends on the same lines."""
        last = before[-1]
        return Line(len(before), row, text, mark=last.mark, leads=last.leads, heading=self.heading(row))

    def _hang_item(self, text: str, mark: str, row: int, *, before: Sequence[Line]) -> None:
        """Update the open lists at an item: it continues one of them or begins a new one."""
        last = before[-1] if before else None
        if not self._open and last is not None and self._continues(text, mark, row, before=before):
            self._open[:] = self._left
        kinds = [kind for kind, _ in self._open]
        is_nested = last is not None and last.opens_list and last.mark == mark and starts_list(text)
        if mark in kinds and not is_nested:
            del self._open[kinds.index(mark) + 1 :]
        elif last is None or last.is_heading or last.is_table:
            self._open[:] = [(mark, self._find_lead_above(row, before=before))]
        else:
            self._open.append((mark, last.place))

    def _find_lead_above(self, row: int, *, before: Sequence[Line]) -> int:
        """Return the place of the line that opens a list above a table in between; -1 for none."""
        above = next((line for line in reversed(before) if not line.is_table), None)
        anchors = self.facts.anchor_number
        is_lead = above is not None and above.opens_list and bool(anchors[above.row] == anchors[row])
        return above.place if above is not None and is_lead and not above.is_heading else -1

    def _continues(self, text: str, mark: str, row: int, *, before: Sequence[Line]) -> bool:
        """Return whether an item after a paragraph or a table belongs to the list before it, not to a new one."""
        last, lead = before[-1], next((place for kind, place in self._left if kind == mark), None)
        if lead is None or starts_list(text):
            return False
        anchors = self.facts.anchor_number
        if last.is_table:
            return lead >= 0 and bool(anchors[before[lead].row] == anchors[row])
        return not last.opens_list and not load_answers().lead_ins.matches(last.text)

    def _hang_plain(self, text: str, row: int, *, before: Sequence[Line]) -> str:
        """Keep the lists that are open at a line without a mark; return its mark where it is an item all the same."""
        last = before[-1] if before else None
        mark = self._mark_plain(text, last, own_start=starts_with_heading(text, self.heading(row)))
        if not mark:
            self._left[:] = self._open or self._left
            self._open.clear()
        elif last is not None and (last.opens_list or last.mark != mark):
            self._open.append((mark, last.place))
        return mark

    def _mark_plain(self, text: str, last: Line | None, *, own_start: bool) -> str:
        """Return the mark of an item without a printed one: a short line after a colon, until the list closes."""
        limits = load_answers().lists
        if last is None or last.is_table or own_start or len(text.split()) > limits.plain_words:
            return ""
        if last.opens_list:
            return _PLAIN
        continues = last.mark == _PLAIN and not _CLOSED.search(last.text.rstrip())
        return _PLAIN if continues else ""


def open_contexts(rows: Sequence[int], facts: PassageFacts) -> dict[int, PassageContext]:
    """Open the context of each row: preceding rows back to the possible start of its list, and some following rows.

    Args:
        rows: Rows of the index.
        facts: Columns of passages.

    Returns:
        PassageContext by row, including the rows around the given ones.
    """
    limits = load_answers().lists
    documents = facts.document_number
    prefetch_contexts(rows, facts)
    wanted: set[int] = set()
    for row in rows:
        for other in range(_find_list_start(row, facts), min(len(documents), row + limits.rows_after + 1)):
            if documents[other] == documents[row]:
                wanted.add(other)
    contexts: dict[int, PassageContext] = {}
    run: list[int] = []
    for row in [*sorted(wanted), -1]:
        if run and (row != run[-1] + 1 or documents[row] != documents[run[-1]]):
            context = PassageContext(tuple(run), facts)
            contexts.update(dict.fromkeys(run, context))
            run = []
        run.append(row)
    return contexts


def prefetch_contexts(rows: Sequence[int], facts: PassageFacts) -> None:
    """Load what the contexts of some rows may need, in one read where the index is not in memory.

    Args:
        rows: Rows of the index.
        facts: Columns of passages.
    """
    after = load_answers().lists.rows_after + 1
    spans = (range(max(0, _rows_back(row, facts)[-1] - 1), row + after) for row in rows)
    most = len(facts.document_number)
    facts.prefetch(sorted({row for span in spans for row in span if row < most}), READ)


def _rows_back(row: int, facts: PassageFacts) -> list[int]:
    """Return where a list around a row may begin, nearest first: some rows back, then each before under its heading."""
    limits, anchors = load_answers().lists, facts.anchor_number
    rows = [max(0, row - limits.rows_before)]
    furthest = max(0, row - limits.rows_of_list)
    while rows[-1] > furthest and anchors[rows[-1]] == anchors[row] and not facts.is_table[rows[-1]]:
        rows.append(rows[-1] - 1)
    return rows


def _find_list_start(row: int, facts: PassageFacts) -> int:
    """Return the first row to read: some rows back, or as far as a long list around it continues."""
    texts = facts.columns["text"]
    *list_rows, last = _rows_back(row, facts)
    is_end = (first for first in list_rows if not continues_element(first, facts) and not find_mark(texts[first]))
    return next(is_end, last)


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
    """Add to each passage the rows that introduce the list it begins in, so that no passage starts with a bare item.

    Args:
        passages: Rows of each passage.
        facts: Columns of passages.

    Returns:
        Rows of each passage in ascending order.
    """
    torn = [_find_torn(rows, facts) for rows in passages]
    prefetch_contexts([row for rows in torn for row in rows], facts)
    return [_add_leads(rows, lead_rows, facts) for rows, lead_rows in zip(passages, torn, strict=True)]


def _find_torn(rows: Sequence[int], facts: PassageFacts) -> list[int]:
    """Find the rows of a passage that begin with an item, and whose row before is not in it."""
    texts = facts.columns["text"]
    return [row for row in rows if row - 1 not in rows and not facts.is_table[row] and find_mark(texts[row])]


def _add_leads(rows: Sequence[int], torn: Sequence[int], facts: PassageFacts) -> list[int]:
    contexts = open_contexts(torn, facts)
    lines = [(contexts[row], contexts[row].of_row[row][0]) for row in torn]
    return sorted({*rows, *(context.lines[place].row for context, line in lines for place in line.leads)})
