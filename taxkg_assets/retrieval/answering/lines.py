"""Lines of passages as a reader sees them: prose, items of a list with the lines that lead them in, rows of a table.

An item says nothing by itself: "Investment expenses" under "Do not include:" is an exclusion. So every line knows the
lines that it hangs on, also where these stand in another passage. Marks of lists are data (rules/answers.yaml).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from taxkg_assets.retrieval.facts import PassageFacts
from taxkg_assets.rules.asking import matches_any
from taxkg_assets.rules.loader import load_family, load_rules
from taxkg_assets.rules.sentences import find_sentences

READ = ("text", "heading_path", "anchor_key", "node_ids", "chunk_id", "terms")
"""Columns that are read of every row of a stretch."""
_PLAIN = "plain"
"""Mark of an item that is printed without one."""
CELLS = "|"
_CLOSED = re.compile(r"[.?!][”\"’')\]]*$")


@dataclass(frozen=True, slots=True)
class Line:
    """One printed paragraph, item, heading or table row.

    Attributes: place: number within its stretch. row: row of the index. mark: kind of its list mark; empty for prose.
                leads: places of the lines that it hangs on, outermost first. sentences: ranges of its text.
    """

    place: int
    row: int
    text: str
    mark: str = ""
    leads: tuple[int, ...] = ()
    is_heading: bool = False
    is_table: bool = False
    sentences: tuple[tuple[int, int], ...] = ()

    def read(self, sentence: int) -> str:
        """One sentence of it."""
        start, end = self.sentences[sentence]
        return self.text[start:end]

    @property
    def is_item(self) -> bool:
        """Whether it is an item of a list."""
        return bool(self.mark)

    @property
    def opens_list(self) -> bool:
        """Whether it ends in a colon or a dash: what follows hangs on it."""
        return self.text.rstrip().endswith((":", "—"))


@dataclass
class Stretch:
    """Neighboring rows of one document, line by line.

    Attributes: rows: rows of the index in reading order.
    """

    rows: Sequence[int]
    facts: PassageFacts
    _open: list[tuple[str, int]] = field(default_factory=list, init=False)
    _left: list[tuple[str, int]] = field(default_factory=list, init=False)

    @cached_property
    def lines(self) -> list[Line]:
        """All lines in reading order."""
        found: list[Line] = []
        for row in self.rows:
            for text, is_heading in self._split(row):
                found.append(self._place(text, row, before=found, is_heading=is_heading))
        return found

    @cached_property
    def of_row(self) -> dict[int, list[Line]]:
        """Lines by row."""
        found: dict[int, list[Line]] = {row: [] for row in self.rows}
        for line in self.lines:
            found[line.row].append(line)
        return found

    @property
    def is_cut(self) -> bool:
        """Whether the document continues after the last row."""
        documents, last = self.facts.document_number, self.rows[-1]
        return bool(last + 1 < len(documents) and documents[last + 1] == documents[last])

    def heading(self, row: int) -> str:
        """The heading above a row."""
        path: str = self.facts.columns["heading_path"][row]
        return path.rpartition(" > ")[2]

    def chunk(self, line: Line) -> str:
        """The id of the passage that contains a line."""
        return str(self.facts.columns["chunk_id"][line.row])

    def node(self, line: Line) -> str:
        """The element that a line prints: a passage prints one in each line, a heading before them."""
        nodes: Sequence[str] = self.facts.columns["node_ids"][line.row]
        own = self.of_row[line.row]
        if line.is_table or len(nodes) == 1:
            return nodes[0]
        if len(own) == len(nodes) + 1:
            own = own[1:]
        place = next((number for number, other in enumerate(own) if other.place == line.place), None)
        return nodes[place] if place is not None and len(own) == len(nodes) else ""

    def items_of(self, line: Line) -> list[Line]:
        """The items of the list that an item belongs to, in reading order, without what hangs on them."""
        return [
            own for own in self.lines if own.mark == line.mark and own.leads == line.leads and self._near(own, line)
        ]

    def hanging_on(self, place: int) -> list[Line]:
        """The items that a line leads in."""
        return [own for own in self.lines if own.leads and own.leads[-1] == place]

    def _near(self, one: Line, other: Line) -> bool:
        """Whether no line of prose is between two items."""
        low, high = sorted((one.place, other.place))
        return bool(one.leads) or all(own.is_item for own in self.lines[low : high + 1])

    def _split(self, row: int) -> Iterator[tuple[str, bool]]:
        heading = self.heading(row)
        for text in self.facts.columns["text"][row].splitlines():
            if text.strip():
                yield text, is_same(text, heading)

    def _place(self, text: str, row: int, *, before: Sequence[Line], is_heading: bool) -> Line:
        is_table = bool(self.facts.is_table[row])
        mark = "" if is_table else find_mark(text)
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
            sentences=self._find_sentences(text, row, is_whole=is_table or (bool(mark) and is_short_item(text))),
        )

    def _find_sentences(self, text: str, row: int, *, is_whole: bool) -> tuple[tuple[int, int], ...]:
        return ((0, len(text)),) if is_whole else tuple(split_line(text, heading=self.heading(row)))

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
            self._open[:] = [(mark, -1)]
        else:
            self._open.append((mark, last.place))

    def _continues(self, text: str, mark: str, row: int, *, before: Sequence[Line]) -> bool:
        """Whether an item after a paragraph or a table belongs to the list before it, not to one that opens there."""
        last, lead = before[-1], next((place for kind, place in self._left if kind == mark), None)
        if lead is None or starts_list(text):
            return False
        anchors = self.facts.anchor_number
        if last.is_table:
            return lead >= 0 and bool(anchors[before[lead].row] == anchors[row])
        return not last.opens_list and not matches_any("answers", "lead_ins", last.text)

    def _hang_plain(self, text: str, row: int, *, before: Sequence[Line]) -> str:
        """Keep the lists that are open at a line without a mark; gives its mark where it is an item all the same."""
        last = before[-1] if before else None
        mark = self._mark_plain(text, last, own_start=starts_with_heading(text, self.heading(row)))
        if not mark:
            self._left[:] = self._open or self._left
            self._open.clear()
        elif last is not None and (last.opens_list or last.mark != mark):
            self._open.append((mark, last.place))
        return mark

    def _mark_plain(self, text: str, last: Line | None, *, own_start: bool) -> str:
        """Whether a line without a mark is an item all the same: a short one after a colon, until the list closes."""
        limits = load_family("answers")["lists"]
        if last is None or last.is_table or own_start or len(text.split()) > limits["plain_words"]:
            return ""
        if last.opens_list:
            return _PLAIN
        continues = last.mark == _PLAIN and not _CLOSED.search(last.text.rstrip())
        return _PLAIN if continues else ""


def open_stretches(rows: Sequence[int], facts: PassageFacts) -> dict[int, Stretch]:
    """The stretch that contains each row: also rows before it, where its list may begin, and rows after it."""
    limits = load_family("answers")["lists"]
    documents = facts.document_number
    wanted: set[int] = set()
    for row in rows:
        for other in range(max(0, row - limits["rows_before"]), min(len(documents), row + limits["rows_after"] + 1)):
            if documents[other] == documents[row]:
                wanted.add(other)
    facts.prefetch(sorted(wanted), READ)
    found: dict[int, Stretch] = {}
    run: list[int] = []
    for row in [*sorted(wanted), -1]:
        if run and (row != run[-1] + 1 or documents[row] != documents[run[-1]]):
            stretch = Stretch(tuple(run), facts)
            found.update(dict.fromkeys(run, stretch))
            run = []
        run.append(row)
    return found


def add_lead_ins(rows: Sequence[int], facts: PassageFacts) -> list[int]:
    """The rows, and the rows with the lead-ins of lists that began before them: no passage opens with a bare item."""
    texts = facts.columns["text"]
    torn = [row for row in rows if row - 1 not in rows and not facts.is_table[row] and find_mark(texts[row])]
    if not torn:
        return list(rows)
    stretches = open_stretches(torn, facts)
    lines = [(stretches[row], stretches[row].of_row[row][0]) for row in torn]
    return sorted({*rows, *(stretch.lines[place].row for stretch, line in lines for place in line.leads)})


def find_mark(text: str) -> str:
    """The kind of list mark that a line begins with; empty where it begins with none."""
    return next((rule.id for rule in load_rules("answers", "marks") if rule.pattern.match(text)), "")


def is_short_item(text: str) -> bool:
    """Whether an item is quoted whole, with all of its sentences, if at all."""
    return bool(len(text.split()) <= load_family("answers")["lists"]["item_words"])


def starts_list(text: str) -> bool:
    """Whether an item is the first of a numbered list."""
    return any(rule.pattern.match(text) for rule in load_rules("answers", "first_marks"))


def is_same(text: str, heading: str) -> bool:
    """Whether a line is the heading."""
    return text.rstrip(". ") == heading.rstrip(". ")


def starts_with_heading(text: str, heading: str) -> bool:
    """Whether a line begins with the heading, run in."""
    return bool(heading) and text.startswith(heading)


def split_line(text: str, *, heading: str) -> Iterator[tuple[int, int]]:
    """Sentences of a line; a heading that is printed before the first, or a short label, stays with it."""
    least = load_family("answers")["least_words"]
    if CELLS in text:
        yield 0, len(text)
        return
    parts = find_sentences(text)
    while len(parts) > 1:
        start, end = parts[0]
        if len(text[start:end].split()) >= least and not is_same(text[start:end], heading):
            break
        parts[:2] = [(start, parts[1][1])]
        if start + len(heading) < end:
            break
    yield from parts
