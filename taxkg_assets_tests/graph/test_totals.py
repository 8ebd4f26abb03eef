"""A line that a total uses more than once is listed, with the way in which it does."""

from __future__ import annotations

from typing import Any, cast

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.graph.totals import list_repeated_lines


def _formulas(*totals: tuple[str, list[str]], operation: str = "sum") -> dy.DataFrame[schemas.Formulas]:
    rows: list[dict[str, Any]] = [
        {
            "document_id": "f2040--2031",
            "part": "I",
            "key": key,
            "operation": operation,
            "operands": operands,
            "operand_parts": ["I"] * len(operands),
        }
        for key, operands in totals
    ]
    return cast("dy.DataFrame[schemas.Formulas]", pl.DataFrame(rows))


def _listed(formulas: dy.DataFrame[schemas.Formulas]) -> list[tuple[str, str, str]]:
    return [(row["key"], row["line"], row["use"]) for row in list_repeated_lines(formulas).iter_rows(named=True)]


def test_lines_that_each_total_uses_once_are_not_listed() -> None:
    assert _listed(_formulas(("line_3", ["line_1", "line_2"]), ("line_5", ["line_3", "line_4"]))) == []


def test_a_line_that_a_total_adds_with_its_subtotal_is_added_twice() -> None:
    listed = _listed(_formulas(("line_3", ["line_1", "line_2"]), ("line_5", ["line_1", "line_3"])))
    assert ("line_5", "line_1", "added_twice") in listed
    assert {row[2] for row in listed if row[0] == "line_3"} == {"in_several_totals"}


def test_a_line_of_two_totals_names_the_other_one() -> None:
    rows = list_repeated_lines(_formulas(("line_3", ["line_1", "line_2"]), ("line_9", ["line_2", "line_8"])))
    assert rows.select("key", "line", "others").rows() == [
        ("line_3", "line_2", ["line_9"]),
        ("line_9", "line_2", ["line_3"]),
    ]


def test_only_sums_are_totals() -> None:
    assert _listed(_formulas(("line_3", ["line_1"]), ("line_4", ["line_1"]), operation="difference")) == []
