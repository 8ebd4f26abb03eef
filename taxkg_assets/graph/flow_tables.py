"""Flows that tables state: where the amount of each row's box is reported, or which lines an amount comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import polars as pl

from taxkg_assets.graph.flow_clauses import read_clauses
from taxkg_assets.graph.flow_ends import NO_FORM, About, End, Lines
from taxkg_assets.graph.flow_rows import list_rows, make_row
from taxkg_assets.graph.flow_statements import FlowStatement
from taxkg_assets.graph.flow_subjects import find_subject
from taxkg_assets.graph.place_patterns import FORM_NAME
from taxkg_assets.graph.places import Place, find_places, name_forms
from taxkg_assets.graph.schedule_scopes import Owners
from taxkg_assets.rules.models.flows import load_flows

Row = Mapping[str, Any]
PATH = " > "
"""Between the headings of a row's path."""
_MARK = "| "
"""Between the cells of a row in a passage."""
_FORM_HEAD = re.compile(r"(?i)^forms?(?: number)?$")
_NUMBER = re.compile(
    r"^(?:(?P<kind>Line|Box)(?:es|s)? )?(?P<keys>\d{1,2}[a-z]?(?:(?:, and |, | and )\d{1,2}[a-z]?\b)*)"
    r"(?(kind)(?:[.:]? |—|$)|\.? (?=[A-Z]))"
)
_CODE = re.compile(r"^Code ([A-Z]{1,2})\b")
_GENERAL = re.compile(r"(?i)\b(?:codes?|others?|totals?|all)\b")
"""Words of a row below the heading of a box that is not one kind of its amount."""
_CONTINUED = re.compile(r"(?i)[\s—–-]*\(?\bcontinued\b\)?\.?$")
_KEY = re.compile(r"\d{1,2}[a-z]?\b")
_WORD = re.compile(r"[a-z]{4,}")
_YEARS = re.compile(r"^(\d{4})(?:\s?[–-]\s?(\d{4}))?$")
_MOVES_ON = re.compile(r"\b(?i:also),? (?:enter|include|report)\b[^.]* on .*\bForm\b")
TABLE_RULES = ("table_target", "table_source", "table_step")
"""Rules of statements in tables, whose evidence is a row and no slice of a passage."""


@dataclass(slots=True)
class _Item:
    """The form, box and code that the rows of a table are about, and what the table is recognized by when it continues.

    A row that names no code or box of its own is about none; the rows of codes below it are still about the last box.
    """

    form: str = ""
    keys: tuple[str, ...] = ()
    kind: str = "box"
    code: str = ""
    is_known: bool = False

    def read(self, path: Sequence[str], *, is_form: bool) -> None:
        """Read the form, box number or code in the headings of a row.

        Args:
            path: Headings of the row, its own last.
            is_form: Whether a column of the table names forms.
        """
        self.code, self.is_known, is_box = "", False, False
        for at, words in enumerate(path):
            if is_form and (forms := name_forms(f"Form {words}")) and len(words.split()) == 1:
                self.form, self.keys = forms[0], ()
            elif number := _NUMBER.match(words):
                self.keys, self.kind = tuple(_KEY.findall(number["keys"])), (number["kind"] or "box").lower()
                self.code, self.is_known, is_box = "", True, True
            elif code := _CODE.match(words):
                self.code, self.is_known, is_box = code[1], True, False
            elif is_form:
                self._read_aside(words)
            else:
                # A kind of the amount in a box, right below it; anything else is in no known box.
                self.is_known = is_box and at == len(path) - 1 and not _GENERAL.search(words)
                is_box = False

    def _read_aside(self, words: str) -> None:
        """Read the box that a heading names in parentheses: `Harbor dues (box 3)`."""
        boxes = [place for place in find_places(_cut(words)) if not place.forms and place.keys] if "(" in words else []
        self.is_known = bool(boxes)
        if boxes:
            self.keys, self.kind, self.code = boxes[0].keys, boxes[0].kind, boxes[0].code

    def place(self) -> Place | None:
        """Return the place of the amount; None if the table does not say which box it is in."""
        if not (self.form and self.keys and self.is_known):
            return None
        return Place((self.form,), self.keys, self.kind, "", "", "", 0, 1, code=self.code)


