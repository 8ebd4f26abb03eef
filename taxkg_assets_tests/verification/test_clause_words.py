"""Words and polarity: denials, clauses, contrary words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taxkg_assets.verification.clause_words import find_words, match_word, read_weights, read_wording
from taxkg_assets.verification.polarity import demands_more, find_contrary, is_reversed, score_agreement
from taxkg_assets_tests.verification.words import LANGUAGE


def _agree(one: str, other: str) -> float:
    first, second = read_wording(one, language=LANGUAGE), read_wording(other, language=LANGUAGE)
    return score_agreement(first, second, weights=read_weights(first.words, language=LANGUAGE))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("You can deduct the fee.", "Fees can be deducted."),
        ("You can't deduct the fee.", "The fee is not deductible."),
        ("You don't have to file the slip.", "You need not file the slip."),
        ("The fee can't be more than the rent.", "The fee is limited to the rent."),
        ("Leave out the fee.", "Do not include the fee."),
        ("File the slip whether or not it is late.", "File the slip even if it is late."),
        ("Tenants in bankruptcy should not file the slip.", "If you are in bankruptcy, don't file the slip."),
        ("The allowance does not cover books.", "No allowance is given for books."),
        ("A barge is due no fee.", "If you own a barge, or rent one, no fee is due."),
        (
            "A barge that you moor need not be listed.",
            "You don't have to list any barge if you list it when you moor it.",
        ),
        ("Rent stays out of income.", "Excluded rent is also excluded from income."),
        ("Report the fee on line 3.", "Report the fee (it isn't part of the rent) on line 3."),
        ("A skipper with no cargo pays the fee.", "A skipper has $0 in cargo. The skipper pays the fee."),
        ("The owner must pay the fee.", "The owner (not the tenant) must pay the fee."),
    ],
)
def test_the_same_said_otherwise_agrees(one: str, other: str) -> None:
    assert _agree(one, other) >= 0.7


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("You can deduct the fee.", "You can't deduct the fee."),
        ("You must file the slip.", "You do not have to file the slip."),
        ("Include the fee in income.", "Exclude the fee from income."),
        ("If you pay early, you can deduct the fee.", "If you pay early, you can't deduct the fee."),
        ("Permits without a stamp are accepted.", "A permit that doesn't have a stamp won't be accepted."),
        ("Use the slip if your shop is open.", "Don't use the slip if your shop is open."),
        ("The fee is part of the rent.", "Report the fee (it isn't part of the rent) on line 3."),
    ],
)
def test_the_contrary_disagrees(one: str, other: str) -> None:
    assert _agree(one, other) <= 0.25


def test_a_reason_is_no_denial_of_what_it_explains() -> None:
    one = read_wording("Members of a harbor guild do not file.", language=LANGUAGE)
    other = read_wording("You are exempt because you are a member of a harbor guild.", language=LANGUAGE)
    assert not is_reversed(one, other, weights=read_weights(one.words, language=LANGUAGE))


@pytest.mark.parametrize(
    "text",
    [
        "Report section 501 (c) boats on Form 1099-MISC, box 3 (b), or W-2G.",
        "A 401(k) plan’s e-filed 10-K—see (c) below—costs $1,250.50 (5%).",
        "Non-taxable\u00a0fees\tof 52 (a)\n(b) barges",
    ],
)
def test_the_words_of_a_text_are_those_of_its_parts(text: str) -> None:
    terms = (term for term in LANGUAGE.find_terms(text) if term.replace("-", "").replace("'", "").isalpha())
    assert find_words(text, language=LANGUAGE) == {
        word for term in terms for word in find_words(term, language=LANGUAGE)
    }


def test_a_word_matches_longer_forms_but_no_other_word() -> None:
    words = find_words("a deductible contribution to medicare", language=LANGUAGE)
    assert match_word("deduct", words)
    assert not match_word("medical", words)


def test_an_unknown_word_is_the_rarest_and_a_synonym_counts_as_its_most_frequent_word() -> None:
    frequencies = {"report": 2.0, "enter": 0.5, "rent": 4.0}
    language = replace(LANGUAGE, read_weight=lambda term: frequencies.get(term, 0.0), unknown_weight=9.0)
    assert read_weights(find_words("enter rent, parrot", language=language), language=language) == {
        "report": 0.5,
        "rent": 4.0,
        "parrot": 9.0,
    }


def test_contrary_words_are_named_by_clause() -> None:
    one = read_wording("Enter the smaller rent.", language=LANGUAGE)
    other = read_wording("Enter the larger rent; the smaller fee is free.", language=LANGUAGE)
    both = read_wording("Enter the smaller or the larger rent.", language=LANGUAGE)
    weights = read_weights(one.words, language=LANGUAGE)
    assert find_contrary(one, other, weights=weights) == ("smaller", "larger")
    assert find_contrary(one, both, weights=weights) is None


def test_must_is_more_than_may() -> None:
    must = read_wording("Couples must file a separate slip.", language=LANGUAGE)
    may = read_wording("Couples may file a separate slip.", language=LANGUAGE)
    weights = read_weights(must.words, language=LANGUAGE)
    assert demands_more(must, may, weights=weights)
    assert not demands_more(may, must, weights=weights)


@pytest.mark.parametrize(
    ("text", "asserted", "condition"),
    [
        ("If the fee is due, enter the toll.", "toll", "fee"),
        ("If you paid rent, interest, or tolls, list the canal.", "canal", "toll"),
        ("Enter the toll if the fee is due.", "toll", "fee"),
    ],
)
def test_a_condition_is_read_apart_from_what_holds_in_it(text: str, asserted: str, condition: str) -> None:
    clauses = read_wording(text, language=LANGUAGE).clauses
    said = frozenset[str]().union(*(own.words for own in clauses if not own.is_condition))
    cases = frozenset[str]().union(*(own.words for own in clauses if own.is_condition))
    assert asserted in said
    assert asserted not in cases
    assert condition in cases
    assert condition not in said


def test_an_exception_in_brackets_is_an_exception() -> None:
    (clause,) = [
        own
        for own in read_wording("Include fees (other than tolls) and rent.", language=LANGUAGE).clauses
        if own.is_exception
    ]
    assert "toll" in clause.words
    assert "rent" not in clause.words


def test_what_follows_a_relative_clause_is_stated_about_the_words_before_it() -> None:
    clauses = read_wording("A canal that does not freeze is listed.", language=LANGUAGE).clauses
    assert [(own.is_negative, "canal" in own.words) for own in clauses] == [(False, True), (True, False)]
