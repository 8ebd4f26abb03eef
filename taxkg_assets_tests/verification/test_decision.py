"""Decisions over several passages: pairs of sentences, keys in one list, limits of amounts."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.comparison import add_similarity, compare
from taxkg_assets.verification.decision import Decision, decide
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.verdicts import Verdict
from taxkg_assets_tests.verification.words import LANGUAGE, claim_of, passage_of

FORMS = {"i9999--2031": ("9999",)}
NAMED = "This toll must also be included in box 4."
OTHER = "Do not include any mooring costs in box 5."
LABELED = {"label": "Box 6 Harbor toll", "keys": frozenset({"box_6"})}


def _decide(text: str, *passages: Passage) -> Decision:
    claim, reader = claim_of(text), PassageReader(LANGUAGE, FORMS)
    found = [compare(claim, passage, reader=reader) for passage in passages]
    return decide(add_similarity(claim, found, reader=reader))


def _pair(first: str, second: str) -> tuple[Passage, Passage, Passage]:
    both = f"{first} {second}"
    start = len(first) + 1
    return (
        passage_of(first, **LABELED),
        passage_of(second, start=start, end=len(both), **LABELED),
        passage_of(both, kind="pair", **LABELED),
    )


def test_what_the_other_sentence_of_a_pair_denies_does_not_keep_a_denial_from_being_contradicted() -> None:
    text = "On Form 9999, box 6 is not included in box 4."
    assert _decide(text, *_pair(NAMED, OTHER)).verdict is Verdict.contradicted
    assert _decide(text.replace("not ", ""), *_pair(NAMED, OTHER)).verdict is Verdict.supported


def test_one_sentence_that_relates_all_boxes_otherwise_makes_a_pair_unclear() -> None:
    text = "On Form 9999, box 5 is not included in box 4."
    related = passage_of("Report in box 5 the tolls included in box 4.", node_id="i9999--2031:p0001:e0002")
    assert _decide(text, related, *_pair(NAMED, OTHER)).verdict in (Verdict.unclear, Verdict.contradicted)


def test_boxes_in_one_list_say_nothing_about_each_other() -> None:
    listed = passage_of("Do not include these tolls in box 4 or 5.")
    assert _decide("On Form 9999, box 5 tolls are not included in box 4.", listed).verdict is not Verdict.supported
    related = passage_of("Do not include the tolls of box 5 in box 4.")
    assert _decide("On Form 9999, box 5 tolls are not included in box 4.", related).verdict is Verdict.supported
    of_both = "On Form 9999, these tolls are not included in box 4 or box 5."
    assert _decide(of_both, listed).verdict is Verdict.supported


@pytest.mark.parametrize(
    ("text", "passage", "is_supported"),
    [
        ("The harbor credit is limited to $5,000.", "The harbor credit is limited to $5,000.", True),
        ("The harbor credit is not limited to $5,000.", "The harbor credit is limited to $5,000.", False),
        ("The harbor credit isn't limited to $5,000.", "The harbor credit is limited to $5,000.", False),
        ("The harbor credit may exceed $5,000.", "The harbor credit is limited to $5,000.", False),
        ("The harbor credit is limited to $5,000.", "The harbor credit may exceed $5,000.", False),
        ("The harbor credit is limited to owners.", "The harbor credit is limited to owners.", True),
        ("The harbor credit is limited to owners.", "The harbor credit is limited to owners and renters.", False),
        (
            "The harbor credit is limited to owners and renters.",
            "The harbor credit is limited to owners and renters.",
            True,
        ),
    ],
)
def test_a_limit_is_neither_its_denial_nor_a_wider_one(text: str, passage: str, *, is_supported: bool) -> None:
    verdict = _decide(f"On Form 9999, t{text[1:]}", passage_of(passage)).verdict
    assert (verdict is Verdict.supported) is is_supported
