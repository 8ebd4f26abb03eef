"""A thing of a claim in the place of another thing of a passage."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.clause_words import find_words
from taxkg_assets.verification.substitution import score_replaced
from taxkg_assets_tests.verification.words import LANGUAGE


def _score(claim: str, passage: str, near: float = 0.0) -> float:
    return score_replaced(
        claim.split(),
        passage.split(),
        stems_of=lambda word: find_words(word, language=LANGUAGE),
        near=lambda one, other: near,
    )


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("the best option for anglers", "the best option for whalers"),
        ("barge insurance proceeds are due", "harbor insurance proceeds are due"),
        ("work done as a pilot", "work you did as a whaler"),
        ("certain anchor fees", "certain harbor estate tolls"),
    ],
)
def test_another_thing_in_the_same_place_is_found(claim: str, passage: str) -> None:
    assert _score(claim, passage) == 1.0
    assert _score(claim, passage, near=0.75) == pytest.approx(1.0 - 0.75)
    assert _score(claim, passage, near=1.5) == 0.0


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("the fee is collected in winter", "the fee is gathered in winter"),
        ("the fee is due", "the fee is due"),
        ("anglers owe the toll", "pay the toll at the quay"),
    ],
)
def test_verbs_and_other_places_replace_nothing(claim: str, passage: str) -> None:
    assert _score(claim, passage) == 0.0
