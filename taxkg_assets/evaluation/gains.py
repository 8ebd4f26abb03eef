"""Gain of a change: compare two systems on the same questions, over all questions and over each type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from taxkg_assets.evaluation.significance import Interval, compute_p_value, score_interval

ALL = "all"

_SCHEMA = {
    "slice": pl.String,
    "metric": pl.String,
    "system_without": pl.String,
    "system_with": pl.String,
    "without": pl.Float64,
    "with": pl.Float64,
    "gain": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "relative": pl.Float64,
    "p_value": pl.Float64,
    "n": pl.Int64,
}


@dataclass(frozen=True, slots=True)
class Gain:
    """Mean scores of two systems on the same questions, and the paired difference with interval and test."""

    without: float
    value: float
    difference: Interval
    p_value: float
    n: int


def score_gain(
    without: Sequence[float], value: Sequence[float], *, clusters: Sequence[str], seed: int, stream: Sequence[str]
) -> Gain:
    """Compare two systems question by question.

    Args:
        without: Score of each question without the change.
        value: Score of each question with the change.
        clusters: Document family of each question, drawn as a whole by the bootstrap.
        seed: Seed of the bootstrap and of the test.
        stream: Names that, with the seed, give each comparison its own random numbers.

    Returns:
        Means, paired difference with its interval, and p-value.
    """
    gains = [new - old for old, new in zip(without, value, strict=True)]
    return Gain(
        without=sum(without) / len(without),
        value=sum(value) / len(value),
        difference=score_interval(gains, clusters, seed=seed, stream=stream),
        p_value=compute_p_value(value, without, seed=seed, stream=stream),
        n=len(gains),
    )


def score_gains(
    scores: pl.DataFrame, steps: Sequence[tuple[str, str]], *, metrics: Sequence[str], seed: int = 0
) -> pl.DataFrame:
    """Compute the gain of each step over all questions and by type.

    Args:
        scores: One row per (system, query_id, metric) with type, family and value; a step compares the questions on
            which both of its systems were scored.
        steps: Pairs of systems: without the change, with the change.
        metrics: Metrics to compare.
        seed: Seed of the bootstrap and of the test.

    Returns:
        One row per (step, slice, metric), in the order of the steps; `relative` is the gain divided by `without`, null
        where that is 0.
    """
    slices = pl.concat([scores.with_columns(slice=pl.lit(ALL)), scores.with_columns(slice=pl.col("type"))])
    scores_by_cell = slices.drop_nulls("value").partition_by("slice", "metric", "system", as_dict=True)
    rows = []
    for without, value in steps:
        for slice_name in sorted(slices["slice"].unique(), key=lambda name: (name != ALL, name)):
            for metric in metrics:
                old, new = (
                    scores_by_cell.get((slice_name, metric, without)),
                    scores_by_cell.get((slice_name, metric, value)),
                )
                if old is None or new is None:
                    continue
                pairs = old.join(new.select("query_id", new="value"), on="query_id").sort("query_id")
                if pairs.height:
                    rows.append(_row(pairs, names=(slice_name, metric, without, value), seed=seed))
    return pl.DataFrame(rows, schema=_SCHEMA)


def _row(pairs: pl.DataFrame, *, names: tuple[str, str, str, str], seed: int) -> dict[str, object]:
    gain = score_gain(
        pairs["value"].to_list(),
        pairs["new"].to_list(),
        clusters=pairs["family"].to_list(),
        seed=seed,
        stream=names,
    )
    piece, metric, without, value = names
    return {
        "slice": piece,
        "metric": metric,
        "system_without": without,
        "system_with": value,
        "without": gain.without,
        "with": gain.value,
        "gain": gain.difference.value,
        "low": gain.difference.low,
        "high": gain.difference.high,
        "relative": gain.difference.value / gain.without if gain.without else None,
        "p_value": gain.p_value,
        "n": gain.n,
    }


def find_worse_types(gains: pl.DataFrame, *, metric: str, allowed: float) -> pl.DataFrame:
    """Find types of questions on which a change loses more than is allowed.

    Args:
        gains: Gains from `score_gains`.
        metric: Metric to check.
        allowed: Largest allowed loss, from 0 to 1.

    Returns:
        Rows of `gains`; empty if no type loses more.
    """
    return gains.filter(pl.col("slice") != ALL, pl.col("metric") == metric, pl.col("gain") < -allowed)
