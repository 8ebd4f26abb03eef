"""Questions are made from tables, and each kind of answer is fitted, also where all or none are right."""

from __future__ import annotations

import polars as pl
import pytest

from benchmarks.answer_kinds import KindOutcome, fit_kind, make_questions, score_fitted
from benchmarks.confidence import describe_pairs
from taxkg_assets.retrieval.answering import guardrail

FAMILIES = {"z--2030": "z", "z--2031": "z"}


def _outcome(coverage: float, *, is_right: bool) -> KindOutcome:
    return KindOutcome(guardrail.DOCUMENTS, "z", {"coverage": coverage}, is_right)


@pytest.mark.slow
def test_a_fit_grows_with_its_signal() -> None:
    outcomes = [_outcome(share, is_right=share > 0.5) for share in (0.1, 0.2, 0.3, 0.8, 0.9, 1.0)]
    weights = fit_kind(outcomes)
    assert score_fitted(weights, outcomes[0]) < 0.5 < score_fitted(weights, outcomes[-1])


@pytest.mark.parametrize(("is_right", "expected"), [(True, 4 / 5), (False, 1 / 5)])
def test_one_sort_of_outcome_gives_its_share(is_right: bool, expected: float) -> None:
    outcomes = [_outcome(1.0, is_right=is_right)] * 3
    assert score_fitted(fit_kind(outcomes), outcomes[0]) == pytest.approx(expected)


def test_no_questions_give_no_figures() -> None:
    found = describe_pairs([])
    assert (found["questions"], found["right"], found["calibration_error"]) == (0, None, None)


def test_questions_are_made_from_each_table() -> None:
    cell = {"row_ix": 0, "col_ix": 0, "row_path": "berth", "col_path": "A foot", "text": "$30"}
    tables = {
        "documents": pl.DataFrame({"form": ["2077-ZED"], "document_id": ["z--2031"]}),
        "anchors": pl.DataFrame(
            {"document_id": ["z--2031"], "kind": ["section"], "key": [None], "heading": ["Harbour rent of boats"]},
            schema_overrides={"key": pl.String},
        ),
        "tables": pl.DataFrame(
            {"title": ["Duties"], "has_headers": [True], "document_id": ["z--2031"], "cells": [[cell]]}
        ),
        "revisions": pl.DataFrame(
            {
                "is_routine": [False],
                "kind": ["text changed"],
                "key": ["box_1a"],
                "heading_path": ["Box 1a"],
                "before": ["Enter rent."],
                "after": ["Enter all rent."],
                "form": ["2077-ZED"],
                "from_revision": ["2030"],
                "to_revision": ["2031"],
                "to_document_id": ["z--2031"],
            }
        ),
    }
    made = make_questions(tables, FAMILIES, lacking=["who owns the moon"])
    queried = {own.query for own in made}
    assert "What is Form 2077-ZED about?" in queried
    assert "Which documents discuss Harbour rent of boats?" in queried
    assert "What changed in box 1a of Form 2077-ZED between 2030 and 2031?" in queried
    assert "Duties: how much is A foot for berth?" in queried
    assert {own.kind for own in made} == {
        guardrail.CELL,
        guardrail.CHANGES,
        guardrail.DOCUMENTS,
        guardrail.SUMMARY,
    }
