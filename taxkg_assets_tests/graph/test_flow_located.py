"""Amounts that a sentence locates, or uses, for another line: only what is an amount."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taxkg_assets.graph.flow_clauses import read_clauses
from taxkg_assets.graph.places import Place, find_places
from tools.rule_switch import every_rule

OWN = "own"
Ends = list[tuple[str, str]]


@pytest.fixture(autouse=True, scope="module")
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


def _name(place: Place | None) -> str:
    return OWN if place is None else f"{'/'.join(place.forms)}:{','.join(place.keys)}"


def _read(text: str) -> Ends:
    return [(_name(each.source), _name(each.target)) for each in read_clauses(text, heading_kind="lines")]


@pytest.mark.parametrize(
    "subject",
    [
        "The code is",
        "The TIN is",
        "Your EIN is",
        "Your filing status is",
        "The country is",
        "The country of the income is",
        "Your city or town is",
        "The boat's length is",
        "The dues number is",
        "Dues and a code are",
        "Dues are not",
        "If you live in town, dues are",
    ],
)
def test_what_is_no_amount_is_not_entered_on_the_line(subject: str) -> None:
    assert _read(f"{subject} in box 3 of Form 2099. Enter it here.") == []


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Dues are in box 3 of Form 2099. Enter them here.", [("2099:3", OWN)]),
        ("Pilot tax withheld is shown in box 4 of Form 2099. Enter it on this line.", [("2099:4", OWN)]),
        ("Dues paid to pilots are in box 3 of Form 2099. Enter this amount.", [("2099:3", OWN)]),
        ("Box 3 of Form 2099 shows your dues. Enter them here.", [("2099:3", OWN)]),
        ("Box 3 of Form 2099 shows your TIN. Enter it here.", []),
        (
            "Rents are in box 1 and dues in box 3 of Form 2099. Enter them here.",
            [("2099:1", OWN), ("2099:3", OWN)],
        ),
        ("Dues may be shown in box 3 of Form 2099. If so, enter it on this line.", [("2099:3", OWN)]),
        ("Dues are in box 3 of Form 2099. Enter them here. If so, enter it on this line.", [("2099:3", OWN)]),
        ("The code is in box 3 of Form 2099. It is one letter. Enter it here.", []),
        ("Dues paid are shown in box 3 of Form 2099. Do not enter them here. Enter this amount.", []),
        ("Enter it here.", []),
    ],
)
def test_an_order_enters_the_amounts_that_the_sentence_before_it_locates(text: str, ends: Ends) -> None:
    assert _read(text) == ends


@pytest.mark.parametrize(
    ("used", "is_moved"),
    [
        ("the amount on Form 2889, line 4,", True),
        ("Form 2889, line 4,", True),
        ("the dues paid to pilots from Form 2889, line 4,", True),
        ("the rate on Form 2889, line 4,", False),
        ("the rate shown on Form 2889, line 4,", False),
        ("the amount on Form 2889, line 4, as a guide", False),
        ("this worksheet with the amount on Form 2889, line 4,", False),
    ],
)
def test_only_an_amount_is_used_to_complete_a_line(used: str, is_moved: bool) -> None:
    assert _read(f"Use {used} to complete line 9.") == ([("2889:4", ":9")] if is_moved else [])


@pytest.mark.parametrize(
    "words",
    [
        "lines 1 to line 7 of Form 2040",
        "lines 1 to 7 of Form 2040",
        "lines 1 through line 7 of Form 2040",
        "line 1 through line 7 of Form 2040",
        "Form 2040, lines 1 through line 7",
        "boxes 1 to box 7 of Form 2040",
    ],
)
def test_a_range_is_one_place_with_all_of_its_lines(words: str) -> None:
    assert [(each.forms, each.keys) for each in find_places(f"Enter the total of {words}.")] == [
        (("2040",), ("1", "2", "3", "4", "5", "6", "7"))
    ]
    assert _read(f"Enter the total of {words}.") == [("2040:1,2,3,4,5,6,7", OWN)]


def test_an_amount_that_is_added_to_another_goes_where_their_sum_goes() -> None:
    text = "Add the tax from Form 2041, line 4, to the total on line 8 and enter the total on Form 2040, line 9."
    assert _read(text) == [("2041:4", "2040:9")]
