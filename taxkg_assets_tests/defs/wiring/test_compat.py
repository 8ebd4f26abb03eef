"""Dagster's databases: one engine each, which holds no file open and sees what others write."""

from __future__ import annotations

import shutil
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage import sql
from dagster._core.storage.event_log import sql_event_log
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from sqlalchemy.pool import NullPool

from taxkg_assets.defs.wiring import compat
from taxkg_assets.defs.wiring.compat import reuse_engines


def _observe(folder: Path, count: int) -> int:
    """Observations of an asset in an instance of that folder, after N more."""
    folder.mkdir(exist_ok=True)
    with dg.DagsterInstance.local_temp(str(folder)) as instance:
        for _ in range(count):
            instance.report_runless_asset_event(dg.AssetMaterialization("penny"))
        found = instance.get_asset_records([dg.AssetKey("penny")])
        assert found[0].asset_entry.last_materialization is not None
        return len(instance.fetch_materializations(dg.AssetKey("penny"), limit=10).records)


def test_a_database_has_one_engine_that_keeps_no_connection(tmp_path: Path) -> None:
    reuse_engines()
    url = f"sqlite:///{tmp_path / 'one.db'}"
    engine = sqlite_event_log.create_engine(url, poolclass=NullPool)
    assert sqlite_event_log.create_engine(url, poolclass=NullPool) is engine
    assert sqlite_event_log.create_engine(f"{url}2", poolclass=NullPool) is not engine
    with engine.connect():
        pass
    pool = engine.pool
    assert isinstance(pool, NullPool)
    engine.dispose()
    assert engine.pool is pool, "it is not made again"


def test_a_database_that_is_made_again_in_the_same_place_is_read_again(tmp_path: Path) -> None:
    reuse_engines()
    home = tmp_path / "home"
    assert _observe(home, 2) == 2
    shutil.copytree(home, tmp_path / "copy")
    assert _observe(home, 1) == 3
    shutil.rmtree(home)
    assert _observe(home, 1) == 1
    shutil.rmtree(home)
    shutil.copytree(tmp_path / "copy", home)
    assert _observe(home, 0) == 2


def test_an_event_is_read_from_its_text_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reuse_engines()
    read: list[str] = []
    plain = compat.deserialize_value
    monkeypatch.setattr(compat, "deserialize_value", lambda stored, kind: read.append(stored) or plain(stored, kind))
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        for amount in (1, 2):
            instance.report_runless_asset_event(dg.AssetMaterialization("farthing", metadata={"amount": amount}))
            for _ in range(3):
                (found,) = instance.get_asset_records([dg.AssetKey("farthing")])
                assert found.asset_entry.last_materialization is not None
                made = found.asset_entry.last_materialization.asset_materialization
                assert made is not None
                assert made.metadata["amount"].value == amount
    assert len(read) == len(set(read)) >= 2


def test_migrations_are_read_once_for_each_kind_of_database() -> None:
    reuse_engines()
    config = sql.get_alembic_config(sqlite_event_log.__file__)
    scripts = sql.ScriptDirectory.from_config(config)
    assert sql.ScriptDirectory.from_config(config) is scripts
    assert scripts.get_current_head()
    assert sql_event_log.deserialize_value is compat._read_event
