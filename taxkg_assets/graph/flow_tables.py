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
from taxkg_assets.graph.flow_passages import find_subject
from taxkg_assets.graph.flow_rows import list_rows, make_row
from taxkg_assets.graph.flow_statements import FlowStatement
from taxkg_assets.graph.place_patterns import FORM_NAME
from taxkg_assets.graph.places import Place, find_places, name_forms
from taxkg_assets.graph.schedule_scopes import find_line_keys, find_scopes
from taxkg_assets.rules.models.flows import load_flows

Row = Mapping[str, Any]
PATH = " > "
"""Between the headings of a row's path."""
_FORM_HEAD = re.compile(r"(?i)^forms?(?: number)?$")
_NUMBER = re.compile(r"^(?:Box |Line )?(\d{1,2}[a-z]?)\.? (?=[A-Z])")
_CODE = re.compile(r"^Code ([A-Z]{1,2})\b")
_CODES = re.compile(r"^Codes [A-Z]{1,2}\b")
_SEE = re.compile(r"(?i)[,;(]? ?(?:but )?(?:first )?\bsee\b")
"""Before a reference, whose place no amount goes to."""
_YEARS = re.compile(r"^(\d{4})(?:\s?[–-]\s?(\d{4}))?$")
_MOVES_ON = re.compile(r"\b(?i:also),? (?:enter|include|report)\b[^.]* on .*\bForm\b")
TABLE_RULES = ("table_target", "table_source", "table_step")
"""Rules of statements in tables, whose evidence is a row and no slice of a passage."""


@dataclass(slots=True)
class _Item:
    """The box, and the code of its entry, that the rows of a table are about."""

    form: str = ""
    keys: tuple[str, ...] = ()
    kind: str = "box"
    code: str = ""
    is_known: bool = True

    def read(self, words: str, *, is_form: bool) -> None:
        """Take over what one heading of a row names: a form, the number of a box, or a code.

        Args:
            words: Words of the heading.
            is_form: Whether a column of the table names forms.
        """
        boxes = [each for each in find_places(words) if not each.forms and each.keys]
        if is_form and (forms := name_forms(f"Form {words}")) and len(words.split()) == 1:
            self.form, self.keys, self.code = forms[0], (), ""
        elif number := _NUMBER.match(words):
            self.keys, self.kind, self.code, self.is_known = (number[1],), "box", "", True
        elif code := _CODE.match(words):
            self.code, self.is_known = code[1], True
        elif _CODES.match(words):
            self.is_known = False
        elif is_form and "(" in words:
            self.keys, self.code = (boxes[0].keys, boxes[0].code) if boxes else ((), "")
            self.kind = boxes[0].kind if boxes else "box"

    def place(self) -> Place | None:
        """Return the place of the amount; None where the table does not say which box it is in."""
        if not (self.form and self.keys and self.is_known):
            return None
        return Place((self.form,), self.keys, self.kind, "", "", "", 0, 1, code=self.code)


def select_tables(tables: pl.DataFrame, sections: pl.DataFrame) -> pl.DataFrame:
    """Select the tables that say where amounts go or come from, with the heading and the passage before each.

    Args:
        tables: Tables with their cells.
        sections: Passages of the same documents, one of which has the id of each table.

    Returns:
        Some of the rows in the order of their documents, with anchor_id, element_id and lead_in.
    """
    heads = pl.col("cells").list.eval(pl.element().struct.field("col_path").unique())
    named = {head for own in tables.select(heads)["cells"].to_list() for head in own if head and _is_head(head)}
    is_named = pl.col("cells").list.eval(pl.element().struct.field("col_path").is_in(list(named))).list.any()
    is_step = pl.col("markdown").str.contains(r"(?i)\balso,? (?:enter|include|report)\b[^|]* on [^|]*\bForm\b")
    before = pl.when(pl.col("anchor_id").shift() == pl.col("anchor_id")).then(pl.col("text").shift()).otherwise(None)
    owners = (
        sections.select("table_id", "anchor_id", "element_id", lead_in=before)
        .filter(pl.col("table_id").is_not_null())
        .unique("table_id", keep="first", maintain_order=True)
    )
    columns = ("table_id", "document_id", "page", "title", "cells", "bbox")
    kept = tables.filter(is_named | is_step).select(columns).join(owners, on="table_id", maintain_order="left")
    return kept.sort("document_id", "table_id")


