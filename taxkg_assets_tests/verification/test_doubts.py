"""Passages that share the words of a statement and say something else: order, contrast, values of another case."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.comparison import add_similarity, compare
from taxkg_assets.verification.decision import decide
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.verdicts import Verdict
from taxkg_assets_tests.verification.words import LANGUAGE, claim_of, passage_of

FORMS = {"i9999--2031": ("9999",)}


def _verdict(text: str, *passages: str) -> Verdict:
    claim = claim_of(text)
    found = [compare(claim, passage_of(own), reader=PassageReader(LANGUAGE, FORMS)) for own in passages]
    return decide(add_similarity(claim, found, language=LANGUAGE)).verdict


ORDERED = "Skippers apply the harbor limit on tolls before the anchor limits on barges."
CONTRASTED = "The election to dredge a canal must be made by the skipper of the barge."
CASES = "The harbor toll is 10% (5% in the case of a fishing barge) of the cargo."
EXCEPTED = "Harbor dues include pilot fees, except for anchor rentals and fishing licenses."
LIEU = "If a canal permit was sold in lieu of a harbor license, enter the toll."
ANCHORED = "You can use a barge that has a valid anchor for the harbor credit."


@pytest.mark.parametrize(
    ("true", "wrong", "passage"),
    [
        (
            "On Form 9999, skippers apply the harbor limit on tolls before the anchor limits on barges.",
            "On Form 9999, skippers apply the anchor limits on barges before the harbor limit on tolls.",
            ORDERED,
        ),
        (
            "On Form 9999, the election to dredge a canal must be made by the skipper of the barge.",
            "On Form 9999, the election to dredge a canal must be made by the barge, not by the skipper.",
            CONTRASTED,
        ),
        (
            "On Form 9999, the harbor toll is 5% for a fishing barge.",
            "On Form 9999, the harbor toll is 10% for a fishing barge.",
            CASES,
        ),
        (
            "On Form 9999, harbor dues include pilot fees.",
            "On Form 9999, harbor dues include anchor rentals and fishing licenses.",
            EXCEPTED,
        ),
        (
            "On Form 9999, you can use a barge with a valid anchor for the harbor credit.",
            "On Form 9999, you can use a barge without a valid anchor for the harbor credit.",
            ANCHORED,
        ),
    ],
)
def test_the_statement_is_supported_and_its_reversal_is_not(true: str, wrong: str, passage: str) -> None:
    assert _verdict(true, passage) is Verdict.supported
    assert _verdict(wrong, passage) is not Verdict.supported


def test_what_something_replaces_is_denied() -> None:
    assert _verdict("On Form 9999, enter the toll if a harbor license was sold.", LIEU) is not Verdict.supported


def test_a_nearer_passage_that_denies_a_part_makes_it_unclear() -> None:
    text = "On Form 9999, you can use a barge with a valid anchor for the harbor credit."
    general = "You can use a barge with a valid anchor for the credit."
    denial = "If the barge has a valid anchor, you can't use it for the harbor credit."
    assert _verdict(text, general) is Verdict.supported
    assert _verdict(text, general, denial) is not Verdict.supported
