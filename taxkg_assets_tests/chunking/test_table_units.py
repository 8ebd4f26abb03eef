"""Rows of a table never part from the headers that hold for them, and each unit shows where its rows stand."""

from __future__ import annotations

from typing import Any

from taxkg_assets.chunking.table_units import split_table

BOX = {"x0_pt": 50.0, "y0_pt": 100.0, "x1_pt": 500.0, "y1_pt": 700.0}
RULE = "| --- | --- |"


def _table(markdown: list[str], *, rows: int = 0) -> dict[str, Any]:
    boxes = [{**BOX, "y0_pt": 110.0 + 10 * i, "y1_pt": 118.0 + 10 * i} for i in range(rows)]
    cells = [{"row_ix": i, "col_ix": k, "bbox": box} for i, box in enumerate(boxes) for k in range(2)]
    return {"markdown": "\n".join(markdown), "cells": cells, "bbox": BOX}


def test_every_unit_begins_with_the_headers_and_ends_at_a_row() -> None:
    body = [f"| {n} feet | ${3 * n} |" for n in range(60)]
    units = split_table(_table(["| Length | Duty |", RULE, *body], rows=60), head_words=3, limit=60)
    assert len(units) > 2
    assert all(unit.lines[0] == "Length| Duty" for unit in units)
    assert [line for unit in units for line in unit.lines[1:]] == [f"{n} feet| ${3 * n}" for n in range(60)]
    tops = [unit.box["y0_pt"] for unit in units]
    assert (tops[0], tops) == (110.0, sorted(set(tops)))
    assert all(unit.box["y1_pt"] - unit.box["y0_pt"] == 10 * (len(unit.lines) - 2) + 8 for unit in units)


def test_a_later_header_stays_with_the_rows_that_it_heads() -> None:
    body = [f"| {n} | a{n} |" for n in range(20)]
    body += ["| **Over** | **Excess** |", *(f"| {n} | b{n} |" for n in range(40))]
    units = split_table(_table(["| From | Tax |", RULE, *body], rows=60), head_words=0, limit=40)
    headed = [unit.lines for unit in units if any("| b" in line for line in unit.lines)]
    assert len(headed) >= 2
    for lines in headed:
        first = next(i for i, line in enumerate(lines) if "| b" in line)
        assert "Over| Excess" in lines[:first]


def test_parts_with_headers_of_their_own_are_read_line_by_line() -> None:
    left = ["| Wide > Over | Wide > Tax |", RULE, "| $1 | 10% |", "| $2 | 20% |"]
    right = ["| Narrow > Over | Narrow > Tax |", RULE, "| $5 | 15% |", "| $6 | 25% |"]
    (unit,) = split_table(_table([*left, "", *right], rows=2), head_words=0, limit=200)
    assert unit.lines == ("Wide > Over| Tax| Narrow > Over| Tax", "$1| 10%| $5| 15%", "$2| 20%| $6| 25%")


def test_lists_in_two_columns_follow_one_another_and_notes_come_last() -> None:
    codes = ["|  |  |", RULE, "| A | Apples |", "", "|  |  |", RULE, "| B | Beets |", "| C | Corn |"]
    units = split_table(_table([*codes, "", "* Not for sale."]), head_words=0, limit=200)
    assert [unit.lines for unit in units] == [("A| Apples",), ("B| Beets", "C| Corn", "* Not for sale.")]
    assert units[0].box == BOX


def test_long_headers_leave_room_for_several_rows() -> None:
    rows = [f"| {n} | {n} |" for n in range(30)]
    table = _table(["| " + "word " * 150 + "| Tax |", RULE, *rows])
    assert len(split_table(table, head_words=9, limit=100)) == 2


def test_a_table_without_cells_is_still_a_unit() -> None:
    assert split_table(_table([""]), head_words=2, limit=50)[0].box == BOX
