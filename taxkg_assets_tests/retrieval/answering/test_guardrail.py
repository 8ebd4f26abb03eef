"""Relevance falls where a question names a form, an edition or a year that the corpus does not hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.answer_kind import find_evidence, find_kind
from taxkg_assets.retrieval.answering.guardrail import (
    grade_confidence,
    read_confidence,
    score_confidence,
    score_relevance,
)
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Candidate, Ranking


def _grade(searcher: Searcher, question: str) -> float:
    ranking = searcher.rank(question)
    kind, signals = find_kind(searcher, question, ranking, results=searcher.assemble(ranking, k=5))
    return guardrail.score_kind(kind, signals)


@pytest.mark.parametrize(
    "lacking",
    [
        "box 1a of Form 1042-S, harbour rent",
        "box 1a of Form IT-201, harbour rent",
        "harbour rent in box 1a in 1994",
        "box 9c of Form 2077-ZED, harbour rent",
        "should I buy harbour rent in box 1a of Form 2077-ZED",
        "did my employer already send box 1a of Form 2077-ZED with the harbour rent",
    ],
)
def test_what_the_corpus_lacks_lowers_the_grade(searcher: Searcher, lacking: str) -> None:
    known, unknown = (
        read_confidence(_grade(searcher, question)) for question in ("box 1a of Form 2077-ZED, harbour rent", lacking)
    )
    assert unknown / (1 - unknown) < 0.5 * known / (1 - known), "the odds are halved, however sure the answer was"


def _find(searcher: Searcher, question: str) -> dict[str, float]:
    return _find_of(searcher, searcher.rank(question), question=question)


def _find_of(searcher: Searcher, ranking: Ranking, *, question: str = "harbour rent") -> dict[str, float]:
    return find_evidence(searcher, question, ranking, results=searcher.assemble(ranking, k=5))


def test_a_form_that_the_passages_mention_counts_less_against_an_answer(searcher: Searcher) -> None:
    assert _find(searcher, "harbour rent and Schedule Q")["unmentioned_form"] == 1.0
    assert _find(searcher, "harbour rent")["unmentioned_form"] == 0.0


def test_to_name_a_form_is_distinguished_from_what_the_words_say(searcher: Searcher) -> None:
    plain, named = (_find(searcher, f"harbour rent{form}") for form in ("", " of Form 2077-ZED"))
    assert plain["rank_score_from_filters"] == 0.0 < named["rank_score_from_filters"]
    assert named["rank_score_residual"] == pytest.approx(plain["rank_score_residual"], abs=0.2)


def test_years_before_the_first_edition_are_missing(searcher: Searcher) -> None:
    assert _find(searcher, "2077-ZED of 1994, harbour rent")["missing_edition"] == 1.0
    assert _find(searcher, "2077-ZED of 2030, harbour rent")["missing_edition"] == 0.0


def test_a_number_or_a_name_is_requested_by_its_words(searcher: Searcher) -> None:
    assert _find(searcher, "how many boats pay harbour rent")["single_fact"] == 1.0
    assert _find(searcher, "how much harbour rent is taxed")["single_fact"] == 0.0


def test_more_words_contained_in_one_passage_count_for_an_answer(searcher: Searcher) -> None:
    little, much, none = (
        _find(searcher, question)["max_term_overlap"] for question in ("harbour zzz", "harbour rent zzz", "zzz qqq")
    )
    assert 0.0 == none < little < much <= 1.0


def test_a_short_question_full_overlap_says_all_it_can(searcher: Searcher) -> None:
    whole, part = (_find(searcher, question)["max_term_overlap"] for question in ("harbour rent", "harbour rent zzz"))
    assert whole == 0.5 > part > 0.0


def test_words_that_stand_far_apart_are_not_full_overlap(searcher: Searcher) -> None:
    ranking = searcher.rank("harbour rent")
    first, second = ranking.query_term_idf

    def hold(row: list[str]) -> float:
        results = searcher.assemble(ranking, k=5)
        return guardrail.compute_features(
            "harbour rent",
            ranking,
            results=results,
            facts=searcher.facts,
            catalog=searcher.catalog,
            passage_terms=[],
            candidate_terms=[row],
        )["max_term_overlap"]

    assert hold([first, "quay", second]) == 0.5 > hold([first, *["quay"] * 20, second]) > 0.0


def test_first_passages_of_many_documents_are_scattered(searcher: Searcher) -> None:
    def count(candidates: tuple[Candidate, ...]) -> float:
        return _find_of(searcher, replace(ranking, candidates=candidates))["document_spread"]

    ranking = searcher.rank("harbour rent in box 1a")
    by_document = {int(searcher.facts.number_by_row[found.row]): found for found in ranking.candidates}
    assert len(by_document) > 1
    assert count(tuple(by_document.values())) == 1.0
    assert count(ranking.candidates[:1] * 3) == 0.0


def test_passages_that_share_more_than_the_question_are_alike(searcher: Searcher) -> None:
    ranking = searcher.rank("harbour rent in box 1a")
    same, different = ranking.candidates[:1] * 3, ranking.candidates
    found = [_find_of(searcher, replace(ranking, candidates=own))["cohesion"] for own in (same, different)]
    assert found[1] < found[0] == 1.0


def test_no_passage_means_no_relevance() -> None:
    assert score_relevance({}, documents=5) == 0.0


def test_grades_lie_between_0_and_10(searcher: Searcher) -> None:
    grades = [_grade(searcher, question) for question in ("box 1a 2077-ZED harbour rent", "zzz", "Form 1042-S in 1900")]
    assert all(0 <= grade <= 10 for grade in grades)


@pytest.mark.parametrize(("kind", "bounds"), [("passages", (0.562 / 1.562, 1.685 / 2.685)), ("cell", (0.25, 0.5))])
def test_relevance_7_and_8_are_where_guidance_and_answers_begin_to_pay(kind: str, bounds: tuple[float, float]) -> None:
    """A wrong answer costs what a right one is worth, and a wrong quote more; guidance that does not help a third."""
    assert [grade_confidence(bound, kind) for bound in bounds] == [pytest.approx(7.0, abs=1e-3), pytest.approx(8.0)]
    assert grade_confidence(0.1, kind) < 7.0 < 8.0 < grade_confidence(0.9, kind)


@pytest.mark.parametrize("confidence", [0.0, 0.01, 0.25, 0.6, 0.99, 1.0])
def test_a_grade_states_its_probability(confidence: float) -> None:
    assert read_confidence(grade_confidence(confidence)) == pytest.approx(confidence)


def test_a_first_passage_far_ahead_makes_surer(searcher: Searcher) -> None:
    found = _find(searcher, "harbour rent in box 1a")
    near, far = (score_confidence({**found, "gap": gap}, documents=5) for gap in (0.0, 1.0))
    assert 0.0 < near < far < 1.0


def test_a_lead_counts_only_where_the_evidence_supports_an_answer(searcher: Searcher) -> None:
    found = {**_find(searcher, "box 1a of Form 1042-S in 1994"), "gap": 1.0}
    against = guardrail.find_signals({**found, "cosine": 0.0, "max_term_overlap": 0.0}, documents=5)
    assert against["evidence"] < -0.5
    assert against["gap"] == 0.0
    kept = guardrail.find_signals({**_find(searcher, "box 1a of Form 2077-ZED, harbour rent"), "gap": 1.0}, documents=5)
    assert kept["gap"] > 0.0


def test_among_many_documents_the_same_evidence_says_less(searcher: Searcher) -> None:
    found = _find(searcher, "harbour rent in box 1a")
    few, many = (score_confidence(found, documents=count) for count in (5, 500))
    assert many < few


@pytest.mark.parametrize("kind", [guardrail.CELL, guardrail.CHANGES, guardrail.DOCUMENTS, guardrail.SUMMARY])
def test_every_kind_of_answer_states_a_fitted_probability(kind: str) -> None:
    signals = {"evidence": 1.0, "coverage": 1.0}
    assert 0.0 < read_confidence(guardrail.score_kind(kind, signals)) < 1.0


@pytest.mark.parametrize("kind", [guardrail.CELL, guardrail.DOCUMENTS])
def test_more_words_of_the_question_make_a_cell_or_a_list_surer(kind: str) -> None:
    few, many = (guardrail.score_kind(kind, {"evidence": 1.0, "coverage": share}) for share in (0.1, 0.9))
    assert few < many


@pytest.mark.parametrize(
    ("question", "texts", "is_shared"),
    [
        ("Where are 2b fees reported?", ["Fees go in box 2b."], True),
        ("Où déclarer les frais de la case 2b ?", ["Fees go in box 2b."], True),
        ("表格9999第2b栏是什么", ["Form 9999 box 2b"], False),
        ("表格9999第2b栏是什么", ["表格9999", "第2b栏是什么意思"], True),
        ("2b", [], True),
    ],
)
def test_a_question_in_a_script_that_no_passage_prints_has_no_answer(
    question: str, texts: list[str], *, is_shared: bool
) -> None:
    assert guardrail.shares_script(question, texts) == is_shared
