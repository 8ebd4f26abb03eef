"""Statements on how a line is computed."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.verification.formulas import (
    Computation,
    agrees,
    find_computations,
    find_formula,
    leaves_out_letters,
)

ROW: Any = {
    "key": "line_9",
    "operation": "difference",
    "operands": ["line_3", "line_4"],
    "factor": None,
    "evidence": "Subtract line 4 from line 3",
}


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
        ("Below line 7, lines 3 and 4 are added on line 9.", ("line_9", "sum", ("line_3", "line_4"), None)),
        ("After line 7, the form adds lines 3 and 4 on line 9.", ("line_9", "sum", ("line_3", "line_4"), None)),
        ("Line 9 results from adding lines 3 and 4.", ("line_9", "sum", ("line_3", "line_4"), None)),
    ],
)
def test_computations_are_read(text: str, expected: tuple[str, str, tuple[str, ...], float | None]) -> None:
    (found,) = find_computations(text)
    assert (found.key, found.operation, found.operands, found.factor) == expected
    assert not found.is_negative
    assert not found.is_open


@pytest.mark.parametrize(
    "text",
    [
        "Line 9 is line 2 minus the sum of lines 3 and 4.",
        "Line 9 is line 2 plus the smaller of line 3 or line 4.",
        "Line 9 is line 2 less the total of lines 3 and 4.",
        "Line 9 is the smaller of line 2 or the sum of lines 3 and 4.",
    ],
)
def test_an_operand_is_no_computation_of_the_line(text: str) -> None:
    assert not find_computations(text)


@pytest.mark.parametrize(
    "text",
    [
        "Line 9 is twice the sum of lines 3 and 4.",
        "Line 9 is the negative of the sum of lines 3 and 4.",
        "Line 9 is half of the smaller of line 3 or line 4.",
        "Line 9 is a part of the sum of lines 3 and 4.",
        "Line 9 is 10% of the sum of lines 3 and 4.",
        "Line 9 doubles the sum of lines 3 and 4.",
        "Line 9 is the sum of lines 3 and 4, doubled.",
        "Line 9 is line 3 plus line 4 plus line 5.",
        "Line 9 is the sum of lines 3 and 4 minus line 5.",
        "Line 9 subtracts from line 2 the sum of lines 3 and 4.",
        "For line 9, subtract the sum of lines 3 and 4 from line 2.",
        "On line 9, the sum of lines 3 and 4 is subtracted from line 2.",
        "On line 9, lines 3 and 4 are added to line 2.",
        "If you have no boat, line 9 adds lines 3 and 4.",
        "Unless you sail, line 9 does not add lines 3 and 4.",
        "Line 9, which is not refundable, adds lines 3 and 4.",
    ],
)
def test_what_says_more_than_a_form_is_open(text: str) -> None:
    found = find_computations(text)
    assert found
    assert all(own.is_open for own in found)
    assert not any(own.is_negative for own in found)


@pytest.mark.parametrize(
    "text",
    [
        "Line 9 does not add lines 3 and 4.",
        "For barges, line 9 does not add lines 3 and 4.",
        "It is not so that line 9 adds lines 3 and 4.",
    ],
)
def test_a_denial_counts_in_the_clause_of_its_verb(text: str) -> None:
    (found,) = find_computations(text)
    assert found.is_negative
    assert not found.is_open


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
    total: Any = {**ROW, "operation": "sum"}
    assert agrees(Computation("line_9", "sum", ("line_4", "line_3"), None, "", False), total)
    share: Any = {**ROW, "operation": "product", "operands": ["line_3"], "factor": 0.038}
    assert agrees(Computation("line_9", "product", ("line_3",), 0.038, "", False), share)
    assert not agrees(Computation("line_9", "product", ("line_3",), 0.028, "", False), share)


def test_an_unparsed_formula_decides_nothing() -> None:
    claimed = Computation("line_9", "sum", ("line_3", "line_4"), None, "", False)
    unparsed: Any = {**ROW, "operation": "unparsed"}
    assert find_formula(claimed, [unparsed]) is None
    assert find_formula(claimed, [ROW]) is ROW


@pytest.mark.parametrize(
    ("operands", "is_equal"),
    [(("line_3..line_5",), True), (("line_3", "line_4..line_5"), True), (("line_3..line_6",), False)],
)
def test_a_range_means_the_lines_of_the_form(operands: tuple[str, ...], is_equal: bool) -> None:
    row: Any = {**ROW, "operation": "sum", "operands": ["line_3", "line_4a", "line_4b", "line_5"]}
    assert agrees(Computation("line_9", "sum", operands, None, "", False), row) is is_equal


@pytest.mark.parametrize(
    ("lines", "evidence", "is_equal"),
    [
        (("line_3", "line_4", "line_5"), "", False),
        (("line_3", "line_5"), "", True),
        (("line_3", "line_4", "line_5"), "Add lines 3 through 5", True),
        ((), "", False),
        (("line_3", "line_3a", "line_5", "line_5b", "box_4"), "", True),
    ],
)
def test_a_range_leaves_out_no_line_of_the_form(lines: tuple[str, ...], evidence: str, is_equal: bool) -> None:
    row: Any = {**ROW, "operation": "sum", "operands": ["line_3", "line_5"], "evidence": evidence}
    claimed = Computation("line_9", "sum", ("line_3..line_5",), None, "", False)
    assert agrees(claimed, row, lines=lines) is is_equal


def test_a_range_of_letters_leaves_out_no_letter() -> None:
    row: Any = {**ROW, "operation": "sum", "operands": ["line_3d", "line_4", "line_9"]}
    claimed = Computation("line_9", "sum", ("line_3d..line_9",), None, "", False)
    lines = [f"line_{number}" for number in ("3", "3a", "3b", "3c", "3d", "4", "9")]
    assert agrees(claimed, row, lines=lines)
    assert not agrees(claimed, row, lines=[*lines, "line_5"])
    assert not agrees(claimed, row, lines=[*lines, "line_3e"])


@pytest.mark.parametrize(
    ("lines", "is_left_out"),
    [
        (("line_3", "line_4", "line_5a", "line_5b", "line_6"), True),
        (("line_3", "line_5b", "line_6"), False),
    ],
)
def test_a_range_may_mean_the_total_of_a_line_with_letters(lines: tuple[str, ...], is_left_out: bool) -> None:
    row: Any = {**ROW, "operation": "sum", "operands": ["line_3", "line_4", "line_5b", "line_6"]}
    claimed = Computation("line_9", "sum", ("line_3..line_6",), None, "", False)
    assert leaves_out_letters(claimed, row, lines=lines) is is_left_out


def test_a_range_that_leaves_out_a_number_is_decided() -> None:
    row: Any = {**ROW, "operation": "sum", "operands": ["line_3", "line_5", "line_6"]}
    claimed = Computation("line_9", "sum", ("line_3..line_6",), None, "", False)
    assert not leaves_out_letters(claimed, row, lines=["line_3", "line_4", "line_5", "line_6"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Below line 2, lines 3 and 4 are added on line 9.", ("line_2",)),
        ("Below line 11, lines 3 and 4 are added on line 9.", ()),
        ("Above line 11, lines 3 and 4 are added on line 9.", ("line_11",)),
    ],
)
def test_lines_next_to_the_computed_one_are_known_where_they_are_there(text: str, expected: tuple[str, ...]) -> None:
    (found,) = find_computations(text)
    assert (found.key, found.neighbors) == ("line_9", expected)
