"""Tables state flows: where the amount of a row's box is reported, and which lines an amount comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from taxkg_assets.graph.flow_ends import NO_FORM, Lines
from taxkg_assets.graph.flow_tables import read_tables, select_tables
from taxkg_assets.graph.schedule_scopes import read_owners

BOX = {"x0_pt": 1.0, "y0_pt": 1.0, "x1_pt": 2.0, "y1_pt": 2.0}
PAPER: dict[str, Any] = {
    "document_id": "i2040--2031",
    "form": "2041",
    "doc_type": "filer_instructions",
    "tax_year": 2031,
    "revision": "2031",
    "is_draft": False,
}
OTHER_PAPER = {**PAPER, "document_id": "f2099h--2034", "form": "2099-H", "tax_year": 2034, "revision": "2034"}
WHERE = "Where to report"
Cells = list[tuple[str, str, str]]
Rows = Sequence[dict[str, Any]]


def _table(at: int, cells: Cells, *, title: str, page: int, anchor: str) -> dict[str, Any]:
    return {
        "table_id": f"t{at}",
        "document_id": PAPER["document_id"],
        "page": page,
        "title": title,
        "markdown": "\n".join(f"| {path} |  | {text} |" for path, _, text in cells),
        "bbox": BOX,
        "anchor_id": anchor,
        "cells": [
            {"row_ix": row, "col_ix": 0, "row_path": path, "col_path": head, "text": text, "bbox": BOX}
            for row, (path, head, text) in enumerate(cells)
        ],
    }


def _read_all(tables: list[dict[str, Any]], headings: dict[str, str], lead_in: str, lines: Rows = ()) -> list[Any]:
    """Read tables one after the other; a passage is before the first one."""
    anchors = []
    for name, heading in headings.items():
        key = f"line_{heading.split()[1].rstrip('.')}" if heading.startswith("Line ") else None
        anchors.append(
            {
                "anchor_id": name,
                "document_id": PAPER["document_id"],
                "kind": "line" if key else "section",
                "key": key,
                "heading": heading,
                "parent_anchor_id": None,
                "form": "",
                "perspective": "filer",
            }
        )
    sections = [{"table_id": None, "anchor_id": tables[0]["anchor_id"], "element_id": "e0", "text": lead_in}]
    for own in tables:
        of_table = {"element_id": f"e-{own['table_id']}", "text": own["title"]}
        sections.append({"table_id": own["table_id"], "anchor_id": own["anchor_id"], **of_table})
    schema = {"table_id": pl.String, "anchor_id": pl.String, "element_id": pl.String, "text": pl.String}
    rows = [{name: value for name, value in own.items() if name != "anchor_id"} for own in tables]
    chosen = select_tables(pl.DataFrame(rows), pl.DataFrame(sections, schema=schema))
    headed = pl.DataFrame(anchors, schema_overrides={"key": pl.String, "parent_anchor_id": pl.String})
    known = Lines(lines, [PAPER, OTHER_PAPER])
    return list(read_tables(chosen, headed, {PAPER["document_id"]: PAPER}, known, owners=read_owners(headed)))


def _read(cells: Cells, *, title: str = "", heading: str = "Where to report", lead_in: str = "") -> list[Any]:
    """Read one table: row path, column path and text of each cell."""
    rows = _read_all([_table(1, cells, title=title, page=3, anchor="a")], {"a": heading}, lead_in)
    assert {row["element_id"] for row in rows} <= {"e-t1"}
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
    assert rows[1]["evidence"] == "Berth credit (box 12, code T)| | Form 2839, line 20"
    printed = "2099-H > Berth credit (box 12, code T)| | Form 2839, line 20"
    assert printed[rows[1]["start"] : rows[1]["end"]] == rows[1]["evidence"]


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
        ("1979–2031", "Amount from line", "Form 2041, line 26"),
    ]
    rows = _read(cells, heading="Line 18. Regular dues")
    assert _ends(rows) == [("2041", "line_24", "", "2041", "line_18"), ("2041", "line_26", "", "2041", "line_18")]
    assert rows[0]["problem"].startswith(f"source: {NO_FORM}")
    assert [row["is_same_year"] for row in rows] == [False, True]


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


def _read_boxes(*cells: tuple[str, str]) -> list[tuple[str, ...]]:
    """Read rows of a table about one form: row path, and where to report its amount."""
    read = _ends(_read([(path, WHERE, text) for path, text in cells], title="Codes of Form 2099-H"))
    return [(key, code, form, line) for _, key, code, form, line in read]


def test_each_row_names_its_own_boxes_or_none() -> None:
    read = _read_boxes(
        ("Box 1 Dues", "Form 2040, line 7"),
        ("Boxes 2 and 3 Tolls", "Form 2040, line 8"),
        ("Line 4 Fees", "Form 2040, line 9"),
        ("Total of the year", "Form 2040, line 10"),
        ("13. Other > Code B. Berths", "Form 2040, line 11"),
        ("13. Other > Other codes", "Form 2040, line 12"),
        ("5. Rent > From boats", "Form 2040, line 13"),
        ("Rafts", "Form 2040, line 14"),
    )
    assert read == [
        ("box_1", "", "2040", "line_7"),
        ("box_2", "", "2040", "line_8"),
        ("box_3", "", "2040", "line_8"),
        ("line_4", "", "2040", "line_9"),
        ("box_13", "B", "2040", "line_11"),
        ("box_5", "", "2040", "line_13"),
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Do not report on Form 2040, line 7", []),
        ("Form 2040, line 7, not on Form 2041, line 2", ["line_7"]),
        ("Form 2040, line 7 (use Form 2042, line 3, to figure the dues)", ["line_7"]),
        ("Form 2040, line 7, dues in excess of Form 2042, line 3", ["line_7"]),
        ("The smaller of the dues or Form 2042, line 3", []),
        ("Form 2040, line 7, or, if required, Form 2041, line 2", ["line_7", "line_2"]),
    ],
)
def test_a_cell_may_say_where_the_amount_is_not_reported(text: str, lines: list[str]) -> None:
    assert [line for *_, line in _read_boxes(("3. Dues", text))] == lines


def test_a_heading_may_say_which_box_an_amount_is_not_in() -> None:
    cells = [("", "Form", "2099-H"), ("2099-H > Dues (not in box 3)", WHERE, "Form 2040, line 7")]
    assert not _read(cells)
    cells = [("", "Form", "2099-H"), ("2099-H > Portion of the dues (box 3)", WHERE, "Form 2040, line 7")]
    assert not _read(cells)


def _read_two(*, first: str = "", title: str = "", page: int = 4, anchor: str = "a", head: str = WHERE) -> list[str]:
    """Read a table that ends in the codes of box 13, and one that begins with another code."""
    one = _table(1, [("13. Other > Code B. Berths", WHERE, "Form 2040, line 7")], title=first, page=3, anchor="a")
    two = _table(2, [("Code C. Tolls", head, "Form 2040, line 8")], title=title, page=page, anchor=anchor)
    headings = {"a": "Codes of Form 2099-H", "b": "Codes of Form 2098"}
    return [
        f"{row['source_form']} {row['source_key']} {row['source_code']}" for row in _read_all([one, two], headings, "")
    ]


def test_the_box_of_a_table_holds_only_where_the_table_continues() -> None:
    first = "2099-H box_13 B"
    assert _read_two() == [first, "2099-H box_13 C"]
    assert _read_two(first="Table 1. Codes", title="Table 1. Codes (continued)", page=7) == [first, "2099-H box_13 C"]
    assert _read_two(title="Other codes") == [first]
    assert _read_two(page=7) == [first]
    assert _read_two(anchor="b") == [first]
    assert _read_two(title="Codes of Form 2098") == [first]
    assert _read_two(head="Report on") == [first]


def test_a_box_of_another_year_is_that_box_only_with_words_of_the_row() -> None:
    box = {
        "document_id": OTHER_PAPER["document_id"],
        "form": "2099-H",
        "part": "",
        "key": "box_3",
        "kind": "box",
        "page": 1,
    }
    named = {**box, "label": "3 Harbor dues", "section": "", "canonical_id": "2099-H/box_3"}
    cells = [("3. Harbor dues", WHERE, "Form 2040, line 7")]
    table = _table(1, cells, title="Codes of Form 2099-H", page=3, anchor="a")
    for label, is_open in (("3 Harbor dues", False), ("3 Rafts sold", True)):
        (row,) = _read_all([table], {"a": WHERE}, "", [{**named, "label": label}])
        assert (row["source_line"] is None) == is_open
        assert (row["source_key"], "source" in row["problem"]) == ("box_3", is_open)


def test_each_cell_of_a_row_is_quoted_with_its_own_lines() -> None:
    cells = [
        ("1978", "Amount from line", "Form 2041, line 24"),
        ("1978", "Amount from line (boats)", "Form 2042, line 5"),
        ("1979", "Amount from line", "Form 2041, line 24, plus line 25"),
        ("1980", "Amount from line", "Form 2041, line 26, or, if you row, line 27"),
    ]
    rows = _read(cells, heading="Line 18. Regular dues")
    assert [(row["source_key"], row["evidence"]) for row in rows] == [
        ("line_24", "1978| | Form 2041, line 24"),
        ("line_5", "1978| | Form 2042, line 5"),
    ]


def test_what_is_said_before_a_table_holds_where_it_continues() -> None:
    cells = [("1978", "Amount from line", "Form 2041, line 24")]
    tables = [_table(at, cells, title="", page=at, anchor="a") for at in (3, 4)]
    assert not _read_all(tables, {"a": "Line 18. Regular dues"}, "Enter the smaller of the amounts below.")
    assert len(_read_all(tables, {"a": "Line 18. Regular dues"}, "Enter the amounts below.")) == 2
