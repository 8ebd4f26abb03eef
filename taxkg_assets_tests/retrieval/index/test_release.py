"""Releases: a row only when what is served changes; what was rolled back is not served."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import dataframely as dy
import pytest

from taxkg_assets.retrieval.index.release import build_release, find_current, roll_back
from taxkg_assets.schemas import EvalReport, Index, Release

NOW = datetime(2031, 1, 1, tzinfo=UTC)
NONE = Release.create_empty()


def _index(version: str) -> dy.DataFrame[Index]:
    return Index.sample(overrides=[{"index_version": version, "path": f"index/{version}", "model_name": "mini"}])


def _report(value: float = 0.5) -> dy.DataFrame[EvalReport]:
    figure = {"system": "full", "query_set": "dev", "slice": "all", "metric": "mrr", "value": value}
    aside = [{**figure, "system": "bm25"}, {**figure, "slice": "concept"}]
    return EvalReport.sample(overrides=[figure, *aside])


def _release(
    old: dy.DataFrame[Release], version: str, *, tables: dict[str, int], days: int = 0
) -> dy.DataFrame[Release]:
    now = NOW + timedelta(days=days)
    return build_release(_index(version), _report(), old=old, table_versions=tables, now=now)


def test_the_first_release_says_what_it_serves() -> None:
    assert find_current(NONE) is None
    row = _release(NONE, "v1", tables={"nodes": 2, "chunks": 3}).row(0, named=True)
    assert (row["release_ix"], row["index_version"], row["index_path"]) == (0, "v1", "index/v1")
    assert json.loads(row["table_versions"]) == {"chunks": 3, "nodes": 2}
    assert json.loads(row["metrics"]) == {"dev:mrr": 0.5}, "figures of the full system over all questions only"
    assert (row["is_rolled_back"], row["released_at"]) == (False, NOW)


def test_nothing_changes_nothing_is_released() -> None:
    first = _release(NONE, "v1", tables={"nodes": 2, "chunks": 3})
    again = _release(first, "v1", tables={"chunks": 3, "nodes": 2}, days=1)
    assert again.equals(first)


@pytest.mark.parametrize(("version", "tables"), [("v2", {"nodes": 2}), ("v1", {"nodes": 3})])
def test_another_index_or_other_tables_are_another_release(version: str, tables: dict[str, int]) -> None:
    first = _release(NONE, "v1", tables={"nodes": 2})
    second = _release(first, version, tables=tables, days=1)
    assert second.height == 2
    assert second.head(1).equals(first)
    current = find_current(second)
    assert current is not None
    assert (current["release_ix"], current["index_version"]) == (1, version)


def test_what_was_rolled_back_is_not_current() -> None:
    both = _release(_release(NONE, "v1", tables={"nodes": 1}), "v2", tables={"nodes": 2}, days=1)
    back = roll_back(both)
    current = find_current(back)
    assert current is not None
    assert current["index_version"] == "v1"
    assert roll_back(back).equals(back), "the last release that stands is never withdrawn"


def test_after_a_rollback_the_same_index_is_released_again_under_a_new_number() -> None:
    both = _release(_release(NONE, "v1", tables={"nodes": 1}), "v2", tables={"nodes": 2}, days=1)
    third = _release(roll_back(both), "v2", tables={"nodes": 2}, days=2)
    assert third["release_ix"].to_list() == [0, 1, 2]
    current = find_current(third)
    assert current is not None
    assert (current["release_ix"], current["index_version"]) == (2, "v2")
