"""Clauses with conditions, shares and places as subjects, and headings without words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taxkg_assets.graph.flow_clauses import read_clauses
from taxkg_assets.graph.flow_lists import introduces_sources
from taxkg_assets.graph.places import Place
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


def _read(text: str, heading_kind: str, *, topic: str = "") -> Ends:
    return [
        (_name(each.source), _name(each.target)) for each in read_clauses(text, heading_kind=heading_kind, topic=topic)
    ]


@pytest.mark.parametrize(
    ("text", "heading_kind", "ends"),
    [
        (
            "Box 12 will also show your pilot tax, with code M. You must pay it. Include it on Form 2040, line 8.",
            "",
            [(":12", "2040:8")],
        ),
        (
            "1. If an amount is reported in box 20 with code C, enter the amount on Form 2040, line 10.",
            "",
            [(":20", "2040:10")],
        ),
        (
            "This includes the amount reported on Form 2889, line 6, or if you moored it, Form 2041, line 16.",
            "lines",
            [("2889:6", OWN), ("2041:16", OWN)],
        ),
        ("Enter the dues from Form 2889, line 4, which are attributable to boats.", "lines", [("2889:4", OWN)]),
        ("Enter the dues from Form 2889, line 4, that are attributable to boats.", "lines", []),
        ("Your dues, the amount from Form 2889, line 4, on line 8.", "lines", [("2889:4", ":8")]),
        ("Enter withheld pilot tax (dues) on Form 2040, line 11.", "boxes", []),
    ],
)
def test_wordings_of_places_and_conditions(text: str, heading_kind: str, ends: Ends) -> None:
    assert _read(text, heading_kind) == ends


@pytest.mark.parametrize(
    "text",
    [
        "Instead, state them separately on a statement to Schedule K, line 13d, and in box 13 of Schedule K-1.",
        "A harbor that owns a boat reports this income on Schedule K, line 13d, and in box 13 of Schedule K-1.",
    ],
)
def test_any_verb_puts_a_total_and_its_shares(text: str) -> None:
    assert _read(text, "lines") == [("Schedule K:13d", "Schedule K-1:13")]


def test_a_share_continues_from_the_line_that_its_own_sentence_names() -> None:
    text = (
        "It may not be treated as dues. "
        "Instead, report it on line 11 of Schedule K and report each partner's share in box 11 of Schedule K-1."
    )
    assert ("Schedule K:11", "Schedule K-1:11") in _read(text, "")


def test_your_amount_below_a_bare_heading_is_that_of_the_line() -> None:
    text = "Include your pilot dues in the total reported on Form 2040, line 7; or Form 2041, line 9, as applicable."
    assert _read(text, "lines", topic="Line 12.") == [(OWN, "2040:7"), (OWN, "2041:9")]
    assert not _read(text, "lines", topic="Line 12. Boats")


def test_a_list_of_examples_names_sources() -> None:
    assert introduces_sources("Examples of other dues include the following.")
    assert not introduces_sources("Boats that pay dues include the following.")


def test_an_amount_that_another_form_figures_is_not_that_of_the_box() -> None:
    text = "Enter this amount on Form 2040, line 1."
    assert _read(text, "boxes") == [(OWN, "2040:1")]
    assert not _read(f"Use Form 2137 to figure the pilot tax on other dues. {text}", "boxes")