def select_tables(tables: pl.DataFrame, sections: pl.DataFrame) -> pl.DataFrame:
    """Select the tables that state where amounts go or come from, and add the heading and the lead-in of each.

    The lead-in is the passage before a table; for a continued table, the passage before its first part.

    Args:
        tables: Tables with their cells.
        sections: Passages of the same documents; the row of each table has its `table_id`.

    Returns:
        The selected rows by document, with anchor_id, element_id and lead_in.
    """
    header_paths = pl.col("cells").list.eval(pl.element().struct.field("col_path").unique())
    heads = {path for paths_of_table in tables.select(header_paths)["cells"].to_list() for path in paths_of_table}
    flow_heads = [path for path in heads if path and _is_head(path)]
    has_flow_head = pl.col("cells").list.eval(pl.element().struct.field("col_path").is_in(flow_heads)).list.any()
    has_step = pl.col("markdown").str.contains(r"(?i)\balso,? (?:enter|include|report)\b[^|]* on [^|]*\bForm\b")
    lead_in = pl.when(pl.col("table_id").is_null()).then("text").forward_fill().over("anchor_id")
    table_rows = (
        sections.select("table_id", "anchor_id", "element_id", lead_in=lead_in)
        .filter(pl.col("table_id").is_not_null())
        .unique("table_id", keep="first", maintain_order=True)
    )
    columns = ("table_id", "document_id", "page", "title", "markdown", "cells", "bbox")
    selected = (
        tables.filter(has_flow_head | has_step).select(columns).join(table_rows, on="table_id", maintain_order="left")
    )
    return selected.sort("document_id", "table_id")


def read_tables(
    tables: pl.DataFrame,
    anchors: pl.DataFrame,
    documents_by_id: Mapping[str, Row],
    known_lines: Lines,
    *,
    owners: Owners,
) -> Iterator[dict[str, Any]]:
    """Extract flows from the tables of one document.

    Args:
        tables: Its tables, from `select_tables`.
        anchors: Headings that own them.
        documents_by_id: Rows of `documents` by document_id.
        known_lines: Lines of all documents.
        owners: What the tables below each heading are about.

    Yields:
        Rows of `flows`.
    """
    if tables.is_empty():
        return
    columns = ["anchor_id", "key", "heading", "form", "perspective"]
    scopes, line_keys = owners.scopes, owners.line_keys
    headed = tables.join(anchors.select(columns), on="anchor_id", how="left", maintain_order="left")
    item, last = _Item(), None
    for row in headed.iter_rows(named=True):
        row["key"] = line_keys.get(row["anchor_id"]) or row["key"]
        scope = scopes.get(row["anchor_id"], "")
        about, _, own_end = find_subject(
            row, documents_by_id[row["document_id"]], row["heading"] or "", known_lines, scope=scope, schedules={}
        )
        if last is None or not _continues(row, last):
            item = _Item(_find_form(row))
        last = row
        yield from _list_targets(row, item, about, known_lines)
        if own_end is not None and own_end.key.startswith("line_"):
            yield from _list_sources(row, own_end, about, known_lines)
        for statement, cell, printed in _read_steps(row):
            stated = _place_of(row, cell)
            yield from list_rows(statement, None, about, known_lines=known_lines, printed_at=stated, text=printed)


def _is_head(head: str) -> bool:
    """Decide whether the heading of a column says that its cells are where amounts go to or come from."""
    words = _last_heading(head)
    return load_flows().table_targets.matches(words) or load_flows().table_sources.matches(words)


def _last_heading(path: str) -> str:
    """Return the last heading of a path: that of the column or row itself."""
    return path.rpartition(PATH)[2]


