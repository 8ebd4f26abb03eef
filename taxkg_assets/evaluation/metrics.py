"""Ranking metrics of one question, of whole runs, and figures of a pipeline.

Recall within a token budget and multi-hop coverage count the text that a language model would be shown; metrics by rank
read the first 500 tokens of each result. Means, intervals and tests over questions are in `eval_report`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypedDict

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.matching import count_tokens, cut_to_tokens, is_quoted
from taxkg_assets.records import EvalQueryRecord, GoldPassageRecord, NearMissRecord, iter_records
from taxkg_assets.rules.models.matching import load_matching
from taxkg_assets.rules.models.semantic import load_semantic
from taxkg_assets.schemas import Chunks, EvalQueries, EvalReport, EvalRuns, Metrics

METRICS = (
    "recall@5",
    "relevance@3",
    "sufficiency@3",
    "recall@2000tok",
    "mrr",
    "hit@1",
    "ndcg@10",
    "multi_hop_coverage",
    "near_miss@1",
    "wrong_document@1",
    "abstain_on_unanswerable",
    "abstain_on_answerable",
)
LOWER_IS_BETTER = frozenset({"near_miss@1", "wrong_document@1", "abstain_on_answerable"})
RANK_CUTOFF = 5
"""Last rank that recall counts."""
SHOWN = 3
"""Last rank that relevance and sufficiency count."""
TOKEN_BUDGET = 2000
"""Tokens of results that fit in the prompt of a language model."""
NDCG_CUTOFF = 10
"""Last rank that nDCG counts."""


class Labeled(TypedDict):
    """The labels of a question that every metric reads."""

    type: str
    gold: list[GoldPassageRecord]


@dataclass(frozen=True, slots=True)
class Result:
    """The columns of a result that metrics read."""

    document_id: str
    text: str


@dataclass(frozen=True, slots=True)
class GoldRanks:
    """First rank of each gold passage in a ranking, None for none, and whether it is within the token budget."""

    ranks: tuple[int | None, ...]
    is_in_budget: tuple[bool, ...]


def find_required(query: Labeled) -> list[GoldPassageRecord]:
    """Return the gold passages that an answer requires: those of grade 2 or 3, or all if there are none.

    Args:
        query: The question.
    """
    gold = list(query["gold"])
    return [passage for passage in gold if passage["grade"] >= 2] or gold


def find_passages(
    passages: Sequence[GoldPassageRecord | NearMissRecord], results: Sequence[Result], *, is_row: bool, budget: int
) -> GoldRanks:
    """Find gold passages in a ranking.

    Args:
        passages: Gold passages, or near misses.
        results: Results, best first.
        is_row: Whether the quotes are table rows.
        budget: Tokens of the first results that count for `is_in_budget`.

    Returns:
        First rank (from 1) of each passage within the first 500 tokens of a result, and whether the passage is within
        the budget.
    """
    thresholds = load_matching().thresholds
    ranks: list[int | None] = [None] * len(passages)
    is_in_budget = [False] * len(passages)
    tokens_left = budget
    for rank, result in enumerate(results[: thresholds.results_counted], start=1):
        result_text, budget_text = (
            cut_to_tokens(result.text, thresholds.result_tokens),
            cut_to_tokens(result.text, tokens_left),
        )
        tokens_left -= count_tokens(result.text)
        for ix, passage in enumerate(passages):
            if passage["document"] != result.document_id:
                continue
            if ranks[ix] is None and is_quoted(passage["quote"], result_text, is_row=is_row):
                ranks[ix] = rank
            if budget_text and not is_in_budget[ix]:
                is_in_budget[ix] = is_quoted(passage["quote"], budget_text, is_row=is_row)
    return GoldRanks(ranks=tuple(ranks), is_in_budget=tuple(is_in_budget))


def score_recall(ranks: Sequence[int | None], cutoff: int) -> float:
    """Return the share of passages ranked within a cutoff.

    Args:
        ranks: First rank of each passage; None where it was not found.
        cutoff: Last rank that counts.
    """
    return sum(rank is not None and rank <= cutoff for rank in ranks) / len(ranks)


def score_reciprocal_rank(ranks: Sequence[int | None]) -> float:
    """Return 1 / rank of the first passage found; 0 if none is.

    Args:
        ranks: First rank of each passage; None where it was not found.
    """
    return max((1 / rank for rank in ranks if rank is not None), default=0.0)


def score_ndcg(ranks: Sequence[int | None], grades: Sequence[int], *, cutoff: int = NDCG_CUTOFF) -> float:
    """Compute nDCG of the gold passages in a ranking.

    Args:
        ranks: First rank of each passage; None where it was not found.
        grades: Grade of each passage.
        cutoff: Last rank that counts.

    Returns:
        Value from 0 to 1.
    """
    gain = sum(
        grade / math.log2(1 + rank)
        for rank, grade in zip(ranks, grades, strict=True)
        if rank is not None and rank <= cutoff
    )
    best = sum(grade / math.log2(1 + rank) for rank, grade in enumerate(sorted(grades, reverse=True)[:cutoff], start=1))
    return min(1.0, gain / best) if best else 0.0


def score_query(query: EvalQueryRecord, results: Sequence[Result], *, is_abstained: bool) -> dict[str, float | None]:
    """Compute all retrieval metrics that apply to a question.

    Args:
        query: The question.
        results: Results, best first.
        is_abstained: Whether the system would abstain.

    Returns:
        Values from 0 to 1 by metric; None for a metric that is about the first result if there is none.
    """
    is_unanswerable = query["type"] == "unanswerable"
    scores: dict[str, float | None] = {
        "abstain_on_unanswerable" if is_unanswerable else "abstain_on_answerable": float(is_abstained)
    }
    required = find_required(query)
    if not required:
        return scores
    is_row = query["type"] == "table_value"
    gold = list(query["gold"])
    required_passages = find_passages(required, results, is_row=is_row, budget=TOKEN_BUDGET)
    all_passages = (
        required_passages
        if len(gold) == len(required)
        else find_passages(gold, results, is_row=is_row, budget=TOKEN_BUDGET)
    )
    in_budget = sum(required_passages.is_in_budget) / len(required)
    is_hit = 1 in required_passages.ranks
    scores |= {
        "recall@5": score_recall(required_passages.ranks, RANK_CUTOFF),
        f"relevance@{SHOWN}": float(score_recall(all_passages.ranks, SHOWN) > 0),
        f"sufficiency@{SHOWN}": float(score_recall(required_passages.ranks, SHOWN) == 1),
        "recall@2000tok": in_budget,
        "mrr": score_reciprocal_rank(required_passages.ranks),
        "hit@1": float(is_hit),
        "ndcg@10": score_ndcg(all_passages.ranks, [passage["grade"] for passage in gold]),
        "near_miss@1": _score_near_miss(query, results, is_hit=is_hit),
        "wrong_document@1": _score_wrong_document(query, results),
    }
    if len(required) > 1:
        scores["multi_hop_coverage"] = float(in_budget >= (query["coverage"] or 1.0))
    return scores


def _score_near_miss(query: EvalQueryRecord, results: Sequence[Result], *, is_hit: bool) -> float | None:
    """Return 1 if the first result contains a near miss and no required passage, else 0; None without results."""
    if not results:
        return None
    if is_hit:
        return 0.0
    near_misses = [passage for passage in query["near_miss"] or [] if passage["document"] == results[0].document_id]
    near_miss_ranks = find_passages(near_misses, results[:1], is_row=query["type"] == "table_value", budget=0)
    return float(1 in near_miss_ranks.ranks)


def _score_wrong_document(query: EvalQueryRecord, results: Sequence[Result]) -> float | None:
    """Return 1 if the first result is from a document without gold passages, else 0; None without results."""
    return float(results[0].document_id not in {p["document"] for p in query["gold"]}) if results else None


def find_metrics(query: Labeled) -> tuple[str, ...]:
    """Return the names of the metrics that apply to a question.

    Args:
        query: The question.
    """
    is_unanswerable = query["type"] == "unanswerable"
    required = find_required(query)
    applies: dict[str, Callable[[], bool]] = {
        "multi_hop_coverage": lambda: len(required) > 1,
        "abstain_on_unanswerable": lambda: is_unanswerable,
        "abstain_on_answerable": lambda: not is_unanswerable,
    }
    return tuple(metric for metric in METRICS if applies.get(metric, lambda: bool(required) or not is_unanswerable)())


_SCORES = {
    "system": pl.String,
    "query_set": pl.String,
    "query_id": pl.String,
    "type": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
}


def score_runs(eval_queries: dy.DataFrame[EvalQueries], eval_runs: dy.DataFrame[EvalRuns]) -> pl.DataFrame:
    """Score every question of every system.

    Args:
        eval_queries: Questions with their gold passages.
        eval_runs: Runs of all systems.

    Returns:
        One row per (system, query_set, query_id, metric), for the metrics that apply to the question. The value is null
        if the question is unresolved, or if the metric is about the first result and there is none. A question that a
        system was not run on counts as an empty ranking.
    """
    runs = _group_runs(eval_runs)
    rows = []
    for system in sorted({system for system, _, _ in runs}):
        for query in iter_records(eval_queries.sort("query_set", "query_id"), EvalQueryRecord):
            key = (system, query["query_set"], query["query_id"])
            results, is_abstained = runs.get(key, ([], False))
            scores = score_query(query, results, is_abstained=is_abstained) if query["is_resolved"] else {}
            rows += [(*key, query["type"], metric, scores.get(metric)) for metric in find_metrics(query)]
    return pl.DataFrame(rows, schema=_SCORES, orient="row")


def _group_runs(eval_runs: dy.DataFrame[EvalRuns]) -> dict[tuple[str, str, str], tuple[list[Result], bool]]:
    grouped: dict[tuple[str, str, str], tuple[list[Result], bool]] = {}
    for row in eval_runs.sort("system", "query_set", "query_id", "rank").iter_rows(named=True):
        results, _ = grouped.setdefault((row["system"], row["query_set"], row["query_id"]), ([], row["is_abstained"]))
        if row["rank"] > 0:
            results.append(Result(document_id=row["document_id"], text=row["text"]))
    return grouped


# ------------------------------------------------------------------------------------------- the whole pipeline

PARTS = {
    "parse": "parse",
    "boundary_detection": "boundary",
    "structure_analysis": "structure",
    "quality_validation": "validate",
    "refinement": "refine",
    "metadata_enrichment": "describe",
    "cohesion": "cohesion",
    "embeddings": "embed",
    "index": "index",
}
"""Steps of a build whose time is reported, with the word for each in the report."""


def build_metrics(
    chunks: dy.DataFrame[Chunks],
    eval_report: dy.DataFrame[EvalReport],
    *,
    times: Mapping[str, tuple[datetime, datetime]],
) -> dy.DataFrame[Metrics]:
    """Build the table of pipeline metrics: chunks, semantic chunking, retrieval, and build times.

    Args:
        chunks: All chunks.
        eval_report: Figures of the evaluation.
        times: Start and end of each step in the last build that ran it; the end is the start plus the measured
            duration.

    Returns:
        One figure per row; shares are from 0 to 1, and `k` is the number of results that a figure of retrieval counts.
    """
    rows = [*_chunk_figures(chunks), *_retrieval_figures(eval_report), *_times(times, chunks=chunks)]
    empty = {"k": None, "note": "", "began_at": None, "ended_at": None}
    frame = pl.DataFrame([{**empty, **row} for row in rows], schema=Metrics.create_empty().schema)
    return Metrics.validate(frame.sort(Metrics.primary_key()))


def _chunk_figures(chunks: dy.DataFrame[Chunks]) -> list[dict[str, Any]]:
    def figure(metric: str, value: float | None, unit: str, n: int, *, slice_name: str = "all", note: str = "") -> Any:
        return {"metric": metric, "slice": slice_name, "value": value, "unit": unit, "n": n, "note": note}

    accepted = chunks.filter(pl.col("status") == "accepted")
    semantic_chunks = chunks.filter(pl.col("created_by") != "structural")
    rows = [
        figure(
            "chunks", float(accepted.height), "count", chunks.height, note="only accepted chunks, which are indexed"
        ),
        figure("average tokens", _mean(accepted["token_count"]), "tokens", accepted.height),
        figure(
            "average quality", _mean(accepted["quality"]), "share", accepted.height, note="structural chunks count as 1"
        ),
        figure(
            "semantic quality",
            _mean(semantic_chunks["quality"]),
            "share",
            semantic_chunks.height,
            note="accepted or not",
        ),
    ]
    note = "" if semantic_chunks.height else "not measured: no document has a weak layout"
    for slice_name, slice_chunks in (
        ("all", semantic_chunks),
        *(
            (str(group_key[0]), document_chunks)
            for group_key, document_chunks in sorted(semantic_chunks.group_by("document_id"))
        ),
    ):
        rows += [
            figure(
                "semantic accept",
                _mean(slice_chunks["status"] == "accepted"),
                "share",
                slice_chunks.height,
                slice_name=slice_name,
                note=note,
            ),
            figure(
                "boundary confidence",
                _mean(slice_chunks["boundary_confidence"]),
                "share",
                slice_chunks.height,
                slice_name=slice_name,
                note=note,
            ),
        ]
    forced_documents = semantic_chunks.filter(pl.col("refinements") > 1)["document_id"].n_unique()
    rule = f"below {load_semantic().forced_accept:.0%} accepted a second cycle follows"
    return [
        *rows,
        figure(
            "forced refinements", float(forced_documents), "count", semantic_chunks["document_id"].n_unique(), note=rule
        ),
    ]


def _retrieval_figures(eval_report: dy.DataFrame[EvalReport]) -> list[dict[str, Any]]:
    """Return relevance and sufficiency of the full system for each query set."""
    shown_figures = eval_report.filter(
        pl.col("system") == "full",
        pl.col("slice") == "all",
        pl.col("metric").is_in([f"relevance@{SHOWN}", f"sufficiency@{SHOWN}"]),
    )
    return [
        {"metric": row["metric"], "slice": row["query_set"], "value": row["value"], "unit": "share"}
        | {
            "k": SHOWN,
            "n": row["n"],
            "note": "" if row["n"] else "not measured: no question has its gold passages in this home",
        }
        for row in shown_figures.iter_rows(named=True)
    ]


def _times(times: Mapping[str, tuple[datetime, datetime]], *, chunks: pl.DataFrame) -> list[dict[str, Any]]:
    measured_times = {step: times[step] for step in PARTS if step in times}
    rows = [
        {"metric": f"time: {PARTS[step]}", "began_at": began, "ended_at": ended}
        for step, (began, ended) in measured_times.items()
    ]
    if measured_times:
        began = min(began for began, _ in measured_times.values())
        total = sum((ended - start for start, ended in measured_times.values()), timedelta())
        rows.append({"metric": "time: total", "began_at": began, "ended_at": began + total})
    note = "of the last build that had to do it"
    common = {"slice": "all", "value": None, "unit": "time", "n": chunks["document_id"].n_unique(), "note": note}
    return [{**common, **row} for row in rows]


def _mean(values: pl.Series) -> float | None:
    return float(values.cast(pl.Float64).sum()) / values.len() if values.len() else None


def render_metrics(metrics: dy.DataFrame[Metrics]) -> pl.DataFrame:
    """Format pipeline metrics for display: shares in percent, times in seconds.

    Args:
        metrics: Table `metrics`.

    Returns:
        `metric`, `slice`, `figure`, `K`, `n` and `note`, as text except for `n`.
    """
    rows = []
    for row in metrics.iter_rows(named=True):
        if row["ended_at"]:
            figure_text = f"{(row['ended_at'] - row['began_at']).total_seconds():.1f} s"
        elif row["value"] is None:
            figure_text = "not measured"
        else:
            figure_text = f"{row['value']:.1%}" if row["unit"] == "share" else f"{row['value']:.0f}"
        k = "" if row["k"] is None else f"K = {row['k']}"
        rows.append((row["metric"], row["slice"], figure_text, k, row["n"], row["note"]))
    return pl.DataFrame(rows, schema=["metric", "slice", "figure", "K", "n", "note"], orient="row")
