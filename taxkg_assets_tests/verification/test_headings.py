"""Headings: one without a verb supports no rule, and denials are compared with conditions and without."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.comparison import add_similarity, compare
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.values import fold
from taxkg_assets_tests.verification.words import LANGUAGE, claim_of, passage_of


@pytest.mark.parametrize(
    ("text", "heading", "keys", "is_heading"),
    [
        ("On Form 9999, a skipper should file a harbor return.", "Harbor return filed by a skipper", {"box_3"}, True),
        ("On Form 9999, a harbor return is filed by a skipper.", "Harbor return filed by a skipper", {"box_3"}, False),
        ("On Form 9999, harbor clubs report on a barge return.", "Harbor clubs", set(), True),
        ("On Form 9999, a skipper should file a harbor return.", "Skippers must file a harbor return", set(), False),
        ("On Form 9999, box 3 must show the harbor fee.", "Harbor fee", set(), False),
    ],
)
def test_a_heading_without_a_verb_meets_no_rule(text: str, heading: str, keys: set[str], is_heading: bool) -> None:
    reader = PassageReader(LANGUAGE, {})
    row = compare(claim_of(text), passage_of(heading, kind="label", keys=frozenset(keys)), reader=reader)
    assert row.is_heading == is_heading


@pytest.mark.parametrize(
    ("text", "passage", "is_turned"),
    [
        ("On Form 9999, a barge pays the toll.", "A barge pays the toll if it does not have a permit.", False),
        ("On Form 9999, a barge does not pay the toll.", "A barge pays the toll.", True),
        ("On Form 9999, a barge escapes the toll.", "A barge pays the toll.", True),
        ("On Form 9999, a late skipper is no longer a member.", "A late skipper isn’t a member.", False),
        ("Form 9999 bars a barge from the harbor.", "A barge can’t enter the harbor.", False),
    ],
)
def test_denials_are_compared_with_conditions_and_without(text: str, passage: str, is_turned: bool) -> None:
    claim, reader = claim_of(text), PassageReader(LANGUAGE, {})
    (row,) = add_similarity(claim, [compare(claim, passage_of(fold(passage)), reader=reader)], reader=reader)
    assert row.turns_whole == is_turned