def read_tables(
    tables: pl.DataFrame, anchors: pl.DataFrame, papers: Mapping[str, Row], known: Lines
) -> Iterator[dict[str, Any]]:
    """Read the tables of one document.

    Args:
        tables: Its tables, from `select_tables`.
        anchors: Headings that own them.
        papers: Rows of `documents` by document_id.
        known: Lines of all documents.

    Yields:
        Rows of `flows`.
    """
    if tables.is_empty():
        return
    columns = ["anchor_id", "key", "heading", "form", "perspective"]
    scopes, line_keys = find_scopes(anchors), find_line_keys(anchors)
    headed = tables.join(anchors.select(columns), on="anchor_id", how="left", maintain_order="left")
    item, title = _Item(), ""
    for row in headed.iter_rows(named=True):
        row["key"] = line_keys.get(row["anchor_id"]) or row["key"]
        scope = scopes.get(row["anchor_id"], "")
        about, _, own = find_subject(
            row, papers[row["document_id"]], row["heading"] or "", known, scope=scope, schedules={}
        )
        item = item if row["title"] == title else _Item()
        title = row["title"]
        for statement, cell, text in _read_targets(row, item):
            stated = _place_of(row, cell)
            yield from list_rows(statement, None, about, known=known, stated=stated, text=text)
        if own is not None and own.key.startswith("line_"):
            yield from _list_sources(row, own, about, known)
        for statement, cell in _read_steps(row["cells"]):
            stated = _place_of(row, cell)
            yield from list_rows(statement, None, about, known=known, stated=stated, text=cell["text"])


def _is_head(head: str) -> bool:
    own = head.rpartition(PATH)[2]
    return load_flows().table_targets.matches(own) or load_flows().table_sources.matches(own)


def _read_targets(row: Row, item: _Item) -> Iterator[tuple[FlowStatement, Row, str]]:
    """Read the cells that say where the amount of their row's box is reported."""
    heads = {cell["col_path"].rpartition(PATH)[2] for cell in row["cells"]}
    is_form = any(_FORM_HEAD.match(head) for head in heads)
    if name := FORM_NAME.search(row["title"] or row["heading"] or ""):
        item.form = item.form or name_forms(name[0])[0]
    for cell in row["cells"]:
        if not load_flows().table_targets.matches(cell["col_path"].rpartition(PATH)[2]):
            continue
        path = cell["row_path"].split(PATH)
        for words in path:
            item.read(words, is_form=is_form)
        source, text = item.place(), cell["text"]
        reference = _SEE.search(text)
        for place in find_places(text[: reference.start()] if reference else text):
            if source is not None and place.forms:
                quoted = f"{path[-1]}| {text}"
                yield FlowStatement("flows_to", source, place, 0, len(quoted), "table_target"), cell, quoted


def _list_sources(row: Row, own: End, about: About, known: Lines) -> Iterator[dict[str, Any]]:
    """Read the cells that say which line the amount of the heading's line comes from, in each year."""
    if load_flows().table_bars.matches(row["lead_in"] or "") or load_flows().table_bars.matches(row["title"] or ""):
        return
    cells = [cell for cell in row["cells"] if load_flows().table_sources.matches(cell["col_path"])]
    for path, group in groupby(cells, key=lambda cell: str(cell["row_path"])):
        own_cells = list(group)
        text = " ".join(cell["text"] for cell in own_cells)
        if load_flows().clause_elsewhere.matches(text) or load_flows().table_bars.matches(text):
            continue
        quoted = f"{path.rpartition(PATH)[2]}| {own_cells[0]['text']}"
        stated = {**_place_of(row, own_cells[0]), "start": 0, "end": len(quoted), "evidence": quoted}
        year = _YEARS.match(path.rpartition(PATH)[2])
        for place in (each for each in find_places(text) if each.forms):
            for source in _find_sources(place, about, known, year=int(year[2] or year[1]) if year else None):
                yield make_row("from_form", source, own, {**stated, "rule_id": "table_source"})


def _find_sources(place: Place, about: About, known: Lines, *, year: int | None) -> Iterator[End]:
    """Find the lines of a place; a line of an earlier year is none of the nearest revision."""
    place = replace(place, year=year or place.year)
    for form in place.forms:
        for key in place.keys:
            end = known.find(place, about, key=key, form=form)
            if year and (end.line is None or not end.is_same_year):
                end = End(end.form, f"{place.kind}_{key}", place.part, place.column, problem=NO_FORM)
            yield end


def _read_steps(cells: Sequence[Row]) -> Iterator[tuple[FlowStatement, Row]]:
    """Read the steps of worksheets that name an amount of one form and enter it on another form, too."""
    for cell in cells:
        if not _MOVES_ON.search(cell["text"]):
            continue
        for each in read_clauses(cell["text"], under=""):
            if each.source is not None and each.target is not None and each.source.forms and each.target.forms:
                yield replace(each, rule_id="table_step"), cell


def _place_of(row: Row, cell: Row) -> dict[str, Any]:
    """Return where a cell is printed, and the passage of its table."""
    return {**{name: row[name] for name in ("document_id", "page", "element_id")}, "bbox": cell["bbox"]}