def _find_form(row: Row) -> str:
    """Return the form that the title of a table, or its heading, names; empty for none or several."""
    for words in (row["title"], row["heading"] or ""):
        if name := FORM_NAME.search(words):
            forms = name_forms(name[0])
            return forms[0] if len(forms) == 1 else ""
    return ""


def _continues(row: Row, last: Row) -> bool:
    """Decide whether a table continues the last one, with the box that was named there."""
    title, last_title = (_CONTINUED.sub("", table["title"]) for table in (row, last))
    if _find_form(row) != _find_form(last) or title not in ("", last_title):
        return False
    is_below_same_heading = row["anchor_id"] == last["anchor_id"]
    if is_below_same_heading and title:
        return True
    pages_between = row["page"] - last["page"]
    is_near = pages_between == 1 or (is_below_same_heading and pages_between == 0)
    return is_near and _list_heads(row) == _list_heads(last)


def _list_heads(row: Row) -> set[str]:
    """Return the headings of the columns of a table."""
    return {_last_heading(cell["col_path"]) for cell in row["cells"] if cell["col_path"]}


def _cut(words: str) -> str:
    """Return words up to those from which on a place is not where the amount goes, or is."""
    aside_starts = [match.start() for rule in load_flows().table_asides if (match := rule.pattern.search(words))]
    return words[: min(aside_starts, default=len(words))]


def _list_targets(row: Row, item: _Item, about: About, known_lines: Lines) -> Iterator[dict[str, Any]]:
    """Read the cells that say where the amount of their row's box is reported.

    In the column `Report on` and the row `Box 4`, the cell `Schedule 1, line 8` moves box 4 to that line.

    Args:
        row: The table.
        item: The box that its rows name; changed row by row.
        about: What the table is about.
        known_lines: Lines of all documents.

    Yields:
        Rows of `flows`.
    """
    rules = load_flows()
    has_form_column = any(_FORM_HEAD.match(head) for head in _list_heads(row))
    target_cells = [cell for cell in row["cells"] if rules.table_targets.matches(_last_heading(cell["col_path"]))]
    for cell in target_cells:
        path = cell["row_path"].split(PATH)
        row_heading = path[-1]
        item.read(path, is_form=has_form_column)
        source = item.place()
        is_barred = rules.table_bars.matches(row_heading) or rules.table_bars.matches(cell["text"])
        if source is None or is_barred:
            continue
        stated = _quote(row, cell, rule_id="table_target")
        targets = [place for place in find_places(_cut(cell["text"])) if place.forms]
        for target in targets:
            for start in _find_ends(source, about, known_lines, row_heading):
                for end in _find_ends(target, about, known_lines, row_heading, other_form=start.form):
                    yield make_row("flows_to", start, end, stated)


def _find_ends(place: Place, about: About, known_lines: Lines, words: str, *, other_form: str = "") -> Iterator[End]:
    """Find the lines of a place; one of another year, whose numbers differ, only where its label has words of the row.

    Args:
        place: The place.
        about: What the table is about.
        known_lines: Lines of all documents.
        words: Heading of the row.
        other_form: Form of the other end.

    Yields:
        The lines; those of another year without such words are open.
    """
    words_of_row = set(_WORD.findall(words.casefold()))
    for form in place.forms:
        for key in place.keys or ("",):
            end = known_lines.find(place, about, key=key, form=form, other_form=other_form)
            words_of_line = set(_WORD.findall(end.line["label"].casefold())) if end.line is not None else set()
            is_other_line = end.line is not None and not end.is_same_year and not words_of_row & words_of_line
            yield _leave_open(end, place, key) if is_other_line else end


def _leave_open(end: End, place: Place, key: str) -> End:
    """Return an end whose line is that of another revision without the line."""
    shown_name = f"{place.kind}_{key}" if key else place.label
    return End(end.form, shown_name, place.part, place.column, problem=NO_FORM, code=place.code)


