"""The UI calls a table unsynced only where a build is due: what is current is shown as current after each build."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from taxkg_assets.definitions import defs
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.provenance import find_unsynced
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.serving.build import build
from taxkg_assets.serving.instance import open_instance

pytestmark = pytest.mark.slow

READS_MODEL = {"embeddings", "eval_report", "eval_runs", "index"}


def _list_stale(instance: dg.DagsterInstance) -> set[str]:
    """The tables of a build that the UI calls unsynced."""
    graph = defs.resolve_asset_graph()
    resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
    keys = [dg.AssetKey(name) for name in PIPELINE.built()]
    unpartitioned = [key for key in keys if not graph.get(key).is_partitioned]
    return {key.to_user_string() for key in unpartitioned if resolver.get_status(key) == StaleStatus.STALE}


def _report_training(instance: dg.DagsterInstance, version: str) -> None:
    """Record what a training records that promotes no model: new rows of the table, no other model in use."""
    tags = {"dagster/data_version": version}
    instance.report_runless_asset_event(dg.AssetMaterialization("model", tags=tags))


def test_a_build_after_a_training_without_promotion_leaves_nothing_unsynced(small_home: Path) -> None:
    store = Store(str(small_home))
    assert build(str(small_home)).is_done
    with open_instance(store) as instance:
        assert _list_stale(instance) == set()
        _report_training(instance, "first")
        assert _list_stale(instance) == READS_MODEL, "no build has looked at the new model yet"
        assert set(find_unsynced(instance)) == READS_MODEL
    versions = {name: store.version(name) for name in READS_MODEL}
    result = build(str(small_home))
    assert result.is_done
    assert not result.built
    assert len(result.unchanged) == len(set(result.unchanged))
    assert versions == {name: store.version(name) for name in READS_MODEL}
    with open_instance(store) as instance:
        assert _list_stale(instance) == set()
        _report_training(instance, "second")
        assert _list_stale(instance) == READS_MODEL
    runs_before = build(str(small_home)).run_ids
    assert runs_before
    assert not build(str(small_home)).run_ids, "then there is nothing to record"
