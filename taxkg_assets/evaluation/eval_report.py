"""Retrieval report: each figure with its interval, its number of questions, and its test against a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.metrics import LOWER_IS_BETTER, score_runs
from taxkg_assets.evaluation.significance import compute_p_value, score_interval
from taxkg_assets.rules.floors import Floor
from taxkg_assets.schemas import Documents, EvalQueries, EvalReport, EvalRuns

BASELINES = ("bm25", "dense")
ALL = "all"
Cell = dict[str, dict[str, tuple[float | None, str]]]
"""By system and question id: the score, None for none, and the document family of the question."""

_FAULTS = {
    "floor_id": pl.String,
    "system": pl.String,
    "query_set": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "floor": pl.Float64,
    "n": pl.Int64,
    "reason": pl.String,
}


def build_eval_report(
    eval_queries: dy.DataFrame[EvalQueries],
    eval_runs: dy.DataFrame[EvalRuns],
    *,
    documents: dy.DataFrame[Documents],
    scores: pl.DataFrame | None = None,
    baselines: Sequence[str] = BASELINES,
    seed: int = 0,
) -> dy.DataFrame[EvalReport]:
    """Average every retrieval metric over all questions and by type, with intervals and significance tests.

    Args:
        eval_queries: Questions with their gold passages.
        eval_runs: Runs of all systems.
        documents: Documents of the corpus, for the families.
        scores: Scores of these runs from `score_runs`; None to compute them.
        baselines: Systems to test against; for each metric the one with the best mean over all questions of the set is
            used.
        seed: Seed of the bootstrap and of the test.

    Returns:
        One row per (system, query_set, slice, metric) with a question; p_value is null for the baseline, and where no
        baseline was run.
    """
    scores = score_runs(eval_queries, eval_runs) if scores is None else scores
    scores = scores.join(find_families(eval_queries, documents), on=["query_set", "query_id"], how="left")
    slices = pl.concat([scores.with_columns(slice=pl.lit(ALL)), scores.with_columns(slice=pl.col("type"))])
    strongest = _find_strongest(scores, baselines)
    rows = [
        _build_row(cell, system, key=key, baseline=strongest.get((key[0], key[2])), seed=seed)
        for key, cell in _group_scores(slices).items()
        for system in cell
    ]
    frame = pl.DataFrame(rows, schema=EvalReport.create_empty().schema)
    return EvalReport.validate(frame.sort(EvalReport.primary_key()), cast=True)


def find_families(eval_queries: dy.DataFrame[EvalQueries], documents: dy.DataFrame[Documents]) -> pl.DataFrame:
    """Find the document family of each question: that of its first gold (or near-miss) document.

    Args:
        eval_queries: Questions with their gold passages.
        documents: Documents of the corpus.

    Returns:
        `query_set`, `query_id` and `family`.
    """
    family_by_document = {
        row["document_id"]: row["irs_name"] or row["document_id"].split("--")[0]
        for row in documents.select("document_id", "irs_name").iter_rows(named=True)
    }
    rows = []
    for query in eval_queries.iter_rows(named=True):
        passages = query["gold"] or query["near_miss"] or [{"document": f"question {query['query_id']}"}]
        first_document = passages[0]["document"]
        rows.append(
            (
                query["query_set"],
                query["query_id"],
                family_by_document.get(first_document, first_document.split("--")[0]),
            )
        )
    return pl.DataFrame(rows, schema={"query_set": pl.String, "query_id": pl.String, "family": pl.String}, orient="row")


def find_retrieval_faults(
    eval_report: dy.DataFrame[EvalReport], floors: Sequence[Floor], *, system: str = "full"
) -> pl.DataFrame:
    """Find metrics of the released system that violate a floor.

    A floor applies to the query set that it names, or to every set. A set without a scored question is skipped, and so
    is a figure of fewer questions than the floor's `least_n`; a report without the system is a fault.

    Args:
        eval_report: Figures of all systems.
        floors: Floors of all gates; only those of the gate `eval_report` are checked.
        system: Released system.

    Returns:
        `floor_id`, `system`, `query_set`, `metric`, `value`, `floor`, `n` and `reason`, one row per fault.
    """
    rows = eval_report.filter(pl.col("slice") == ALL)
    if rows.height and not rows.filter(pl.col("system") == system).height:
        return pl.DataFrame(
            [("", system, "", "", None, None, 0, "the report has no figures of this system")],
            schema=_FAULTS,
            orient="row",
        )
    faults = [
        (floor.id, system, row["query_set"], floor.metric, row["value"], floor.floor, row["n"], floor.describe())
        for floor in floors
        if floor.gate == "eval_report"
        for row in rows.filter(pl.col("system") == system, pl.col("metric") == floor.metric).iter_rows(named=True)
        if row["value"] is not None and row["n"] >= floor.least_n and floor.binds(row["query_set"])
        if not floor.holds(row["value"])
    ]
    return pl.DataFrame(faults, schema=_FAULTS, orient="row").sort("floor_id", "query_set")


def _find_strongest(scores: pl.DataFrame, baselines: Sequence[str]) -> Mapping[tuple[str, str], str]:
    """Return the best baseline by (query_set, metric); of equally good ones the first in `baselines`."""
    means = (
        scores.filter(pl.col("system").is_in(list(baselines)))
        .group_by("query_set", "metric", "system")
        .agg(pl.col("value").mean())
        .drop_nulls("value")
    )
    best_by_key: dict[tuple[str, str], tuple[float, int, str]] = {}
    for row in means.iter_rows(named=True):
        sign = -1.0 if row["metric"] in LOWER_IS_BETTER else 1.0
        rank = (sign * row["value"], -list(baselines).index(row["system"]), row["system"])
        key = (row["query_set"], row["metric"])
        best_by_key[key] = max(best_by_key.get(key, rank), rank)
    return {key: system for key, (_, _, system) in best_by_key.items()}


def _group_scores(slices: pl.DataFrame) -> dict[tuple[str, str, str], Cell]:
    """Return the scores of each query set, slice and metric, by system, in the order of the questions."""
    columns = ("query_set", "slice", "metric", "system", "query_id", "value", "family")
    cells: dict[tuple[str, str, str], Cell] = {}
    for *key, system, query_id, value, family in slices.select(columns).sort(columns[:5]).iter_rows():
        cell = cells.setdefault((key[0], key[1], key[2]), {})
        cell.setdefault(system, {})[query_id] = (value, family)
    return cells


def _build_row(
    cell: Cell, system: str, *, key: tuple[str, str, str], baseline: str | None, seed: int
) -> dict[str, object]:
    query_set, slice_name, metric = key
    system_scores = _drop_unscored(cell[system])
    row: dict[str, object] = {
        "system": system,
        "query_set": query_set,
        "slice": slice_name,
        "metric": metric,
        "value": None,
        "low": None,
        "high": None,
        "n": len(system_scores),
        "n_dropped": len(cell[system]) - len(system_scores),
        "p_value": None,
    }
    if not system_scores:
        return row
    values, families = zip(*system_scores.values(), strict=True)
    interval = score_interval(values, families, seed=seed, stream=key)
    row |= {"value": interval.value, "low": interval.low, "high": interval.high}
    if baseline is not None and baseline != system:
        baseline_scores = _drop_unscored(cell.get(baseline, {}))
        pairs = [
            (value, baseline_scores[query_id][0])
            for query_id, (value, _) in system_scores.items()
            if query_id in baseline_scores
        ]
        row["p_value"] = compute_p_value(*zip(*pairs, strict=True), seed=seed, stream=key) if pairs else None
    return row


def _drop_unscored(scores: Mapping[str, tuple[float | None, str]]) -> dict[str, tuple[float, str]]:
    return {query_id: (value, family) for query_id, (value, family) in scores.items() if value is not None}
