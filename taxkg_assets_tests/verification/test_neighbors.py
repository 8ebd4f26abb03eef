"""A passage among the others: words that only another one has, and others that say the contrary."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taxkg_assets.verification.comparison import add_similarity, compare
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.neighbors import relate
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets_tests.verification.words import LANGUAGE, claim_of, passage_of

DAY = passage_of("The harbor day pass covers the toll of a barge.", node_id="day")
NIGHT = passage_of("Do not pay the toll of a barge with the overnight pass.", node_id="night")
DENYING = passage_of("The overnight pass does not cover the toll of a barge.", node_id="night")
CLAIM = claim_of("On Form 9999, the overnight pass covers the toll of a barge.")


def _relate(*similarities: float, rival: Passage = NIGHT) -> dict[str, tuple[float, float, float]]:
    reader = PassageReader(LANGUAGE, {"i9999--2031": ("9999",)})
    rows = add_similarity(CLAIM, [compare(CLAIM, own, reader=reader) for own in (DAY, rival)], reader=reader)
    given = dict(zip(("day", "night"), similarities, strict=True))
    related = relate(CLAIM, [replace(row, similarity=given[row.passage.node_id]) for row in rows])
    return {row.passage.node_id: (row.found_elsewhere, row.rivalry, row.behind) for row in related}


def test_a_word_that_another_near_passage_has_counts_against_one_without_it() -> None:
    day, night = (_relate(0.8, 0.7)[name] for name in ("day", "night"))
    assert day[0] == pytest.approx(3.0 / sum(CLAIM.weights.values()))  # `overnight` of the weights of all words
    assert night[0] > 0.0  # `covers`
    assert _relate(0.8, 0.2)["day"][0] == 0.0  # too far from the claim to mean what it means


def test_a_nearer_passage_that_denies_counts_as_a_rival() -> None:
    near, far = _relate(0.5, 0.9)["day"][1], _relate(0.9, 0.5)["day"][1]
    assert near > far
    assert _relate(0.5, 0.9)["night"][1] == -0.5  # the other one denies nothing


def test_the_distance_to_the_most_similar_passage_is_kept() -> None:
    assert _relate(0.5, 0.9)["day"][2] == pytest.approx(0.9 - 0.5)
    assert _relate(0.5, 0.9)["night"][2] == 0.0


def test_coordinated_denials_of_a_nearer_passage_count_as_a_rival() -> None:
    never = passage_of("The overnight pass does not, and never did, cover the toll of a barge.", node_id="night")
    assert _relate(0.5, 0.9, rival=never)["day"][1] == _relate(0.5, 0.9, rival=DENYING)["day"][1] > -0.5
