"""Ablation: compare retrieval with and without each component, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.eval_report import find_families
from taxkg_assets.evaluation.gains import score_gain
from taxkg_assets.evaluation.metrics import score_runs
from taxkg_assets.schemas import Documents, EvalQueries, EvalRuns

REPORTED = ("recall@5", "recall@2000tok", "mrr", "hit@1", "wrong_document@1")

_SCHEMA = {
    "query_set": pl.String,
    "component": pl.String,
    "system_without": pl.String,
    "system_with": pl.String,
    "metric": pl.String,
    "without": pl.Float64,
    "with": pl.Float64,
    "gain": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p_value": pl.Float64,
    "n": pl.Int64,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One comparison of an ablation: a component, a system without it, and the same system with it."""

    component: str
    system_without: str
    system_with: str


def score_ablation(
    eval_queries: dy.DataFrame[EvalQueries],
    eval_runs: dy.DataFrame[EvalRuns],
    *,
    documents: dy.DataFrame[Documents],
    steps: Sequence[Step],
    scores: pl.DataFrame | None = None,
    metrics: Sequence[str] = REPORTED,
    seed: int = 0,
) -> pl.DataFrame:
    """Measure the contribution of each retrieval component by paired differences.

    Args:
        eval_queries: Questions with their gold passages.
        eval_runs: Runs of all systems that the steps name.
        documents: Documents of the corpus, for the document families.
        steps: Comparisons.
        scores: Scores of these runs from `score_runs`; None to compute them.
        metrics: Metrics to compare.
        seed: Seed of the bootstrap and of the randomization test.

    Returns:
        One row per (query_set, component, metric), in the order of the steps: mean of the paired differences, its
        interval (clustered by document family) and the p-value of the randomization test.

    Raises:
        ValueError: A step names a system that was not run.
    """
    scores = (score_runs(eval_queries, eval_runs) if scores is None else scores).drop_nulls("value")
    systems = set(eval_runs["system"].unique())
    missing = sorted({name for step in steps for name in (step.system_without, step.system_with)} - systems)
    if missing and systems:
        raise ValueError(f"The ablation compares systems that were not run: {', '.join(missing)}")
    families = find_families(eval_queries, documents)
    scores = scores.filter(pl.col("metric").is_in(list(metrics))).join(families, on=["query_set", "query_id"])
    scores_by_cell = scores.partition_by("query_set", "metric", "system", as_dict=True)
    rows = [
        row
        for query_set in scores["query_set"].unique().sort()
        for step in steps
        for metric in metrics
        if (row := _compare(scores_by_cell, step, cell=(query_set, metric), seed=seed)) is not None
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)


def _compare(
    scores_by_cell: Mapping[tuple[object, ...], pl.DataFrame], step: Step, *, cell: tuple[str, str], seed: int
) -> dict[str, object] | None:
    """Return the row of a step for a query set and metric (`cell`); None without a question of both systems."""
    without_component, with_component = (
        scores_by_cell.get((*cell, step.system_without)),
        scores_by_cell.get((*cell, step.system_with)),
    )
    if without_component is None or with_component is None:
        return None
    pairs = without_component.join(with_component, on="query_id", suffix="_with").sort("query_id")
    if pairs.is_empty():
        return None
    query_set, metric = cell
    gain = score_gain(
        pairs["value"].to_list(),
        pairs["value_with"].to_list(),
        clusters=pairs["family"].to_list(),
        seed=seed,
        stream=(query_set, step.component, metric),
    )
    return {
        "query_set": query_set,
        "component": step.component,
        "system_without": step.system_without,
        "system_with": step.system_with,
        "metric": metric,
        "without": gain.without,
        "with": gain.value,
        "gain": gain.difference.value,
        "low": gain.difference.low,
        "high": gain.difference.high,
        "p_value": gain.p_value,
        "n": gain.n,
    }
