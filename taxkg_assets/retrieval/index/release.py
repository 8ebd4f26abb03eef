"""Releases: the index version that readers use; one row per release, added only when what is served would change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

import dataframely as dy
import polars as pl

from taxkg_assets.retrieval.index.current import find_current as find_current
from taxkg_assets.schemas import EvalReport, Index, Release


def build_release(
    index: dy.DataFrame[Index],
    eval_report: dy.DataFrame[EvalReport],
    *,
    old: dy.DataFrame[Release],
    table_versions: Mapping[str, int],
    now: datetime,
) -> dy.DataFrame[Release]:
    """Append a release if the checked index differs from the one that is currently served.

    Args:
        index: Current index.
        eval_report: Figures of the evaluation.
        old: The current table.
        table_versions: Delta versions of the tables that answers are made from.
        now: When the release becomes visible.

    Returns:
        All releases, with at most one new row.
    """
    current = find_current(old)
    version = index["index_version"].item()
    versions = json.dumps(dict(table_versions), sort_keys=True)
    if current is not None and (current["index_version"], current["table_versions"]) == (version, versions):
        return old
    figures = eval_report.filter(pl.col("slice") == "all", pl.col("system") == "full").sort("query_set", "metric")
    metrics = {f"{s}:{m}": v for s, m, v in figures.select("query_set", "metric", "value").iter_rows()}
    row = {
        "release_ix": old.height,
        "index_version": version,
        "index_path": index["path"].item(),
        "table_versions": versions,
        "model_name": index["model_name"].item(),
        "model_hash": index["model_hash"].item(),
        "metrics": json.dumps(metrics, sort_keys=True),
        "is_rolled_back": False,
        "released_at": now,
    }
    added = pl.DataFrame([row], schema=Release.create_empty().schema)
    return Release.validate(pl.concat([old, added]).sort("release_ix"))


def roll_back(release: dy.DataFrame[Release]) -> dy.DataFrame[Release]:
    """Withdraw the current release, so that the previous one is served.

    Builds keep it withdrawn until something changes; materializing `release` publishes the index again.

    Args:
        release: All releases.

    Returns:
        The same releases; unchanged where fewer than two are active.
    """
    active = release.filter(~pl.col("is_rolled_back"))
    if active.height < 2:
        return release
    withdrawn = pl.col("release_ix") == active["release_ix"].max()
    return Release.validate(release.with_columns(is_rolled_back=pl.col("is_rolled_back") | withdrawn))
