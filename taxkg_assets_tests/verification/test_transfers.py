"""Statements on where an amount goes."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.verification.transfers import Transfer, find_flow, find_other_flow, find_transfers
from taxkg_assets_tests.verification.words import LANGUAGE
from tools.rule_switch import every_rule


def _row(source: tuple[str, str], target: tuple[str, str], **given: Any) -> Any:
    return {
        "document_id": "f9999--2031",
        "relation": "flows_to",
        "evidence": "here and on the return",
        "source_form": source[0],
        "source_key": source[1],
        "source_part": "",
        "source_code": "",
        "target_form": target[0],
        "target_key": target[1],
        "target_part": "",
        "target_code": "",
        "problem": "",
    } | given


def _only(text: str, *, form: str = "") -> Transfer:
    (found,) = find_transfers(text, language=LANGUAGE, form=form)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "Line 3 of Schedule 1 (2031) is carried to Form 9999, line 5.",
        "Line 3 of Schedule 1 goes on line 5 of Form 9999.",
        "Line 5 of the 2031 Form 9999 is taken from line 3 of Schedule 1.",
        "It carries the total on line 3 of Schedule 1 to line 5 of Form 9999.",
        "Schedule 1 sends line 3 of Schedule 1 to line 5 of Form 9999.",
    ],
)
def test_transfers_are_read_in_their_direction(text: str) -> None:
    found = _only(text, form="9999")
    assert (found.source.key, found.source.form) == ("line_3", "Schedule 1")
    assert (found.target.key, found.target.form) == ("line_5", "9999")
    assert not found.is_negative


@pytest.mark.parametrize(
    "text",
    [
        "Line 5 of Form 9999 (2031) is the amount of line 3 of Schedule 1.",
        "Form 9999 (2031) starts on line 5 with line 3 of Schedule 1.",
    ],
)
def test_rules_without_support_read_a_transfer_if_they_are_on(text: str) -> None:
    assert not find_transfers(text, language=LANGUAGE, form="9999")
    with every_rule():
        found = _only(text, form="9999")
    assert (found.source.key, found.source.form) == ("line_3", "Schedule 1")
    assert (found.target.key, found.target.form) == ("line_5", "9999")


def test_a_line_without_a_form_is_of_the_form_that_is_cited() -> None:
    found = _only("The 2031 Schedule 1 sends line 3 to line 5 of Form 9999.", form="Schedule 1")
    assert (found.source.form, found.target.form) == ("Schedule 1", "9999")


def test_a_second_predicate_has_the_first_line_as_its_subject() -> None:
    found = _only("Line 8 of Schedule 1 adds line 6 and line 7, and goes to Form 9999, line 5.", form="Schedule 1")
    assert (found.source.key, found.target.key) == ("line_8", "line_5")


def test_a_denied_transfer_says_so() -> None:
    assert _only("Line 3 of Schedule 1 is not carried to Form 9999, line 5.").is_negative


@pytest.mark.parametrize(
    "text",
    [
        "Line 3 of Schedule 1, which is not refundable, is carried to Form 9999, line 5.",
        "If it is not zero, line 3 of Schedule 1 is carried to Form 9999, line 5.",
        "Even if you do not sail, the amount on Schedule 1, line 3, goes to Form 9999, line 5.",
        "Although it is not a fee, Schedule 1, line 3, goes to Form 9999, line 5.",
        "The fee that is not due on line 3 of Schedule 1 goes to Form 9999, line 5.",
        "Line 3 of Schedule 1, if it is not zero, goes to Form 9999, line 5.",
        "Unless you sail, line 3 of Schedule 1 does not go to Form 9999, line 5.",
        "Twice the amount on line 3 of Schedule 1 goes to Form 9999, line 5.",
        "A portion of line 3 of Schedule 1 goes to Form 9999, line 5.",
        "Line 3 of Schedule 1 is entered as a negative on Form 9999, line 5.",
        "Line 5 of Form 9999 takes half the amount from line 3 of Schedule 1.",
    ],
)
def test_a_denial_elsewhere_and_a_share_leave_a_transfer_open(text: str) -> None:
    found = _only(text)
    assert found.is_open
    assert not found.is_negative


@pytest.mark.parametrize(
    "text",
    [
        "No amount on line 3 of Schedule 1 goes to Form 9999, line 5.",
        "For barges, line 3 of Schedule 1 never goes to Form 9999, line 5.",
    ],
)
def test_a_denial_counts_in_the_clause_of_its_verb(text: str) -> None:
    found = _only(text)
    assert found.is_negative
    assert not found.is_open


def test_a_denial_of_the_first_predicate_is_not_one_of_the_second() -> None:
    found = _only("Line 8 of Schedule 1 is not line 6 minus line 7, and goes to Form 9999, line 5.", form="Schedule 1")
    assert found.source.key == "line_8"
    assert not found.is_negative


@pytest.mark.parametrize(
    "text",
    [
        "Line 5 is line 3 less line 4.",
        "Lines 3 and 4 are blank.",
        "Line 3 goes away.",
        "Line 5 is different from line 3.",
        "Line 5 is separate from line 3.",
        "Line 5 is a distinct amount from line 3.",
        "Line 5 is two lines from line 3.",
        "The amount on line 5 is kept apart from line 3.",
    ],
)
def test_other_sentences_carry_nothing(text: str) -> None:
    assert not find_transfers(text, language=LANGUAGE)


CLAIMED = "Line 3 of Schedule 1 is carried to Form 9999, line 5."
SOURCE, TARGET = ("Schedule 1 (Form 9999)", "line_3"), ("9999", "line_5")


def test_a_flow_with_both_ends_is_found() -> None:
    row = _row(SOURCE, TARGET)
    assert find_flow(_only(CLAIMED), [_row(SOURCE, ("9999", "line_6"), evidence="elsewhere"), row]) is row


def _formula(operation: str, **given: Any) -> Any:
    row = {"document_id": "f9999--2031", "part": "", "key": "line_5", "operation": operation}
    return row | {"condition": "", "bound": ""} | given


@pytest.mark.parametrize(
    ("text", "formula", "is_found"),
    [
        ("The amount on line 3 is entered on line 5.", None, False),
        ("The amount on line 3 is entered on line 5.", _formula("difference"), False),
        ("The amount on line 3 is entered on line 5.", _formula("sum"), False),
        ("The amount on line 3 is entered on line 5.", _formula("copy"), True),
        ("The amount on line 3 is entered on line 5.", _formula("copy", condition="if you sail"), False),
        ("The amount on line 3 is entered on line 5.", _formula("copy", key="line_6"), False),
        ("The amount on line 3 is included on line 5.", _formula("sum"), True),
        ("The amount on line 3 is included on line 5.", _formula("difference"), False),
    ],
)
def test_a_computed_line_has_the_amount_of_another_one_where_it_copies_it(
    text: str, formula: Any, is_found: bool
) -> None:
    row = _row(("9999", "line_3"), TARGET, relation="computed_from")
    found = find_flow(_only(text, form="9999"), [row], [] if formula is None else [formula])
    assert (found is row) is is_found


def test_a_computation_is_no_other_place_of_an_amount() -> None:
    row = _row(SOURCE, ("9999", "line_6"), relation="computed_from")
    assert find_other_flow(_only(CLAIMED), [row]) is None


def test_one_of_several_cases_is_not_found() -> None:
    rows = [_row(SOURCE, TARGET), _row(SOURCE, ("9999", "line_6"))]
    assert find_flow(_only(CLAIMED), rows) is None, "line 5 (if A is checked) or line 6 (if B is checked)"


def test_the_one_other_place_of_a_line_contradicts() -> None:
    row, difference = find_other_flow(_only(CLAIMED), [_row(SOURCE, ("9999", "line_6"))]) or (None, None)
    assert row is not None
    assert difference is not None
    assert difference.found == "line 6 of 9999"


@pytest.mark.parametrize(
    "rows",
    [
        [_row(SOURCE, ("9999", "line_6")), _row(SOURCE, ("9999", "line_7"))],
        [_row(SOURCE, ("9999", "line_6"), source_code="D")],
        [_row(SOURCE, ("9999", "the tax line"))],
        [_row(SOURCE, ("8888", "line_6"))],
        [_row(("8888", "line_2"), TARGET)],
    ],
)
def test_what_may_be_another_amount_contradicts_nothing(rows: Any) -> None:
    assert find_other_flow(_only(CLAIMED), rows) is None


def test_a_line_that_takes_an_amount_of_another_form_takes_no_other_one() -> None:
    row = _row(("Schedule 1 (Form 9999)", "line_4"), TARGET, relation="from_form")
    assert find_other_flow(_only(CLAIMED), [row]) is not None