def _list_sources(row: Row, own_end: End, about: About, known_lines: Lines) -> Iterator[dict[str, Any]]:
    """Read the cells that say which line the amount of the heading's line comes from, in each year.

    In the column `Dues from` and the row `2021`, the cell `Form 2889, line 4` is the line in the form of that year.

    Args:
        row: The table.
        own_end: Line of the heading.
        about: What the table is about.
        known_lines: Lines of all documents.

    Yields:
        Rows of `flows`.
    """
    rules = load_flows()
    if rules.table_bars.matches(row["lead_in"] or "") or rules.table_bars.matches(row["title"] or ""):
        return
    source_cells = [cell for cell in row["cells"] if rules.table_sources.matches(cell["col_path"])]
    for path, group in groupby(source_cells, key=lambda cell: str(cell["row_path"])):
        cells_of_row = list(group)
        text = " ".join(cell["text"] for cell in cells_of_row)
        if rules.clause_elsewhere.matches(text) or rules.table_bars.matches(text):
            continue
        years = _YEARS.match(_last_heading(path))
        year = int(years[2] or years[1]) if years else None
        for cell in cells_of_row:
            stated = _quote(row, cell, rule_id="table_source")
            for place in _list_whole(_cut(cell["text"])):
                for source in _find_sources(place, about, known_lines, year=year):
                    yield make_row("from_form", source, own_end, stated)


def _list_whole(text: str) -> list[Place]:
    """List the places of a cell; none where amounts are added, or where the form of one of them is not named."""
    places = find_places(text)
    is_whole = all(place.forms for place in places) and not load_flows().table_sums.matches(text)
    return places if is_whole else []


def _find_sources(place: Place, about: About, known_lines: Lines, *, year: int | None) -> Iterator[End]:
    """Find the lines of a place; a line of an earlier year is neither of this year nor one of the nearest revision."""
    place_of_year = replace(place, year=year or place.year)
    for form in place.forms:
        for key in place.keys:
            end = known_lines.find(place_of_year, about, key=key, form=form)
            if not year:
                yield end
                continue
            if end.line is None or not end.is_same_year:
                end = _leave_open(end, place_of_year, key)
            yield replace(end, is_same_year=False) if year != about.year else end


def _read_steps(row: Row) -> Iterator[tuple[FlowStatement, Row, str]]:
    """Read the steps that name an amount of one form and enter it on another form, too.

    Args:
        row: The table.

    Yields:
        The statement, its cell, and the row of the table as printed, in which the offsets of the statement are.
    """
    for cell in row["cells"]:
        if not _MOVES_ON.search(cell["text"]):
            continue
        for statement in read_clauses(cell["text"], heading_kind=""):
            ends = (statement.source, statement.target)
            if all(place is not None and place.forms for place in ends):
                printed, at = _find_printed(row, "", cell["text"])
                start, end = at + statement.start, at + statement.end
                yield replace(statement, start=start, end=end, rule_id="table_step"), cell, printed


def _place_of(row: Row, cell: Row) -> dict[str, Any]:
    """Return where a cell is printed, and the passage of its table."""
    return {**{name: row[name] for name in ("document_id", "page", "element_id")}, "bbox": cell["bbox"]}


def _quote(row: Row, cell: Row, *, rule_id: str) -> dict[str, Any]:
    """Quote a cell with its row, from the row's own heading on."""
    heading, text = _last_heading(cell["row_path"]), cell["text"]
    printed, at = _find_printed(row, heading, text)
    start = max(printed.rfind(heading, 0, at), 0)
    end = at + len(text)
    return {**_place_of(row, cell), "start": start, "end": end, "evidence": printed[start:end], "rule_id": rule_id}


def _find_printed(row: Row, own: str, text: str) -> tuple[str, int]:
    """Return the row that has a cell behind its heading, as passages print it, and where the cell begins in it."""
    for line in row["markdown"].splitlines():
        cells = line.replace("\\|", "\0").strip("|").split("|")
        printed = _MARK.join(cell.strip().replace("\0", "|") for cell in cells)
        heading = printed.find(own)
        if heading >= 0 and (at := printed.find(text, heading + len(own))) >= 0:
            return printed, at
    return f"{own}{_MARK}{text}", len(own) + len(_MARK)
