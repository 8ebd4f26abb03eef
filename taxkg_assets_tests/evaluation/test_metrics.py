"""Every metric by hand, then against ir_measures on random plain rankings."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import ir_measures
import polars as pl
import pytest
from ir_measures import RR, R, Success, nDCG

from taxkg_assets.evaluation.metrics import (
    Result,
    build_metrics,
    find_metrics,
    render_metrics,
    score_ndcg,
    score_query,
    score_recall,
    score_reciprocal_rank,
    score_runs,
)
from taxkg_assets.schemas import Chunks, EvalReport
from taxkg_assets_tests.evaluation.corpus import BOOK, DEPOSIT, FEE, FORM, LAW, RENT, queries, question, runs

NOISE = "Nothing on this page has to do with what was asked; it speaks of ships and of harbours only."


def scores(results: list[Result], **overrides: Any) -> dict[str, float | None]:
    queried = question("q", (FORM, RENT), (BOOK, DEPOSIT), **overrides)
    return score_query(queried, results, is_abstained=False)


def test_hand_worked_ranking_with_two_passages() -> None:
    ranking = [Result(LAW, FEE), Result(FORM, RENT), Result(FORM, DEPOSIT), Result(BOOK, DEPOSIT)]
    found = scores(ranking)
    assert found["mrr"] == pytest.approx(1 / 2)
    assert found["recall@5"] == pytest.approx(2 / 2)
    assert found["hit@1"] == 0
    assert found["wrong_document@1"] == 1
    gain = 3 / math.log2(1 + 2) + 3 / math.log2(1 + 4)
    assert found["ndcg@10"] == pytest.approx(gain / (3 / math.log2(2) + 3 / math.log2(3)))
    assert found["multi_hop_coverage"] == 1


def test_passages_of_grade_one_are_not_required_but_gain() -> None:
    queried = question("q", (FORM, RENT), (BOOK, DEPOSIT))
    queried["gold"][1]["grade"] = 1
    found = score_query(queried, [Result(FORM, RENT)], is_abstained=False)
    assert found["recall@5"] == 1 / 1
    assert "multi_hop_coverage" not in found
    assert found["ndcg@10"] == pytest.approx(3 / (3 + 1 / math.log2(3)))


def test_coverage_threshold_decides_a_multi_hop_question() -> None:
    assert scores([Result(FORM, RENT)])["multi_hop_coverage"] == 0
    assert scores([Result(FORM, RENT)], coverage=0.5)["multi_hop_coverage"] == 1


def test_rank_measures_see_500_tokens_and_the_budget_sees_2000() -> None:
    late = f"{'word ' * 400}{RENT}"  # 400 * 1.3 = 520 tokens before the quote
    found = scores([Result(FORM, late)])
    assert found["mrr"] == 0
    assert found["recall@2000tok"] == 1 / 2
    flooded = scores([Result(LAW, "word " * 1600), Result(FORM, RENT)])  # 1600 * 1.3 = 2080 tokens
    assert flooded["mrr"] == 1 / 2
    assert flooded["recall@2000tok"] == 0


def test_near_miss_counts_only_where_no_gold_is_first() -> None:
    tempting = [{"document": BOOK, "page": 1, "quote": FEE, "why": "other law"}]
    assert scores([Result(BOOK, FEE)], near_miss=tempting)["near_miss@1"] == 1
    assert scores([Result(LAW, FEE)], near_miss=tempting)["near_miss@1"] == 0
    assert scores([Result(BOOK, f"{DEPOSIT} {FEE}")], near_miss=tempting)["near_miss@1"] == 0
    assert scores([], near_miss=tempting)["near_miss@1"] is None


def test_abstention_is_counted_apart_for_what_has_an_answer() -> None:
    silent = question("q", type="unanswerable")
    assert score_query(silent, [], is_abstained=True) == {"abstain_on_unanswerable": 1.0}
    assert find_metrics(silent) == ("abstain_on_unanswerable",)
    assert scores([])["abstain_on_answerable"] == 0


def test_unresolved_questions_stay_as_rows_without_value() -> None:
    queried = queries(question("a", (FORM, RENT)), question("b", ("gone--2020", RENT)))
    frame = score_runs(queried, runs(("bm25", "a", 1, FORM, RENT)))
    recall = frame.filter(metric="recall@5").sort("query_id")
    assert recall["query_id"].to_list() == ["a", "b"]
    assert recall["value"].to_list() == [1.0, None]


def test_a_question_that_a_system_was_not_queried_counts_as_missed() -> None:
    queried = queries(question("a", (FORM, RENT)), question("b", (FORM, RENT)))
    frame = score_runs(queried, runs(("bm25", "a", 1, FORM, RENT)))
    assert frame.filter(metric="mrr")["value"].to_list() == [1.0, 0.0]


@pytest.mark.parametrize("seed", range(20))
def test_plain_rankings_agree_with_ir_measures(seed: int) -> None:
    draw = random.Random(seed)
    names = [f"d{n:02}" for n in range(30)]
    grades = {name: draw.choice([1, 2, 3]) for name in draw.sample(names, draw.randint(1, 12))}
    ranking = draw.sample(names, draw.randint(1, 20))
    ranks = [ranking.index(name) + 1 if name in ranking else None for name in grades]
    qrels = [ir_measures.Qrel("q", name, grade) for name, grade in grades.items()]
    run = [ir_measures.ScoredDoc("q", name, float(-rank)) for rank, name in enumerate(ranking)]
    oracle = ir_measures.calc_aggregate([nDCG @ 10, RR, R @ 5, Success @ 1], qrels, run)
    assert score_ndcg(ranks, list(grades.values())) == pytest.approx(oracle[nDCG @ 10])
    assert score_reciprocal_rank(ranks) == pytest.approx(oracle[RR])
    assert score_recall(ranks, 5) == pytest.approx(oracle[R @ 5])
    assert float(1 in ranks) == pytest.approx(oracle[Success @ 1])


def test_results_that_hold_nothing_earn_nothing() -> None:
    found = scores([Result(FORM, NOISE)] * 3)
    assert [found[name] for name in ("recall@5", "recall@2000tok", "mrr", "ndcg@10")] == [0, 0, 0, 0]
    assert found["wrong_document@1"] == 0


# ------------------------------------------------------------------------------------------- the whole pipeline


def _chunk(number: int, status: str = "accepted", created_by: str = "rule", **columns: Any) -> dict[str, Any]:
    made = {"chunk_id": f"c{number}", "document_id": "d", "token_count": 100, "quality": 0.8, "refinements": 2}
    return {**made, "status": status, "created_by": created_by, "boundary_confidence": 0.5, **columns}


def test_figures_of_a_pipeline_by_hand() -> None:
    chunks = [
        _chunk(1),
        _chunk(2),
        _chunk(3, "refine"),
        _chunk(4, created_by="structural", token_count=40, refinements=0),
    ]
    shown = {"system": "full", "query_set": "set", "slice": "all", "n": 8, "n_dropped": 0}
    report = [{**shown, "metric": "relevance@3", "value": 0.75}, {**shown, "metric": "sufficiency@3", "value": 0.5}]
    began = datetime(2031, 5, 1, tzinfo=UTC)
    times = {"parse": (began, began + timedelta(seconds=4)), "index": (began, began + timedelta(seconds=2))}
    found = build_metrics(
        Chunks.sample(overrides=chunks), EvalReport.sample(overrides=report), times={**times, "release": (began, began)}
    )
    figures = {(row["metric"], row["slice"]): row for row in found.iter_rows(named=True)}
    assert figures["chunks", "all"]["value"] == 3
    assert figures["average tokens", "all"]["value"] == (100 + 100 + 40) / 3
    assert figures["semantic accept", "all"]["value"] == figures["semantic accept", "d"]["value"] == 2 / 3
    assert figures["boundary confidence", "all"]["value"] == 0.5
    assert figures["forced refinements", "all"]["value"] == 1
    assert (figures["sufficiency@3", "set"]["value"], figures["sufficiency@3", "set"]["k"]) == (0.5, 3)
    total = figures["time: total", "all"]
    assert total["ended_at"] - total["began_at"] == timedelta(seconds=6)
    assert ("time: release", "all") not in figures
    reported = {row[0]: row[2:4] for row in render_metrics(found).filter(pl.col("slice") != "d").iter_rows()}
    assert reported["relevance@3"] == ("75.0%", "K = 3")
    assert reported["time: parse"] == ("4.0 s", "")
