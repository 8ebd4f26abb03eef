"""A line that a total uses more than once is named, except where the form keeps the totals apart."""

from __future__ import annotations

from typing import Any

from taxkg_assets.graph.totals import mark_totals


def _sum(key: str, *operands: str, bound: str = "", condition: str = "", operation: str = "sum") -> dict[str, Any]:
    return {
        "document_id": "f2040--2031",
        "part": "I",
        "key": key,
        "operation": operation,
        "operands": list(operands),
        "operand_parts": ["I"] * len(operands),
        "bound": bound,
        "condition": condition,
        "also_added_in": [],
        "repeated_lines": [],
    }


def _repeated(*rows: dict[str, Any]) -> dict[str, list[str]]:
    mark_totals(rows)
    return {row["key"]: row["repeated_lines"] for row in rows if row["repeated_lines"]}


def test_lines_that_each_total_uses_once_are_not_named() -> None:
    assert _repeated(_sum("line_3", "line_1", "line_2"), _sum("line_5", "line_3", "line_4")) == {}


def test_a_line_that_a_total_adds_with_its_subtotal_is_named() -> None:
    repeated = _repeated(_sum("line_3", "line_1", "line_2"), _sum("line_5", "line_1", "line_3"))
    assert repeated["line_5"] == ["line_1 also in line_3", "line_1 twice"]


def test_a_line_of_two_totals_names_the_other_one() -> None:
    rows = (_sum("line_3", "line_1", "line_2"), _sum("line_9", "line_2", "line_8"))
    assert _repeated(*rows) == {"line_3": ["line_2 also in line_9"], "line_9": ["line_2 also in line_3"]}
    assert [row["also_added_in"] for row in rows] == [["line_9"], ["line_3"]]


def test_totals_that_limits_or_conditions_keep_apart_are_no_repetition() -> None:
    gains = _sum("line_4", "line_2", "line_3", bound="at_least_zero")
    losses = _sum("line_16", "line_2", "line_3", bound="at_most_zero")
    assert _repeated(gains, losses) == {}
    assert _repeated(_sum("line_4", "line_2", condition="If you file late"), _sum("line_5", "line_2")) == {}
    assert _repeated(_sum("line_4", "line_2", bound="at_least_zero"), _sum("line_5", "line_2")) != {}


def test_only_sums_are_totals() -> None:
    assert _repeated(_sum("line_3", "line_1"), _sum("line_4", "line_1", operation="difference")) == {}
