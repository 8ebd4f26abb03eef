"""What supports a passage besides the two retrievers, worked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from taxkg_assets.retrieval.index.bm25 import build_lexical
from taxkg_assets.retrieval.index.document_facts import DocumentFacts
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.signals import Signals, find_contained_terms
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.rerank import compute_features, score_overlap
from taxkg_assets.retrieval.ranking.search import Searcher

ROW: dict[str, Any] = {
    "form": "2077-ZED",
    "anchor_key": "box_1a",
    "anchor_id": "anchor",
    "perspective": "recipient",
    "level": "paragraph",
    "text": "word " * 40,
    "terms": "word harbour rent",
    "heading_path": "Form 2077-ZED > Box 1a. Rent",
    "node_ids": ["node"],
    "chunk_id": "paragraph:node",
    "page": 1,
    "document_id": "f2077zed--2031",
    "irs_name": "f2077zed",
    "tags": ["rent"],
    "entities": ["box 1a"],
}


def make_signals(
    facts: PassageFacts,
    *terms: str,
    posted: Sequence[Sequence[str]],
    printed: Mapping[str, frozenset[str]] | None = None,
    share: float = 1.0,
) -> Signals:
    """Signals of all rows with one score, read as a search reads them."""
    rows = np.arange(len(posted))
    scores, lexical = np.full(len(rows), share), build_lexical(posted)
    contained = lexical.find_containing_rows(list(terms), rows)
    columns = {name: list(facts.columns[name]) for name in ("heading_path", "terms", "anchor_key", "text")}
    return Signals(
        rows=rows,
        lexical=scores,
        vector=scores,
        fused=scores,
        document_features={},
        document_number=np.zeros(len(rows), dtype=np.int64),
        section_similarity=scores,
        token_similarity=scores,
        contained=contained,
        contained_or_synonym=find_contained_terms(contained, rows, terms, printed or {}, lexical),
        headings=columns["heading_path"],
        terms=columns["terms"],
        keys=columns["anchor_key"],
        texts=columns["text"],
        labels=facts.read_labels(rows),
    )


def _features(changes: dict[str, Any], route: Route) -> dict[str, float]:
    facts = PassageFacts(pl.DataFrame([{**ROW, **changes}]))
    posted = [facts.columns["terms"][0].split(" ")]
    found = compute_features(
        make_signals(facts, "harbour", "dues", posted=posted, share=0.0),
        route,
        term_idf={"harbour": 2.0, "dues": 2.0},
        question_terms=["harbour", "rent"],
        facts=facts,
    )
    return {name: float(values[0]) for name, values in found.items()}


@pytest.mark.parametrize(
    ("changes", "route", "feature", "value"),
    [
        ({}, Route(forms=("2077-ZED",)), "form", 1.0),
        ({"form": "2077-ZED and 2078"}, Route(forms=("2078",)), "form", 1.0),
        ({"form": "3000-Q"}, Route(forms=("2077-ZED",)), "form", -1.0),
        ({"form": "Pub. 9"}, Route(forms=("2077-ZED",)), "form", -0.4),
        ({"form": "3000-Q"}, Route(), "form", 0.0),
        ({}, Route(keys=("box_1a",)), "key", 1.0),
        ({}, Route(keys=("box_1a",)), "key_of_form", 0.0),
        ({}, Route(keys=("box_1a",), forms=("2077-ZED",)), "key_of_form", 1.0),
        ({"text": "Q—Quay dues"}, Route(keys=("code_Q",)), "key", 1.0),
        ({"text": "Quay dues"}, Route(keys=("code_Q",)), "key", 0.0),
        ({}, Route(keys=("box_1a", "code_Q")), "key", 0.5),
        ({"text": "Q—Quay dues"}, Route(keys=("box_1a", "code_Q")), "key", 1.0),
        ({}, Route(keys=("box_1a",)), "key_opening", 1.0),
        ({}, Route(keys=("box_1b",)), "other_key", 1.0),
        ({"anchor_key": None}, Route(keys=("box_1b",)), "other_key", 0.0),
        ({"perspective": "publication"}, Route(perspective="filer", certainty=1.0), "general", 1.0),
        ({"text": "Box 1a."}, Route(), "short", 1.0),
        ({"perspective": "face"}, Route(), "face", 1.0),
        ({"level": "table"}, Route(wants_amount=True), "amount_table", 1.0),
        ({}, Route(), "coverage", 2.0 / (2.0 + 2.0)),
        ({"terms": "harbourside inharbour dues"}, Route(), "coverage", 2.0 / (2.0 + 2.0)),
        ({"tags": ["harbour"]}, Route(), "tagged", 0.5),
        ({"entities": ["Harbour Board"]}, Route(), "tagged", 0.5),
        ({}, Route(), "tagged", 0.0),
        ({}, Route(), "phrase", 1.0),
        ({"terms": "rent harbour"}, Route(), "phrase", 0.0),
        ({"text": "Example 2. A harbour."}, Route(), "example", 1.0),
    ],
)
def test_feature_of_a_passage(changes: dict[str, Any], route: Route, feature: str, value: float) -> None:
    assert _features(changes, route)[feature] == value


@pytest.mark.parametrize(
    ("others", "same_audience", "opposite_audience"),
    [((), 0.0, 0.0), (("filer",), 0.0, 0.8), (("filer", "publication"), 0.0, 0.8)],
)
def test_the_reader_counts_only_for_a_form_with_two_readers(
    others: tuple[str, ...], same_audience: float, opposite_audience: float
) -> None:
    rows = [{**ROW, "perspective": "recipient"}, *({**ROW, "perspective": name} for name in others)]
    facts = PassageFacts(pl.DataFrame(rows))
    found = compute_features(
        make_signals(facts, posted=[["berth"]] * len(rows)),
        Route(perspective="filer", certainty=0.8),
        term_idf={},
        question_terms=[],
        facts=facts,
    )
    assert (found["same_audience"][0], found["opposite_audience"][0]) == (same_audience, opposite_audience)


def test_text_of_many_families_is_boilerplate() -> None:
    rows = [{**ROW, "irs_name": name, "text": f"Do not print this 1099-{name}."} for name in ("fa", "fb", "fc")]
    facts = PassageFacts(pl.DataFrame([*rows, {**ROW, "text": "Only here."}]))
    assert facts.is_boilerplate.tolist() == [1.0, 1.0, 1.0, 0.0]


def test_tokens_count_only_where_no_box_is_named() -> None:
    facts = PassageFacts(pl.DataFrame([ROW]))
    signals = make_signals(facts, posted=[["berth"]])
    for route, matched in ((Route(), 1.0), (Route(keys=("box_2",)), 0.0)):
        found = compute_features(signals, route, term_idf={}, question_terms=[], facts=facts)
        assert found["token_match"].tolist() == [matched]


def test_a_passage_with_the_printed_word_contains_the_everyday_one() -> None:
    facts, printed = PassageFacts(pl.DataFrame([ROW, ROW])), {"boss": frozenset({"employer", "payer"})}
    found = compute_features(
        make_signals(facts, "boss", "pier", posted=[["employer", "berth"], ["pier"]], printed=printed),
        Route(),
        term_idf={"boss": 3.0, "pier": 1.0},
        question_terms=["boss", "pier"],
        facts=facts,
    )
    assert found["coverage"].tolist() == [3 / (3 + 1), 1 / (3 + 1)]


def test_only_the_first_row_under_a_heading_opens_it() -> None:
    rows = [{**ROW, "anchor_id": anchor_id} for anchor_id in ("a", "a", "b")]
    assert PassageFacts(pl.DataFrame(rows)).opens_anchor.tolist() == [True, False, True]


def test_overlap_counts_terms_by_rarity() -> None:
    assert score_overlap({"berth": 3.0, "rent": 1.0}, frozenset({"berth", "duty"})) == pytest.approx(3 / (3 + 1))
    assert score_overlap({}, frozenset({"berth"})) == 0.0


def test_documents_of_another_year_are_behind_only_where_the_year_is_there(searcher: Searcher) -> None:
    names = [row["document_id"] for row in searcher.facts.documents]
    queried = dict(zip(names, searcher.facts.score_documents(Route(years=(2030,)))["year"].tolist(), strict=True))
    assert (queried["f2077zed--2030"], queried["f2077zed--2031"], queried["i2077zed--2031"]) == (1.0, -1.0, 0.0)
    silent = dict(zip(names, searcher.facts.score_documents(Route())["stale"].tolist(), strict=True))
    assert (silent["f2077zed--2030"], silent["f2077zed--2031"]) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        (Route(), 1.0),
        (Route(filers=("partnership",)), 1.0),
        (Route(filers=("estate", "partnership")), 0.0),
        (Route(forms=("9041",)), 0.0),
        (Route(forms=("9040",)), 1.0),
    ],
)
def test_a_return_of_estates_answers_questions_about_them_alone(route: Route, expected: float) -> None:
    documents = [
        {"document_id": "i9041--2031", "document_form": "9041", "title": "Form 9041 — Return for Estates and Trusts"},
        {
            "document_id": "f9040--2031",
            "document_form": "9040",
            "title": "Form 9040 — Barn Tax of Individuals and Trusts",
        },
        {"document_id": "p900--2031", "document_form": "Pub. 900", "title": "Publication 900 — Barns"},
    ]
    shared = {"irs_name": "", "doc_type": "form", "revision": "2031", "tax_year": 2031, "is_draft": False, "text": ""}
    rows = pl.DataFrame([shared | document for document in documents], schema_overrides={"tax_year": pl.Int64})
    facts = DocumentFacts(rows.with_columns(heading_path=pl.lit("")))
    found = dict(zip(facts.rows["document_id"].sort(), facts.score_documents(route)["other_filer"], strict=True))
    assert found == {"i9041--2031": expected, "f9040--2031": 0.0, "p900--2031": 0.0}


def test_a_document_belongs_to_the_place_it_names(searcher: Searcher) -> None:
    places = dict(
        zip([row["document_id"] for row in searcher.facts.documents], searcher.facts.jurisdictions, strict=True)
    )
    assert places["town-code"] == "new_york_city"
    assert places["f2077zed--2031"] == ""


@pytest.mark.parametrize(
    ("route", "score"),
    [
        (Route(), 1.0),
        (Route(filers=("farmer",)), 0.0),
        (Route(filers=("estate",)), 1.0),
        (Route(unknown_forms=("943",)), 0.0),
        (Route(keys=("line_2",)), 0.0),
        (Route(forms=("2077-ZED",)), 0.0),
    ],
)
def test_a_section_for_other_filers_is_a_special_case(route: Route, score: float) -> None:
    assert _features({"heading_path": "Booklet > Farmers"}, route)["special_case"] == score
    assert _features({"heading_path": "Booklet > Dues"}, route)["special_case"] == 0.0
