"""A label is read whole or not at all; ranges name amounts of one column; nothing is computed from itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taxkg_assets.graph.arithmetic.keys import expand_range
from taxkg_assets.graph.arithmetic.statement import Operand, read_statement
from taxkg_assets.graph.formulas import _mark_cycles, _resolve, find_formula_faults
from taxkg_assets.graph.totals import mark_totals
from taxkg_assets.schemas.values import BOUNDS, OPERATIONS
from tools.rule_switch import every_rule


@pytest.fixture(autouse=True, scope="module")
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


LABELS = Path(__file__).parents[2] / "data" / "line_eval" / "formulas.jsonl"


@pytest.mark.parametrize(
    ("label", "operation", "operands", "bound"),
    [
        (
            "Subtract line 74 from line 63. If zero or less, enter -0-",
            "difference",
            ["63", "74"],
            "at_least_zero",
        ),
        ("Subtract lines 58 and 59 from line 47", "difference", ["47", "58", "59"], ""),
        ("Combine lines 56 and 67. If greater than zero, enter -0-", "sum", ["56", "67"], "at_most_zero"),
        ("Multiply line 4 by 20% (0.20)", "product", ["4"], ""),
        ("Enter the smaller of line 10 or line 14", "smaller", ["10", "14"], ""),
        (
            "Subtract line 62 from line 51. If line 62 is more than line 51, enter -0-",
            "difference",
            ["51", "62"],
            "at_least_zero",
        ),
        ("Amount from line 11a (adjusted gross income)", "copy", ["11a"], ""),
        ("Add the amounts on line 41", "sum", ["41"], ""),
        ("Combine the amounts in the far right column for lines 47 through 61", "sum", ["47"], ""),
        ("Add Schedule 9, line 73, and line 52a and enter the total", "sum", ["73", "52a"], ""),
        (
            "Subtract line 58b from 58a (see instructions). If zero or less, enter -0-",
            "difference",
            ["58a", "58b"],
            "at_least_zero",
        ),
    ],
)
def test_a_formula_becomes_data(label: str, operation: str, operands: list[str], bound: str) -> None:
    read = read_statement(label)
    assert read is not None
    assert (read.operation, [operand.first for operand in read.operands], read.bound) == (operation, operands, bound)


def test_an_amount_times_a_number_is_a_product() -> None:
    read = read_statement("Exemptions. Multiply $4,100 by the number on line 56d")
    assert read is not None
    assert (read.operation, read.operands, read.factor) == ("product", (Operand("56d"),), 4100.0)


def test_a_count_that_is_no_line_times_an_amount_has_no_operands() -> None:
    read = read_statement("Multiply the number of boats in the harbor by $2,200")
    assert read is not None
    assert (read.operation, read.operands, read.factor) == ("product", (), 2200.0)


def test_parts_ranges_and_other_forms_are_named() -> None:
    read = read_statement("Subtract Part II, line 71, from Part I, line 68")
    assert read is not None
    assert read.operands == (Operand("68", part="I"), Operand("71", part="II"))
    read = read_statement("Add lines 4, 7 through 9, and 12")
    assert read is not None
    assert read.operands == (Operand("4"), Operand("7", "9"), Operand("12"))
    read = read_statement("Subtract line 71a from Form 2090, 2090-SR, or 2090-NR, line 81b")
    assert read is not None
    assert read.operands[0] == Operand("81b", form="Form 2090")
    read = read_statement("Enter the amount from Form 2090, line 81b")
    assert read is not None
    assert read.operands == (Operand("81b", form="Form 2090"),)


@pytest.mark.parametrize(
    "label",
    [
        "Add lines 31 through 35. Add any amount from Schedule 9, line 72",
        "If line 56 is $900 or less, multiply line 56 by 31% (0.31). Otherwise, multiply line 56 by 33% (0.33)",
        "Multiply line 4 by 20% (0.30)",
        "If line 51 is more than line 62, subtract line 62 from line 51. If not, enter the amount from line 73",
        "Add the amounts in the far right column",
        "Add lines 60 and 61. If line 59 is more than line 53, enter -0-",
    ],
)
def test_what_no_rule_reads_whole_is_listed_with_the_reason(label: str) -> None:
    read = read_statement(label)
    assert read is not None
    assert read.operation == "unparsed"
    assert read.problem


def test_a_label_without_arithmetic_has_no_formula() -> None:
    assert read_statement("Additional income from Schedule 1, line 10") is None


def test_a_range_skips_what_is_in_another_column_and_counts_roman_rows() -> None:
    amounts = {key: [(500.0, 570.0)] for key in ("1", "2a", "3")}
    assert expand_range("1", "3", {**amounts, "2b": [(300.0, 370.0)]}) == ["1", "2a", "3"]
    assert expand_range("1", "3", {"1": amounts["1"], "2": [(300.0, 370.0)], "3": amounts["3"]}) == []
    assert expand_range("1", "9", amounts) == []
    rows = {f"1{row}": [(500.0, 570.0)] for row in ("i", "ii", "iii", "iv", "v")}
    assert expand_range("1i", "1v", rows) == list(rows)


def _formula(part: str, key: str, operation: str, *of: tuple[str, str]) -> dict[str, Any]:
    names = {
        "document_id": "f",
        "part": part,
        "key": key,
        "operation": operation,
        "problem": "",
        "bound": "",
        "condition": "",
    }
    return {**names, "operands": [key for _, key in of], "operand_parts": [part for part, _ in of]}


def test_a_line_that_is_named_alone_needs_no_field_of_its_own() -> None:
    line: Any = {"part": "", "form": "2040"}
    spans = {("", "11"): [(0.0, 9.0)], ("", "12b"): [(0.0, 9.0)]}
    registered = {("", "11"), ("", "12"), ("", "12b")}
    assert _resolve(Operand("12"), line, spans, registered, forms=[]) == [("", "line_12")]
    assert _resolve(Operand("13"), line, spans, registered, forms=[]) == []


def test_lines_computed_from_themselves_are_unparsed() -> None:
    pairs = (("line_1", "line_2"), ("line_2", "line_1"), ("line_3", "line_1"))
    rows = [_formula("", key, "copy", ("", of)) for key, of in pairs]
    _mark_cycles(rows)
    assert [row["operation"] for row in rows] == ["unparsed", "unparsed", "copy"]


def test_parts_that_count_again_are_lines_of_their_own() -> None:
    rows = [
        _formula("I", "line_1", "sum", ("I", "line_2"), ("I", "line_3")),
        _formula("II", "line_1", "sum", ("II", "line_2"), ("II", "line_4")),
        _formula("II", "line_3", "sum", ("II", "line_1"), ("II", "line_2")),
    ]
    _mark_cycles(rows)
    assert {row["operation"] for row in rows} == {"sum"}
    mark_totals(rows)
    assert [row["also_added_in"] for row in rows] == [[], ["line_3"], ["line_1"]]
    numbers = [(part, f"line_{number}") for part in ("I", "II") for number in range(1, 5)]
    lines: Any = pl.DataFrame({"document_id": "f", "part": part, "key": key} for part, key in numbers)
    formulas: Any = pl.DataFrame(rows)
    assert find_formula_faults(formulas, lines).is_empty()
    lost = find_formula_faults(formulas, lines.filter(pl.col("part") == "I"))
    assert set(lost["operand_parts"]) == {"II"}


def test_a_cycle_within_a_part_is_a_fault() -> None:
    rows: Any = pl.DataFrame(
        [_formula("I", "line_1", "copy", ("I", "line_2")), _formula("I", "line_2", "copy", ("I", "line_1"))]
    )
    lines: Any = pl.DataFrame({"document_id": "f", "part": "I", "key": key} for key in ("line_1", "line_2"))
    assert find_formula_faults(rows, lines)["fault"].to_list() == ["cycle"]


def test_each_of_two_cycles_is_a_fault() -> None:
    pairs = [("line_1", "line_2"), ("line_2", "line_1"), ("line_3", "line_4"), ("line_4", "line_3")]
    rows: Any = pl.DataFrame([_formula("I", line, "copy", ("I", operand)) for line, operand in pairs])
    lines: Any = pl.DataFrame({"document_id": "f", "part": "I", "key": line} for line, _ in pairs)
    faults = find_formula_faults(rows, lines)
    assert faults["fault"].to_list() == ["cycle", "cycle"]
    kept: Any = rows.join(faults, on=["document_id", "part", "key"], how="anti")
    assert find_formula_faults(kept, lines).is_empty()


def test_the_labels_use_the_operations_and_bounds_of_the_table() -> None:
    labels = [json.loads(line) for line in LABELS.read_text(encoding="utf8").splitlines()]
    assert {row["operation"] for row in labels} <= set(OPERATIONS)
    assert {row["bound"] for row in labels} <= set(BOUNDS)
