"""The answer report states metrics by kind with intervals, and whether the stated confidence is right."""

from __future__ import annotations

import pytest

from taxkg_assets.evaluation.answer_metrics import Reply
from taxkg_assets.evaluation.answer_report import render_answers, score_replies
from taxkg_assets_tests.evaluation.corpus import BOOK, FEE, FORM, RENT, documents, queries, question

QUERIED = queries(
    question("a", (FORM, RENT)),
    question("b", (BOOK, RENT), type="procedural"),
    question("c", ("gone--2020", FEE)),
    question("d", type="unanswerable"),
)
(SET,) = QUERIED["query_set"].unique().to_list()
REPLIES = {
    SET: {
        "a": Reply(f"{RENT} [1]", confidence=0.8, is_abstained=False),
        "b": Reply("Nothing of that kind.", confidence=0.3, is_abstained=False),
        "d": Reply(None, confidence=0.1, is_abstained=True),
    }
}


def test_figures_by_kind_have_the_shape_of_a_report() -> None:
    figures = score_replies(QUERIED, REPLIES, documents())
    found = {(row["slice"], row["metric"]): (row["value"], row["n"]) for row in figures.iter_rows(named=True)}
    assert found["all", "contains_needed"] == (0.5, 2)
    assert found["procedural", "contains_needed"] == (0.0, 1)
    assert found["unanswerable", "abstains_on_unanswerable"] == (1.0, 1)
    assert {"system", "query_set", "slice", "metric", "value", "low", "high", "n"} <= set(figures.columns)


@pytest.mark.parametrize("reported", ["Reliability", "Risk by coverage", "abstains on unanswerable", "0.800"])
def test_the_page_states_reliability_and_risk(reported: str) -> None:
    pages = render_answers(QUERIED, REPLIES, score_replies(QUERIED, REPLIES, documents()), title="Answer report")
    assert reported in pages.markdown
    assert reported in pages.html


def test_questions_that_do_not_resolve_give_no_figures() -> None:
    lost = QUERIED.filter(~QUERIED["is_resolved"])
    figures = score_replies(lost, {}, documents())
    assert figures.is_empty()
    assert figures.schema == score_replies(QUERIED, REPLIES, documents()).schema
    assert "Answer report" in render_answers(lost, {}, figures, title="Answer report").markdown


def test_silence_alone_has_no_reliability() -> None:
    silent = {SET: {name: Reply(None, confidence=0.1, is_abstained=True) for name in REPLIES[SET]}}
    pages = render_answers(QUERIED, silent, score_replies(QUERIED, silent, documents()), title="Answer report")
    assert "Reliability" not in pages.markdown
