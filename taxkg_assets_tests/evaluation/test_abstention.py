"""Risk and coverage at each bound, worked by hand on four questions."""

from __future__ import annotations

import polars as pl
import pytest

from taxkg_assets.evaluation.abstention import score_abstention
from taxkg_assets.evaluation.eval_runs import Ranking, build_eval_runs
from taxkg_assets.schemas import EvalQueries

QUOTE = "The harbour rent of a berth is due on the first day of every month of the year."


def test_silence_trades_coverage_for_risk() -> None:
    kinds = {"right": "concept", "lost": "concept", "odd": "unanswerable", "odder": "unanswerable"}
    rows = [
        {
            "query_set": "set",
            "query_id": name,
            "query": name,
            "type": kind,
            "gold": [{"document": "d", "page": 1, "quote": QUOTE, "grade": 3}] if kind == "concept" else [],
            "near_miss": [],
            "coverage": None,
            "is_resolved": True,
            "note": "",
        }
        for name, kind in kinds.items()
    ]
    queries = EvalQueries.validate(pl.DataFrame(rows, schema=EvalQueries.create_empty().schema).sort("query_id"))
    grades = {"right": 0.9, "lost": 0.8, "odd": 0.72, "odder": 0.2}
    texts = {"right": QUOTE}

    def system(question: str) -> Ranking:
        row = {"document": "d", "page": 1, "text": texts.get(question, "Nothing of the sort.")}
        return Ranking(results=[row], confidence=grades[question])

    scored = score_abstention(queries, build_eval_runs(queries, {"full": system}), system="full")
    at = {row["bound"]: row for row in scored.iter_rows(named=True)}
    assert (at[0.0]["coverage"], at[0.0]["risk"]) == (1.0, pytest.approx(3 / 4))
    assert (at[0.7]["coverage"], at[0.7]["abstained_unanswerable"]) == (3 / 4, 1 / 2)
    assert (at[0.85]["risk"], at[0.85]["abstained_answerable"]) == (0.0, 1 / 2)
    assert at[1.0]["risk"] is None
