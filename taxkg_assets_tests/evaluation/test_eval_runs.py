"""Runs are what the systems said, in their order, to a fixed depth."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.evaluation.eval_runs import Ranking, build_eval_runs
from taxkg_assets.rules.floors import LOCATED
from taxkg_assets.schemas import EvalQueries
from taxkg_assets_tests.evaluation.corpus import BOOK, FORM, RENT, queries, question

QUERIED = queries(question("a", (FORM, RENT)), question("b", (FORM, RENT)), question("c", ("gone", RENT)))


def rows_of(count: int) -> list[dict[str, Any]]:
    return [{"document": BOOK, "page": 1, "text": f"text {n}", "score": 1 / (n + 1)} for n in range(count)]


def test_every_system_answers_every_resolved_question() -> None:
    frame = build_eval_runs(QUERIED, {"dense": lambda query: rows_of(2), "bm25": lambda query: rows_of(1)})
    assert frame.select("system", "query_id", "rank").rows() == [
        ("bm25", "a", 1),
        ("bm25", "b", 1),
        ("dense", "a", 1),
        ("dense", "a", 2),
        ("dense", "b", 1),
        ("dense", "b", 2),
    ]


def test_rankings_are_cut_at_fifty() -> None:
    assert build_eval_runs(QUERIED, {"x": lambda query: rows_of(70)})["rank"].max() == 50


def test_silence_leaves_a_row() -> None:
    frame = build_eval_runs(QUERIED, {"x": lambda query: Ranking(results=[], is_abstained=True, confidence=0.2)})
    assert frame.select("rank", "is_abstained", "confidence").rows() == [(0, True, 0.2)] * 2


def test_components_are_left_out_only_where_questions_were_written_for_the_documents() -> None:
    own, located = ({"query_set": pl.lit(name)} for name in ("bundled", f"bundled{LOCATED}"))
    queried = QUERIED.with_columns(**own), QUERIED.with_columns(**located)
    systems = {"full": lambda query: rows_of(1), "without cells": lambda query: rows_of(1)}
    frame = build_eval_runs(EvalQueries.validate(pl.concat(queried)), systems, ablated_systems={"without cells"})
    ran = frame.select("query_set", "system").unique().sort(pl.all()).rows()
    assert ran == [("bundled", "full"), ("bundled", "without cells"), ("bundled (located)", "full")]


def test_a_result_without_text_is_refused() -> None:
    with pytest.raises(ValueError, match="without document or text"):
        build_eval_runs(QUERIED, {"x": lambda query: [{"document": BOOK}]})
