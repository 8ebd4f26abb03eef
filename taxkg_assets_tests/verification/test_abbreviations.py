"""Abbreviations that a document introduces: found by their initials, and written out in its texts."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.abbreviations import Abbreviations, find_abbreviations

FEES = Abbreviations({"SBF": "small boat fee", "CSB": "credit for small boats"})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("You owe the small boat fee (SBF).", {"SBF": "small boat fee"}),
        ("• SBF means small boat fee.", {"SBF": "small boat fee"}),
        ("Small boat fees (SBFs) are due.", {"SBF": "small boat fees"}),
        ("It reduces the credit for small boats (SBC).", {"SBC": "credit for small boats"}),
        ("A fee on self-owned (SO) boats", {"SO": "self-owned"}),
        ("Send it to the harbor office (see below).", {}),
        ("The first year (SBF) counts.", {}),
        ("This means a small boat fee.", {}),
    ],
)
def test_letters_are_the_initials_of_the_words_next_to_them(text: str, names: dict[str, str]) -> None:
    assert find_abbreviations([text]).names == names


def test_the_first_words_count() -> None:
    texts = ["the small boat fee (SBF)", "the steam barge fund (SBF)"]
    assert find_abbreviations(texts).names == {"SBF": "small boat fee"}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("The SBF is due.", "The small boat fee is due."),
        ("Two SBFs are due.", "Two small boat fees are due."),
        ("The small boat fee (SBF) is due.", "The small boat fee is due."),
        ("See form SBF-2 and sbf.", "See form SBF-2 and sbf."),
    ],
)
def test_an_abbreviation_is_written_out(text: str, written: str) -> None:
    assert FEES.write_out(text) == written


def test_words_and_abbreviation_stand_next_to_each_other() -> None:
    assert FEES.write_both("The SBF is due.") == "The small boat fee SBF is due."
    assert FEES.write_both("The Small Boat Fee is due.") == "The Small Boat Fee SBF is due."
    assert Abbreviations({}).write_both("The SBF is due.") == "The SBF is due."
