"""Rows of tables stand inside their own table, and no other table of the page has them as well."""

from __future__ import annotations

from typing import Any

import dataframely as dy

from taxkg_assets.extraction.table_checks import find_foreign_rows
from taxkg_assets.schemas import Tables

ROW_PT = 20.0


def _box(x0: float, y0: float, x1: float, y1: float) -> dict[str, float]:
    return {"x0_pt": float(x0), "y0_pt": float(y0), "x1_pt": float(x1), "y1_pt": float(y1)}


def _cell(row_ix: int, col_ix: int, text: str, *, x: float = 0.0, y: float) -> dict[str, Any]:
    """A cell of two columns of 100 points, with its row at a height."""
    left = x + 100 * col_ix
    return {
        "row_ix": row_ix,
        "col_ix": col_ix,
        "row_path": "",
        "col_path": "",
        "text": text,
        "bbox": _box(left + 5, y, left + 60, y + 10),
    }


def _rows(*names: str, x: float = 0.0, y: float) -> list[dict[str, Any]]:
    return [
        _cell(ix, column, f"{name} {column}", x=x, y=y + ROW_PT * ix)
        for ix, name in enumerate(names)
        for column in (0, 1)
    ]


def _table(number: int, cells: list[dict[str, Any]], box: dict[str, float], *, page: int = 1) -> dict[str, Any]:
    return {"table_id": f"d:p{page:04}:t{number}", "document_id": "d", "page": page, "cells": cells, "bbox": box}


def _tables(*rows: dict[str, Any]) -> dy.DataFrame[Tables]:
    return Tables.sample(overrides=list(rows))


def test_two_tables_below_each_other_pass() -> None:
    first = _table(0, _rows("Harbor", "Pier", y=100), _box(0, 90, 200, 140))
    second = _table(1, _rows("Boat", "Oar", y=160), _box(0, 150, 200, 200))
    assert find_foreign_rows(_tables(first, second)).is_empty()


def test_a_row_that_two_tables_have_is_found() -> None:
    joined = _table(0, _rows("Harbor", "Pier", "Boat", y=100), _box(0, 90, 200, 160))
    own = _table(1, _rows("Boat", y=140), _box(0, 135, 200, 160))
    found = find_foreign_rows(_tables(joined, own))
    assert found.select("table_id", "text", "other").rows() == [("d:p0001:t1", "Boat 0 | Boat 1", "d:p0001:t0")]


def test_a_row_outside_of_its_table_is_found() -> None:
    table = _table(0, _rows("Harbor", "Pier", y=100), _box(0, 90, 200, 115))
    assert find_foreign_rows(_tables(table)).select("row_ix", "text", "other").rows() == [(1, "Pier 0 | Pier 1", "")]


def test_tables_of_two_pages_and_tables_inside_each_other_pass() -> None:
    outer = _table(0, _rows("Harbor", y=100) + _rows("Pier", y=200), _box(0, 90, 200, 220))
    inner = _table(1, _rows("Boat", "Oar", y=130), _box(0, 120, 200, 180))
    later = _table(0, _rows("Harbor", y=100), _box(0, 90, 200, 120), page=2)
    assert find_foreign_rows(_tables(outer, inner, later)).is_empty()


def test_a_cell_that_reaches_over_other_tables_without_their_words_passes() -> None:
    wide = _cell(0, 0, "A cell that continues in the next column of print", y=100)
    wide["bbox"] = _box(0, 90, 400, 300)
    first = _table(0, [wide, _cell(1, 1, "Oar", y=310)], _box(0, 90, 400, 330))
    second = _table(1, _rows("Harbor", y=160), _box(0, 150, 200, 180))
    assert find_foreign_rows(_tables(first, second)).is_empty()


def test_a_document_without_tables_passes() -> None:
    assert find_foreign_rows(Tables.create_empty()).is_empty()
