"""Runs are what the systems said, in their order, to a fixed depth."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.evaluation.eval_runs import Ranking, build_eval_runs
from taxkg_assets_tests.evaluation.corpus import BOOK, FORM, RENT, queries, question

ASKED = queries(question("a", (FORM, RENT)), question("b", (FORM, RENT)), question("c", ("gone", RENT)))


def rows_of(count: int) -> list[dict[str, Any]]:
    return [{"document": BOOK, "page": 1, "text": f"text {n}", "score": 1 / (n + 1)} for n in range(count)]


def test_every_system_answers_every_resolved_question() -> None:
    frame = build_eval_runs(ASKED, {"dense": lambda query: rows_of(2), "bm25": lambda query: rows_of(1)})
    assert frame.select("system", "query_id", "rank").rows() == [
        ("bm25", "a", 1),
        ("bm25", "b", 1),
        ("dense", "a", 1),
        ("dense", "a", 2),
        ("dense", "b", 1),
        ("dense", "b", 2),
    ]


def test_rankings_are_cut_at_fifty() -> None:
    assert build_eval_runs(ASKED, {"x": lambda query: rows_of(70)})["rank"].max() == 50


def test_silence_leaves_a_row() -> None:
    frame = build_eval_runs(ASKED, {"x": lambda query: Ranking(results=[], is_abstained=True, confidence=0.2)})
    assert frame.select("rank", "is_abstained", "confidence").rows() == [(0, True, 0.2)] * 2


def test_a_result_without_text_is_refused() -> None:
    with pytest.raises(ValueError, match="without document or text"):
        build_eval_runs(ASKED, {"x": lambda query: [{"document": BOOK}]})
