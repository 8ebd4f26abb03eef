"""Tables state flows: where the amount of a row's box is reported, and which lines an amount comes from."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.graph.flow_ends import NO_FORM, Lines
from taxkg_assets.graph.flow_tables import read_tables, select_tables

BOX = {"x0_pt": 1.0, "y0_pt": 1.0, "x1_pt": 2.0, "y1_pt": 2.0}
PAPER = {
    "document_id": "i2040--2031",
    "form": "2041",
    "doc_type": "filer_instructions",
    "tax_year": 2031,
    "revision": "2031",
    "is_draft": False,
}
Cells = list[tuple[str, str, str]]


def _read(cells: Cells, *, title: str = "", heading: str = "Where to report", lead_in: str = "") -> list[Any]:
    """Read one table: row path, column path and text of each cell."""
    key = f"line_{heading.split()[1].rstrip('.')}" if heading.startswith("Line ") else None
    anchor = {
        "anchor_id": "a",
        "document_id": PAPER["document_id"],
        "kind": "line" if key else "section",
        "key": key,
        "heading": heading,
        "parent_anchor_id": None,
        "form": "",
        "perspective": "filer",
    }
    table = {
        "table_id": "t",
        "document_id": PAPER["document_id"],
        "page": 3,
        "title": title,
        "markdown": "\n".join(text for _, _, text in cells),
        "bbox": BOX,
        "cells": [
            {"row_ix": at, "col_ix": 0, "row_path": path, "col_path": head, "text": text, "bbox": BOX}
            for at, (path, head, text) in enumerate(cells)
        ],
    }
    sections = [
        {"table_id": None, "anchor_id": "a", "element_id": "e1", "text": lead_in},
        {"table_id": "t", "anchor_id": "a", "element_id": "e2", "text": title},
    ]
    schema = {"table_id": pl.String, "anchor_id": pl.String, "element_id": pl.String, "text": pl.String}
    tables = select_tables(pl.DataFrame([table]), pl.DataFrame(sections, schema=schema))
    anchors = pl.DataFrame([anchor], schema_overrides={"key": pl.String, "parent_anchor_id": pl.String})
    rows = list(read_tables(tables, anchors, {PAPER["document_id"]: PAPER}, Lines([], [PAPER])))
    assert {row["element_id"] for row in rows} <= {"e2"}
    return rows


def _ends(rows: list[Any]) -> list[tuple[str, ...]]:
    names = ("source_form", "source_key", "source_code", "target_form", "target_key")
    return [tuple(row[name] for name in names) for row in rows]


def test_a_row_names_the_form_and_box_whose_amount_goes_to_a_line() -> None:
    item, where = "Item and its box", "Where To Report"
    cells = [
        ("", "Form", "2099-H"),
        ("2099-H", item, "Harbor dues (box 3)"),
        (
            "2099-H > Harbor dues (box 3)",
            where,
            "Form 2040, line 7; but first see the instructions for Form 2049, line 2",
        ),
        ("2099-H", item, "Berth credit (box 12, code T)"),
        ("2099-H > Berth credit (box 12, code T)", where, "Form 2839, line 20"),
        ("2099-H", item, "Port charges"),
        ("2099-H > Port charges", where, "Form 2040, line 9"),
        ("2099-H", item, "Tolls (box 5)"),
        ("2099-H > Tolls (box 5)", where, "See the instructions for Form 2040, line 8"),
    ]
    rows = _read(cells)
    assert _ends(rows) == [
        ("2099-H", "box_3", "", "2040", "line_7"),
        ("2099-H", "box_12", "T", "2839", "line_20"),
    ]
    assert rows[1]["evidence"] == "Berth credit (box 12, code T)| Form 2839, line 20"


def test_numbers_and_codes_of_rows_are_boxes_of_the_form_in_the_title() -> None:
    where = "Where to report"
    cells = [
        ("6a. Ordinary dues", where, "Form 2040 or 2040-SR, line 3b"),
        ("6a. Ordinary dues > 13. Other dues > Code H. Berth interest", where, "Form 2952, line 1"),
        ("9b. Berth gain", where, "Berth Gain Worksheet, line 4"),
        ("13. Other dues > Codes I through K. Reserved", where, "Form 2040, line 5"),
        ("13. Other dues > Code L. Tolls", where, "Schedule A (Form 2040), line 16"),
    ]
    read = _ends(_read(cells, title="Codes of Schedule K-1 (Form 2865)"))
    form = "Schedule K-1 (Form 2865)"
    assert read == [
        (form, "box_6a", "", "2040", "line_3b"),
        (form, "box_6a", "", "2040-SR", "line_3b"),
        (form, "box_13", "H", "2952", "line_1"),
        (form, "box_13", "L", "Schedule A (Form 2040)", "line_16"),
    ]


def test_a_table_says_which_line_the_amount_of_its_heading_comes_from_in_each_year() -> None:
    cells = [
        ("", "Year(s)", "1969–1977"),
        ("1969–1977", "Amount from line", "Form 2041, page 1, line 24"),
        ("", "Year(s)", "1978"),
        ("1978", "Amount from line", "50% of Form 2041, line 25"),
    ]
    rows = _read(cells, heading="Line 18. Regular dues")
    assert _ends(rows) == [("2041", "line_24", "", "2041", "line_18")]
    assert rows[0]["problem"].startswith(f"source: {NO_FORM}")


@pytest.mark.parametrize(
    "lead_in", ["Enter the smaller of the amounts below.", "Multiply the result by the following."]
)
def test_what_is_compared_or_multiplied_is_no_source(lead_in: str) -> None:
    cells = [("1978", "Amount from line", "Form 2041, line 24")]
    assert not _read(cells, heading="Line 18. Regular dues", lead_in=lead_in)


def test_a_step_of_a_worksheet_moves_the_amount_of_a_box_to_another_form() -> None:
    step = "Enter the total from box 5 of all your Forms 2099. Also enter this amount on Form 2040, line 6a"
    cells = [("1.", "", step), ("2.", "", "Enter the smaller of line 1 or line 2. Also enter it on Form 2040, line 6b")]
    assert _ends(_read(cells, heading="Dues Worksheet")) == [("2099", "box_5", "", "2040", "line_6a")]


def test_other_tables_state_nothing() -> None:
    assert not _read([("Harbor dues (box 3)", "How to report", "Form 2040, line 7")])
