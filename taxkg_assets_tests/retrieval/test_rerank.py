"""What speaks for a passage besides the two legs, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.retrieval.rerank import score_overlap, score_rows
from taxkg_assets.retrieval.router import Route
from taxkg_assets.retrieval.search import Searcher

ROW: dict[str, Any] = {
    "form": "2077-ZED",
    "doc_type": "form",
    "anchor_key": "box_1a",
    "perspective": "recipient",
    "level": "paragraph",
    "text": "word " * 40,
}


@pytest.mark.parametrize(
    ("changes", "route", "feature", "value"),
    [
        ({}, Route(forms=("2077-ZED",)), "form", 1.0),
        ({"form": "2077-ZED and 2078"}, Route(forms=("2078",)), "form", 1.0),
        ({"form": "3000-Q"}, Route(forms=("2077-ZED",)), "form", -1.0),
        ({"form": "Pub. 9", "doc_type": "publication"}, Route(forms=("2077-ZED",)), "form", -0.4),
        ({"form": "3000-Q"}, Route(), "form", 0.0),
        ({}, Route(keys=("box_1a",)), "key", 1.0),
        ({}, Route(keys=("box_1b",)), "other_key", 1.0),
        ({"anchor_key": None}, Route(keys=("box_1b",)), "other_key", 0.0),
        ({}, Route(perspective="filer"), "perspective", -1.0),
        ({"perspective": "publication"}, Route(perspective="recipient"), "perspective", 0.5),
        ({"text": "Box 1a."}, Route(), "short", 1.0),
        ({"perspective": "face"}, Route(), "face", 1.0),
    ],
)
def test_feature_of_a_passage(changes: dict[str, Any], route: Route, feature: str, value: float) -> None:
    assert score_rows([{**ROW, **changes}], route)[feature].tolist() == [value]


def test_overlap_weighs_terms_by_rarity() -> None:
    assert score_overlap({"berth": 3.0, "rent": 1.0}, frozenset({"berth", "duty"})) == pytest.approx(3 / (3 + 1))
    assert score_overlap({}, frozenset({"berth"})) == 0.0


def test_documents_of_another_year_are_behind_only_where_the_year_is_there(searcher: Searcher) -> None:
    names = [row["document_id"] for row in searcher.facts.documents]
    asked = dict(zip(names, searcher.facts.score_documents(Route(years=(2030,)))["year"].tolist(), strict=True))
    assert (asked["f2077zed--2030"], asked["f2077zed--2031"], asked["i2077zed--2031"]) == (1.0, -1.0, 0.0)
    silent = dict(zip(names, searcher.facts.score_documents(Route())["stale"].tolist(), strict=True))
    assert (silent["f2077zed--2030"], silent["f2077zed--2031"]) == (1.0, 0.0)


def test_a_document_belongs_to_the_place_it_names(searcher: Searcher) -> None:
    places = dict(zip([row["document_id"] for row in searcher.facts.documents], searcher.facts.places, strict=True))
    assert places["town-code"] == "new_york_city"
    assert places["f2077zed--2031"] == ""
