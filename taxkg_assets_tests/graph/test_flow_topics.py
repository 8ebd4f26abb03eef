"""Amounts that a clause names by the words of its line's heading or label."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taxkg_assets.graph.flow_clauses import read_clauses
from tools.rule_switch import every_rule

TOPIC = "Line 26 Taxable harbor dues. Add lines 24 and 25"


@pytest.fixture(autouse=True, scope="module")
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


def _read(text: str, *, topic: str = TOPIC, heading_kind: str = "lines") -> list[tuple[str, str]]:
    found = read_clauses(text, heading_kind=heading_kind, topic=topic)
    return [
        tuple(f"{'/'.join(place.forms)}:{','.join(place.keys)}" if place else "own" for place in ends)  # type: ignore[misc]
        for ends in ((each.source, each.target) for each in found)
    ]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Include taxable harbor dues on Form 2040, line 1e.", ("own", "2040:1e")),
        ("Include your harbor dues in the total on Form 2040, line 1e.", ("own", "2040:1e")),
        ("These dues are reported on Form 2040, line 1e.", ("own", "2040:1e")),
        ("Your harbor dues are the amount from Form 2889, line 4.", ("2889:4", "own")),
        ("Harbor dues from Form 2889, line 4.", ("2889:4", "own")),
    ],
)
def test_an_amount_is_named_by_the_heading_of_its_line(text: str, ends: tuple[str, str]) -> None:
    assert _read(text) == [ends]


@pytest.mark.parametrize(
    "text",
    [
        "Include tolls of pilots on Form 2040, line 1e.",
        "Include any other dues on Schedule 7, lines 1 through 21.",
        "If your boat is rented, report the harbor dues on Schedule N, line 6.",
        "Tolls from Form 2889, line 4.",
    ],
)
def test_another_amount_is_not_that_of_the_line(text: str) -> None:
    assert _read(text) == []


def test_headings_without_a_line_name_no_amount() -> None:
    assert _read("Include taxable harbor dues on Form 2040, line 1e.", heading_kind="") == []
    assert _read("Include taxable harbor dues on Form 2040, line 1e.", topic="") == []
