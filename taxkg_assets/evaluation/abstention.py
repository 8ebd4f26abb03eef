"""Abstention: for every bound on confidence, how much is answered, and how often wrongly."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.metrics import score_runs
from taxkg_assets.schemas import EvalQueries, EvalRuns

BOUNDS = tuple(step / 20 for step in range(21))
_SCHEMA = {
    "query_set": pl.String,
    "bound": pl.Float64,
    "coverage": pl.Float64,
    "risk": pl.Float64,
    "abstained_unanswerable": pl.Float64,
    "abstained_answerable": pl.Float64,
    "n": pl.Int64,
}


def score_abstention(
    eval_queries: dy.DataFrame[EvalQueries],
    eval_runs: dy.DataFrame[EvalRuns],
    *,
    system: str,
    scores: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Compute coverage and risk of a system at every confidence threshold below which it would abstain.

    Args:
        eval_queries: Questions with their gold passages.
        eval_runs: Runs with the confidence of the system.
        system: System to score.
        scores: Scores of these runs (`score_runs`); None to compute them.

    Returns:
        One row per query set and threshold. Coverage is the share of questions answered; risk the share of those that
        are unanswerable or whose gold is in none of the first five passages, null where nothing is answered.
    """
    runs = EvalRuns.cast(eval_runs.filter(pl.col("system") == system))
    grades = runs.group_by("query_set", "query_id").agg(pl.col("confidence").first())
    scores = score_runs(eval_queries, runs) if scores is None else scores.filter(pl.col("system") == system)
    answered = scores.filter(pl.col("metric") == "recall@5", pl.col("value") > 0)
    questions = (
        eval_queries.filter(pl.col("is_resolved"))
        .join(grades, on=["query_set", "query_id"])
        .join(answered.select("query_set", "query_id", is_found=pl.lit(True)), on=["query_set", "query_id"], how="left")
        .with_columns(is_answerable=pl.col("type") != "unanswerable", is_found=pl.col("is_found").fill_null(False))
    )
    rows = [
        _score(mine, query_set=str(query_set), bound=bound)
        for (query_set,), mine in sorted(questions.partition_by("query_set", as_dict=True).items())
        for bound in BOUNDS
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)


def _score(questions: pl.DataFrame, *, query_set: str, bound: float) -> dict[str, object]:
    is_abstained = questions["confidence"] < bound
    answered = questions.filter(~is_abstained)

    def abstained(part: pl.Series) -> float | None:
        return float((is_abstained & part).sum()) / int(part.sum()) if part.any() else None

    return {
        "query_set": query_set,
        "bound": bound,
        "coverage": answered.height / questions.height,
        "risk": 1 - int(answered["is_found"].sum()) / answered.height if answered.height else None,
        "abstained_unanswerable": abstained(~questions["is_answerable"]),
        "abstained_answerable": abstained(questions["is_answerable"]),
        "n": questions.height,
    }
