"""Abstention: the share of questions answered at each confidence threshold, and the share of wrong answers."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.metrics import score_runs
from taxkg_assets.schemas import EvalQueries, EvalRuns

BOUNDS = tuple(step / 20 for step in range(21))
"""Confidence thresholds, 0 to 1."""
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
    """Compute coverage and risk of a system for each confidence threshold below which it would abstain.

    Args:
        eval_queries: Questions with their gold passages.
        eval_runs: Runs with the confidence of the system.
        system: System to score.
        scores: Scores of these runs from `score_runs`; None to compute them.

    Returns:
        One row per query set and threshold. Coverage is the share of questions answered. Risk is the share of answered
        questions that are unanswerable, or whose gold is in none of the first five passages; null where nothing is
        answered.
    """
    runs = EvalRuns.cast(eval_runs.filter(pl.col("system") == system))
    confidences = runs.group_by("query_set", "query_id").agg(pl.col("confidence").first())
    scores = score_runs(eval_queries, runs) if scores is None else scores.filter(pl.col("system") == system)
    found_questions = scores.filter(pl.col("metric") == "recall@5", pl.col("value") > 0)
    questions = (
        eval_queries.filter(pl.col("is_resolved"))
        .join(confidences, on=["query_set", "query_id"])
        .join(
            found_questions.select("query_set", "query_id", is_found=pl.lit(True)),
            on=["query_set", "query_id"],
            how="left",
        )
        .with_columns(is_answerable=pl.col("type") != "unanswerable", is_found=pl.col("is_found").fill_null(False))
    )
    rows = [
        _score(set_questions, query_set=str(query_set), bound=bound)
        for (query_set,), set_questions in sorted(questions.partition_by("query_set", as_dict=True).items())
        for bound in BOUNDS
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)


def _score(questions: pl.DataFrame, *, query_set: str, bound: float) -> dict[str, object]:
    is_abstained = questions["confidence"] < bound
    answered = questions.filter(~is_abstained)

    def share_abstained(is_in_part: pl.Series) -> float | None:
        return float((is_abstained & is_in_part).sum()) / int(is_in_part.sum()) if is_in_part.any() else None

    return {
        "query_set": query_set,
        "bound": bound,
        "coverage": answered.height / questions.height,
        "risk": 1 - int(answered["is_found"].sum()) / answered.height if answered.height else None,
        "abstained_unanswerable": share_abstained(~questions["is_answerable"]),
        "abstained_answerable": share_abstained(questions["is_answerable"]),
        "n": questions.height,
    }
