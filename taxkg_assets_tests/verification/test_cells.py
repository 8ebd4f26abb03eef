"""Cells of tables: the row of a range, headings that are numbers, and what a cell supports or contradicts."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.cells import find_ranges, find_unnamed, is_within
from taxkg_assets.verification.comparison import add_similarity, compare
from taxkg_assets.verification.decision import decide
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.shortlist import score_named
from taxkg_assets.verification.verdicts import Verdict
from taxkg_assets_tests.verification.words import LANGUAGE, claim_of, passage_of


def _cell(row: str, column: str, value: str) -> Passage:
    headings = ": ".join((row, column)).replace(" > ", ", ")
    return passage_of(
        f"{headings}: {value}",
        kind="cell",
        headers=(*row.split(" > "), "", *column.split(" > ")),
        value_start=len(headings) + 2,
        headings=("Instructions for Form 9999 (2031)", "Harbor Toll Table"),
    )


def _verdict(text: str, *cells: Passage) -> Verdict:
    claim, reader = claim_of(text), PassageReader(LANGUAGE, {"i9999--2031": ("9999",)})
    found = [compare(claim, own, reader=reader) for own in cells]
    return decide(add_similarity(claim, found, reader=reader)).verdict


@pytest.mark.parametrize(
    ("headers", "ranges"),
    [
        (("4,000", "4,050", "", "Your toll is"), ((4000, 4050),)),
        (("$8,000 - 9,999", "", "Barge"), ((8000, 9999),)),
        (("Over $700 but not over $900", "", "Barge"), ((700, 900),)),
        (("10", "", "19"), ()),
        (("9,000", "8,000", ""), ()),
        (("", "", "Toll"), ()),
    ],
)
def test_a_row_may_be_a_range(headers: tuple[str, ...], ranges: tuple[tuple[int, int], ...]) -> None:
    assert find_ranges(headers) == ranges


def test_the_upper_end_is_of_the_next_row() -> None:
    assert is_within("4000", [(4000, 4050)])
    assert not is_within("4050", [(4000, 4050)])
    assert not is_within("boat", [(4000, 4050)])


def test_a_heading_that_is_a_number_has_to_be_named() -> None:
    headers = ("4,000", "4,050", "", "Crew", "3", "Barge 1 5.00%")
    assert find_unnamed(headers, "a crew of three") == []
    assert find_unnamed(headers, "a crew of 3") == []
    assert find_unnamed(headers, "a crew of four") == ["3"]
    assert find_unnamed(("", "", "0"), "a skipper without a crew") == []


LOW, HIGH = (
    _cell("4,000 > 4,050", "Income of a barge > Your toll is", "310"),
    _cell("4,050 > 4,100", "Income of a barge > Your toll is", "317"),
)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("The toll of a barge with an income of $4,020 is $310 by the 2031 Form 9999 table.", Verdict.supported),
        ("The toll of a barge with an income of $4,050 is $317 by the 2031 Form 9999 table.", Verdict.supported),
        (
            "The toll of a barge with an income of at least $4,000 but less than $4,050 is $310 on Form 9999.",
            Verdict.supported,
        ),
        (
            "The toll of a barge with an income of at least $4,000 but less than $4,050 is $350 on Form 9999.",
            Verdict.contradicted,
        ),
    ],
)
def test_an_amount_in_a_range_means_its_row(text: str, verdict: Verdict) -> None:
    assert _verdict(text, LOW, HIGH) is verdict


def test_a_row_that_may_not_be_meant_contradicts_nothing() -> None:
    assert _verdict("The toll of a barge with an income of $9,020 is $450 on Form 9999.", LOW, HIGH) not in (
        Verdict.contradicted,
        Verdict.supported,
    )


def test_a_cell_of_another_number_supports_nothing() -> None:
    cell = _cell("Barge", "Crew > 3", "$52")
    assert _verdict("The toll of a barge with a crew of three is $52 on Form 9999.", cell) is Verdict.supported
    assert _verdict("The toll of a barge with a crew of four is $52 on Form 9999.", cell) is not Verdict.supported


def test_cells_are_chosen_by_the_values_that_they_name() -> None:
    claim = claim_of("The toll of a barge with an income of $4,020 is $310 on Form 9999.")
    assert score_named(claim, LOW) > score_named(claim, HIGH)
    assert score_named(claim_of("The toll of a barge is high."), LOW) == 0.0
