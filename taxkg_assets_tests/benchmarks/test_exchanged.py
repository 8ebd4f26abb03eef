"""One part of a true statement exchanged."""

from __future__ import annotations

import random

import pytest

from benchmarks.exchanged import exchange_denial, exchange_quantifier, exchange_thing, exchange_value

CHANCE = random.Random(1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The toll is due.", "The toll is not due."),
        ("The toll is not due.", "The toll is due."),
        ("A skipper who is late may pay.", "A skipper who is late may not pay."),
        ("Form 9999 says that the toll is due.", "Form 9999 says that the toll is not due."),
        ("No toll is due.", ""),
        ("The skipper pays.", ""),
    ],
)
def test_the_first_main_verb_is_denied(text: str, expected: str) -> None:
    assert exchange_denial(text, "", [], CHANCE) == expected


def test_a_value_is_replaced_by_another_one_of_the_passage() -> None:
    text = "On Form 9999 (2031), the toll is $5."
    assert exchange_value(text, "The toll is $5, or $7 in 2031.", [], CHANCE) == text.replace("$5", "$7")
    assert exchange_value(text, "The toll is $5 for 8 boats.", [], CHANCE) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A skipper has only one harbor.", "A skipper has several harbor."),
        ("One barge is free of tolls.", "several barge is free of tolls."),
        ("A skipper may moor all barges.", "A skipper may moor only one barges."),
        ("Moor only at night.", "Moor not only at night."),
        ("No toll is due for any barge.", ""),
        ("The toll is one-half.", ""),
    ],
)
def test_the_first_quantifier_is_replaced_by_a_contrary_one(text: str, expected: str) -> None:
    assert exchange_quantifier(text, "", [], CHANCE) == expected


def test_a_thing_is_replaced_by_one_that_neither_names() -> None:
    text = "Pay the toll."
    assert exchange_thing(text, "The toll is paid.", ["toll", "anchor", "anchors"], CHANCE) == "Pay the anchor."
    assert exchange_thing(text, "The fee is paid.", ["anchor"], CHANCE) == ""
