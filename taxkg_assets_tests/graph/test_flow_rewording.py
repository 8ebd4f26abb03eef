"""Wordings in other words: equal length, the same flows; sentences that two places have the same amount."""

from __future__ import annotations

import pytest

from taxkg_assets.graph.flow_clauses import read_clauses
from taxkg_assets.graph.flow_passages import place_on_completed_form
from taxkg_assets.graph.flow_rewording import find_same_amount, reword


@pytest.mark.parametrize(
    ("sentence", "other_words"),
    [
        ("Your dues are on ⟨0⟩, which you claim on ⟨1⟩.", "Your dues are on ⟨0⟩; claim it on ⟨1⟩."),
        ("The amount is also part of the total on ⟨0⟩.", "The amount is included on ⟨0⟩."),
        ("You should already have figured this amount on ⟨0⟩.", "This is the amount on ⟨0⟩."),
        ("If you moored it, the amount for this line is on ⟨0⟩.", "If you moored it, This is the amount on ⟨0⟩."),
        ("Enter as a negative amount the toll on ⟨0⟩.", "Enter the toll on ⟨0⟩."),
        ("Report the amount from this line on ⟨0⟩.", "Report the amount on this line on ⟨0⟩."),
        ("Use this amount to complete ⟨0⟩.", "Put this amount on ⟨0⟩."),
        ("Include this amount on ⟨0⟩.", "Include this amount on ⟨0⟩."),
        ("Use this amount on ⟨0⟩ to complete the list.", "Use this amount on ⟨0⟩ to complete the list."),
    ],
)
def test_other_words_keep_the_places_where_they_are(sentence: str, other_words: str) -> None:
    written = reword(sentence)
    assert " ".join(written.split()) == other_words
    assert [at for at, letter in enumerate(written) if letter in "⟨⟩"] == [
        at for at, letter in enumerate(sentence) if letter in "⟨⟩"
    ]


@pytest.mark.parametrize(
    ("sentence", "places"),
    [
        ("⟨0⟩, is the amount from ⟨1⟩.", (0, 1)),
        ("The amount of dues to enter on ⟨0⟩, is the amount shown in ⟨1⟩.", (0, 1)),
        ("⟨0⟩, includes the amount from ⟨1⟩.", (0, 1)),
        ("The amount on ⟨0⟩, is carried from ⟨1⟩.", (0, 1)),
        ("You can find the amount to report on ⟨0⟩, in ⟨1⟩.", (0, 1)),
        ("Any amount in ⟨0⟩ is entered on ⟨1⟩.", None),
        ("⟨0⟩ is the amount from ⟨1⟩ that you paid.", None),
        ("⟨0⟩ is more than ⟨1⟩.", None),
        ("⟨0⟩ is not the amount on ⟨1⟩.", None),
        ("The amount of dues that do not appear on ⟨0⟩, is the amount on ⟨1⟩.", None),
        ("The amount of dues in excess of the amount on ⟨0⟩ is the amount on ⟨1⟩.", None),
    ],
)
def test_two_places_with_one_amount(sentence: str, places: tuple[int, int] | None) -> None:
    assert find_same_amount(sentence) == places


def test_a_line_of_a_publication_is_on_the_form_that_its_sentence_completes() -> None:
    text = "After you complete Form 2917, enter the amount from line 10 on Schedule 1 (Form 2040), line 20."
    (statement,) = read_clauses(text, heading_kind="")
    source = place_on_completed_form(statement, text).source
    assert source is not None
    assert (source.forms, source.keys) == (("2917",), ("10",))
    text = (
        "Complete Form 2917. Attach Form 2889. Then enter the amount from line 10 on Schedule 1 (Form 2040), line 20."
    )
    (statement,) = read_clauses(text, heading_kind="")
    assert place_on_completed_form(statement, text) == statement


def test_an_amount_of_another_year_keeps_its_words() -> None:
    assert reword("You figured this amount on ⟨0⟩.") != "You figured this amount on ⟨0⟩."
    for sentence in (
        "You figured this amount on ⟨0⟩, last year.",
        "You figured this amount on ⟨0⟩ of your 2030 return.",
    ):
        assert reword(sentence) == sentence
