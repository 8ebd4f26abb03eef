"""Whose lines a passage of a booklet means: those of the form, of one of its schedules, or of a worksheet."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from taxkg_assets.rules.models.flows import load_flows

_LINE_AND_COLUMN = re.compile(r"Line (\d{1,2}[a-z]{0,2}),? [Cc]olumns? \([a-z]\)")
_CODE_AND_LINE = re.compile(r"Codes? [A-Z]{1,2}\.? Line (\d{1,2}[a-z]{0,2})\b")
_QUESTION = re.compile(r"Question (\d{1,2}[a-z]{0,2})\.?$")
_LINE_WORKSHEET = re.compile(
    r"Lines? \d{1,2}[a-z]{0,2}(?: (?:and|through) \d{1,2}[a-z]{0,2})?"
    r"(?: Worksheet\b|(?:[—.-]| ?[—–-] )(?:[A-Z\d][\w’'-]* (?:(?:and|of|or|for|the|in) )*){1,8}Worksheet(?:\.?$| \(|—))"
)
"""Heading of a line that has a worksheet of its own: `Line 9 Worksheet`, `Line 8—Dues Limit Worksheet`."""
_WORKSHEET_LINE = re.compile(r"\bWorksheet\b.*\bLines? (\d{1,2})")
"""Heading of a worksheet that figures one line: `Dues Worksheet—Line 40`."""
_TITLED_LINE = re.compile(r"Lines? \d{1,2}[a-z]{0,2}[—–]\w")
_WITH_PARENT = re.compile(r"\b(Schedule (?:[A-Z\d]{1,2}|[A-Z]{3})(?:-[A-Z\d]{1,2})?) \(Form ([A-Z\d][\w-]*)\)")
_FIRST_LINE = re.compile(r"lines?_(\d{1,2})")
_CODE = re.compile(r"[A-Z]{1,2}")
_NEAR = 3
WORKSHEET = "worksheet"
"""Scope of lines that belong to a worksheet, which no form prints."""


@dataclass(slots=True)
class _LastCode:
    """The code that was explained last: the next codes belong to its line, too, on a page without that line."""

    document: str = ""
    code: str = ""
    line: str = ""
    is_interrupted: bool = False
    """Whether headings follow that are neither codes nor below one: only the very next code continues then."""
    _members: set[str] = field(default_factory=set)
    """Headings of the codes of the line, and those below them."""

    def find_line(self, row: Mapping[str, Any]) -> str:
        """Return the line that a heading on a code belongs to, if it continues the codes before it; else empty."""
        code = _read_code(row)
        if not code or not self.code or row["document_id"] != self.document:
            return ""
        distance = _number_code(code) - _number_code(self.code)
        return self.line if distance == 1 or (distance > 1 and not self.is_interrupted) else ""

    def add(self, row: Mapping[str, Any], line: str) -> None:
        """Remember a heading.

        Args:
            row: Heading.
            line: The line that it explains; a heading of a line, part or box ends the codes.
        """
        if row["document_id"] != self.document:
            self.document, self.code, self.line = row["document_id"], "", ""
        code, key = _read_code(row), row["key"] or ""
        if code or row["parent_anchor_id"] in self._members:
            self._members.add(row["anchor_id"])
        elif key.startswith(("line", "item", "part", "box")):
            self.code, self.line = "", ""
        else:
            self.is_interrupted = True
        if code:
            self.code, self.is_interrupted = code, False
            self.line = self.line if key.startswith("codes") else line


def _read_code(row: Mapping[str, Any]) -> str:
    """Return the code that a heading explains, the last one of several; empty for none."""
    kind, _, code = (row["key"] or "").partition("_")
    last = code.rpartition("-")[2]
    return last if kind in ("code", "codes") and _CODE.fullmatch(last) else ""


def _number_code(code: str) -> int:
    """Return the place of a code in the order A to Z, AA, AB and so on; A is 1."""
    number = 0
    for letter in code:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


@dataclass(slots=True)
class _LastLine:
    """The numbered heading before a heading of the same document, and the top heading above it."""

    document: str = ""
    number: int = 0
    top: str = ""
    scope: str = ""
    is_continued: bool = False
    _tops: dict[str, str] = field(default_factory=dict)

    def find_scope(self, row: Mapping[str, Any]) -> str:
        """Return the scope of the preceding line if a line under another top heading continues its numbers."""
        number = _read_number(row)
        is_next = row["document_id"] == self.document and number and self.number <= number <= self.number + _NEAR
        return self.scope if is_next and (self.is_continued or self._find_top(row) != self.top) else ""

    def add(self, row: Mapping[str, Any], scope: str, *, is_continued: bool) -> None:
        """Record a heading.

        Args:
            row: Heading.
            scope: Its scope.
            is_continued: Whether the scope is that of the preceding line.
        """
        self._tops[row["anchor_id"]] = self._find_top(row)
        if scope != WORKSHEET and (number := _read_number(row)):
            self.document, self.number, self.scope = row["document_id"], number, scope
            self.is_continued = is_continued
            self.top = self._tops[row["anchor_id"]]

    def _find_top(self, row: Mapping[str, Any]) -> str:
        parent: str = row["parent_anchor_id"] or ""
        return self._tops.get(parent, parent or str(row["anchor_id"]))


@dataclass(frozen=True, slots=True)
class Owners:
    """What the passages below each heading are about.

    Attributes:
        scopes: What `find_scopes` returns.
        line_keys: What `find_line_keys` returns.
    """

    scopes: Mapping[str, str]
    line_keys: Mapping[str, str]


def read_owners(anchors: pl.DataFrame) -> Owners:
    """Find what the passages below each heading are about.

    Args:
        anchors: Headings; their ids sort in the order of the document.

    Returns:
        Schedules and lines by heading.
    """
    return Owners(find_scopes(anchors), find_line_keys(anchors))


def find_scopes(anchors: pl.DataFrame) -> dict[str, str]:
    """Determine which schedule or worksheet the lines under each heading of a booklet belong to.

    A heading belongs to the schedule that it names; else to the schedule of the heading above it; else, if it continues
    the numbers of the line before it, to the schedule of that line.

    Args:
        anchors: Headings; their ids sort in the order of the document.

    Returns:
        Schedule as its heading names it (`Schedule K`), or `WORKSHEET`, by anchor_id; headings without one are left
        out.
    """
    scopes: dict[str, str] = {}
    previous_line = _LastLine()
    chapters: dict[str, str] = {}
    carried_on: set[str] = set()
    headings = dict(anchors.select("anchor_id", "heading").iter_rows())
    columns = ("anchor_id", "document_id", "kind", "key", "heading", "parent_anchor_id")
    for row in anchors.select(columns).sort("anchor_id").iter_rows(named=True):
        document_id, parent_id = row["document_id"], row["parent_anchor_id"]
        own_scope = _read_scope(row)
        if parent_id is None:
            if own_scope and load_flows().chapters.matches(row["heading"]):
                chapters[document_id] = own_scope
            outer_scope = chapters.get(document_id, "")
        else:
            outer_scope = scopes.get(parent_id, "")
        if outer_scope == WORKSHEET and _is_past_worksheet(row, headings.get(parent_id, "")):
            outer_scope = ""
        continued_scope = "" if own_scope or outer_scope else previous_line.find_scope(row)
        scope = own_scope or outer_scope or continued_scope
        if scope:
            scopes[row["anchor_id"]] = scope
        is_below_continued = not own_scope and parent_id in carried_on
        is_continued = bool(continued_scope) or is_below_continued
        if is_continued:
            carried_on.add(row["anchor_id"])
        previous_line.add(row, scope, is_continued=is_continued)
    _fill_between(anchors, scopes)
    return scopes


def _is_past_worksheet(row: Mapping[str, Any], parent: str) -> bool:
    """Decide whether a heading is on a line of the form after the one that a worksheet above it figures."""
    of_line = _WORKSHEET_LINE.search(parent)
    is_titled = _TITLED_LINE.match(row["heading"]) is not None
    return of_line is not None and is_titled and _read_number(row) > int(of_line[1])


def _fill_between(anchors: pl.DataFrame, scopes: dict[str, str]) -> None:
    """Assign to headings without a line, between two lines of one schedule, that schedule."""
    between: list[str] = []
    document = before = ""
    for row in anchors.select("anchor_id", "document_id", "key", "heading").sort("anchor_id").iter_rows(named=True):
        scope = scopes.get(row["anchor_id"], "")
        if row["document_id"] != document:
            document, before, between = row["document_id"], "", []
        if not _read_number(row):
            between += [] if scope else [row["anchor_id"]]
            continue
        if scope and scope == before:
            scopes |= dict.fromkeys(between, scope)
        before, between = scope, []


def find_line_keys(anchors: pl.DataFrame) -> dict[str, str]:
    """Find the line that a heading without a key explains: that of the nearest heading above with a key.

    Args:
        anchors: Headings; their ids sort in the order of the document.

    Returns:
        Key of the line by anchor_id; headings with a key of their own, and those without one above, are omitted.
    """
    keys: dict[str, str] = {}
    line_keys: dict[str, str] = {}
    last = _LastCode()
    columns = ("anchor_id", "document_id", "kind", "key", "heading", "parent_anchor_id")
    for row in anchors.select(columns).sort("anchor_id").iter_rows(named=True):
        line_key = _read_key(row["heading"]) or row["key"] or ""
        if line_key != (row["key"] or ""):
            line_keys[row["anchor_id"]] = line_key
        if (not line_key or line_key.startswith("code_")) and not _read_scope(row):
            line_key = keys.get(row["parent_anchor_id"] or "", "") or last.find_line(row)
            if line_key.startswith("line_"):
                line_keys[row["anchor_id"]] = line_key
        keys[row["anchor_id"]] = line_key
        last.add(row, line_key)
    return line_keys


def find_parents(
    passages: pl.DataFrame,
    documents_by_id: Mapping[str, Mapping[str, Any]],
    anchors: pl.DataFrame,
    scopes: Mapping[str, str],
) -> dict[str, dict[str, str]]:
    """Find the parent form of each schedule that a document names both with and without it.

    Args:
        passages: Rows of `sections`.
        documents_by_id: Rows of `documents` by document_id.
        anchors: Headings.
        scopes: What `find_scopes` returns for them; a booklet explains the lines of its own form's schedules.

    Returns:
        Full name by short name, by document; a schedule of several forms is left out unless one is the document's own.
    """
    # By document and schedule: the forms that it is named with.
    forms_named: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for document, anchor in anchors.select("document_id", "anchor_id").iter_rows():
        scope = scopes.get(anchor, WORKSHEET)
        form = documents_by_id[document]["form"]
        is_schedule_alone = scope != WORKSHEET and "(" not in scope
        if is_schedule_alone and not form.startswith("Schedule"):
            forms_named[document][scope].add(form)
    is_named = pl.col("text").str.contains(r"Schedule .{1,6} \(Form ")
    for document, text in passages.filter(is_named).select("document_id", "text").iter_rows():
        for schedule, form in _WITH_PARENT.findall(text):
            forms_named[document][schedule].add(form)
    full_names: dict[str, dict[str, str]] = {}
    for document, schedules in forms_named.items():
        own_form = documents_by_id[document]["form"]
        full_names[document] = {}
        for schedule, forms in schedules.items():
            if own_form in forms:
                full_names[document][schedule] = f"{schedule} (Form {own_form})"
            elif len(forms) == 1:
                full_names[document][schedule] = f"{schedule} (Form {min(forms)})"
    return full_names


def _read_number(row: Mapping[str, Any]) -> int:
    """Return the number of the first line that a heading explains; 0 for other headings."""
    match = _FIRST_LINE.match(row["key"] or "") or _FIRST_LINE.match(_read_coded_line(row.get("heading") or ""))
    return int(match[1]) if match else 0


def _read_coded_line(heading: str) -> str:
    """Return the key of the line that a heading names after a code; empty for another heading."""
    match = _CODE_AND_LINE.match(heading)
    return f"line_{match[1]}" if match else ""


def _read_key(heading: str) -> str:
    """Return the key of the one line that a heading names with a column, after a code, or as a question; else empty."""
    match = _LINE_AND_COLUMN.match(heading) or _CODE_AND_LINE.match(heading) or _QUESTION.match(heading)
    return f"line_{match[1]}" if match else ""


def _read_scope(row: Mapping[str, Any]) -> str:
    """Return the schedule or worksheet that a heading opens; empty where it opens none."""
    if row["kind"] == "line" and _LINE_WORKSHEET.match(row["heading"]):
        return WORKSHEET
    if row["kind"] not in ("section", "subsection"):
        return ""
    if load_flows().worksheets.matches(row["heading"]):
        return WORKSHEET
    for rule in load_flows().schedules:
        match = rule.pattern.search(row["heading"])
        if match is not None:
            return f"Schedule {match['name']}{match['form'] or ''}"
    return ""
