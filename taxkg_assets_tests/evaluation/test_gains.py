"""Gains of one system over another, worked by hand."""

from __future__ import annotations

import polars as pl

from taxkg_assets.evaluation.gains import find_worse_types, score_gains


def _scores() -> pl.DataFrame:
    values = {"base": [0.5, 0.5, 1.0, 0.0], "tuned": [1.0, 0.5, 0.5, 1.0]}
    rows = [
        {"system": system, "query_id": f"q{n}", "type": "ab"[n % 2], "family": f"f{n}", "metric": "mrr", "value": value}
        for system, own in values.items()
        for n, value in enumerate(own)
    ]
    return pl.DataFrame(rows)


def test_a_gain_is_the_mean_of_paired_differences_over_all_and_by_type() -> None:
    found = {row["slice"]: row for row in score_gains(_scores(), [("base", "tuned")], metrics=["mrr"]).to_dicts()}
    assert found["all"]["gain"] == (0.5 + 0.0 - 0.5 + 1.0) / 4
    assert found["all"]["relative"] == found["all"]["gain"] / ((0.5 + 0.5 + 1.0 + 0.0) / 4)
    assert (found["a"]["gain"], found["b"]["gain"]) == ((0.5 - 0.5) / 2, (0.0 + 1.0) / 2)
    assert (found["all"]["n"], found["a"]["n"]) == (4, 2)


def test_only_questions_that_both_were_scored_on_count() -> None:
    scores = _scores().with_columns(
        value=pl.when((pl.col("system") == "tuned") & (pl.col("query_id") == "q2"))
        .then(None)
        .otherwise(pl.col("value"))
    )
    found = score_gains(scores, [("base", "tuned")], metrics=["mrr"]).row(0, named=True)
    assert (found["n"], found["gain"]) == (3, (0.5 + 0.0 + 1.0) / 3)


def test_types_that_lose_more_than_allowed_are_named() -> None:
    scores = _scores().with_columns(
        value=pl.when((pl.col("system") == "tuned") & (pl.col("type") == "a")).then(0.45).otherwise(pl.col("value"))
    )
    gains = score_gains(scores, [("base", "tuned")], metrics=["mrr"])
    assert find_worse_types(gains, metric="mrr", allowed=0.02)["slice"].to_list() == ["a"]
    assert find_worse_types(gains, metric="mrr", allowed=0.5).is_empty()
