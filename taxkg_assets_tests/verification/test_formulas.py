"""Statements on how a line is computed."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.verification.formulas import Computation, agrees, find_computations, find_formula

ROW: dict[str, Any] = {"key": "line_9", "operation": "difference", "operands": ["line_3", "line_4"], "factor": None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Line 9 is line 3 minus line 4.", ("line_9", "difference", ("line_3", "line_4"), None)),
        ("For line 9, subtract line 4 from line 3.", ("line_9", "difference", ("line_3", "line_4"), None)),
        ("Line 9 is the smaller of line 3 or 4.", ("line_9", "smaller", ("line_3", "line_4"), None)),
        ("On line 9, add lines 3, 4, and 5.", ("line_9", "sum", ("line_3", "line_4", "line_5"), None)),
        ("Line 9 multiplies line 3 by 2.5%.", ("line_9", "product", ("line_3",), 0.025)),
        ("Lines 3 and 4 are added on line 9.", ("line_9", "sum", ("line_3", "line_4"), None)),
        ("Form 9999 adds lines 3, 4 and 5 on line 9.", ("line_9", "sum", ("line_3", "line_4", "line_5"), None)),
        ("Line 9 combines lines 3 through 7.", ("line_9", "sum", ("line_3..line_7",), None)),
        ("Line 9 is the excess of line 3 over line 4.", ("line_9", "difference", ("line_3", "line_4"), None)),
        ("Line 9 takes Part II, line 4, from Part I, line 3.", ("line_9", "difference", ("line_3", "line_4"), None)),
        ("Line 9 is whichever is less, line 3 or line 4.", ("line_9", "smaller", ("line_3", "line_4"), None)),
        ("Line 9 is 2.5% of line 3.", ("line_9", "product", ("line_3",), 0.025)),
    ],
)
def test_computations_are_read(text: str, expected: tuple[str, str, tuple[str, ...], float | None]) -> None:
    (found,) = find_computations(text)
    assert (found.key, found.operation, found.operands, found.factor) == expected
    assert not found.is_negative


def test_a_denied_computation_says_so() -> None:
    found = find_computations("Line 9 is not the larger of line 3 or line 4, but the smaller of line 3 or line 4.")
    assert [(own.operation, own.is_negative) for own in found] == [("smaller", False), ("larger", True)]


@pytest.mark.parametrize(
    ("operation", "operands", "is_equal"),
    [
        ("difference", ("line_3", "line_4"), True),
        ("difference", ("line_4", "line_3"), False),
        ("sum", ("line_3", "line_4"), False),
    ],
)
def test_order_counts_in_a_difference(operation: str, operands: tuple[str, ...], is_equal: bool) -> None:
    assert agrees(Computation("line_9", operation, operands, None, "", False), ROW) is is_equal


def test_order_does_not_count_in_a_sum_and_rates_must_be_equal() -> None:
    total = {**ROW, "operation": "sum"}
    assert agrees(Computation("line_9", "sum", ("line_4", "line_3"), None, "", False), total)
    share = {**ROW, "operation": "product", "operands": ["line_3"], "factor": 0.038}
    assert agrees(Computation("line_9", "product", ("line_3",), 0.038, "", False), share)
    assert not agrees(Computation("line_9", "product", ("line_3",), 0.028, "", False), share)


def test_an_unparsed_formula_decides_nothing() -> None:
    claimed = Computation("line_9", "sum", ("line_3", "line_4"), None, "", False)
    assert find_formula(claimed, [{**ROW, "operation": "unparsed"}]) is None
    assert find_formula(claimed, [ROW]) is ROW


@pytest.mark.parametrize(
    ("operands", "is_equal"),
    [(("line_3..line_5",), True), (("line_3", "line_4..line_5"), True), (("line_3..line_6",), False)],
)
def test_a_range_means_the_lines_of_the_form(operands: tuple[str, ...], is_equal: bool) -> None:
    row: Any = {**ROW, "operation": "sum", "operands": ["line_3", "line_4a", "line_4b", "line_5"]}
    assert agrees(Computation("line_9", "sum", operands, None, "", False), row) is is_equal
