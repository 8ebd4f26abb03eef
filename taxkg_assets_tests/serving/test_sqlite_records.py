"""Databases below a folder are written with few waits for the disk, and are complete for later readers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from taxkg_assets.serving.sqlite_records import MAX_OPEN, reduce_fsyncs

NORMAL, FULL = 1, 2


def _open(path: Path, *, is_logged: bool = True) -> tuple[int, bool]:
    """Write a row through an engine that keeps no connection; gives the mode of waiting and whether a log is left."""
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    with engine.connect() as connection:
        if is_logged:
            connection.execute(text("PRAGMA journal_mode=WAL"))
    with engine.connect() as connection, connection.begin():
        mode = connection.execute(text("PRAGMA synchronous")).scalar()
        connection.execute(text("CREATE TABLE IF NOT EXISTS events (id INTEGER)"))
        connection.execute(text("INSERT INTO events VALUES (1)"))
    return int(mode), path.with_name(f"{path.name}-wal").exists()


def test_below_the_folder_the_log_stays_open_until_the_end(tmp_path: Path) -> None:
    inside = tmp_path / "dagster"
    inside.mkdir()
    with reduce_fsyncs(inside):
        assert _open(inside / "runs.db") == (NORMAL, True)
        assert _open(inside / "runs.db") == (NORMAL, True)
        assert _open(tmp_path / "other.db") == (FULL, False)
        with closing(sqlite3.connect(inside / "runs.db")) as another:
            assert another.execute("SELECT count(*) FROM events").fetchone() == (2,)
    assert not list(tmp_path.rglob("*-wal"))
    with closing(sqlite3.connect(inside / "runs.db")) as after:
        assert after.execute("SELECT count(*) FROM events").fetchone() == (2,)


def test_only_a_few_databases_stay_open(tmp_path: Path) -> None:
    inside, next_to = tmp_path / "dagster", tmp_path / "dagster2"
    inside.mkdir()
    next_to.mkdir()
    with reduce_fsyncs(inside):
        for number in range(3 * MAX_OPEN):
            assert _open(inside / f"run{number}.db") == (NORMAL, True)
        assert len(list(inside.glob("*-wal"))) == MAX_OPEN
        assert _open(next_to / "other.db") == (FULL, False)
    assert not list(tmp_path.rglob("*-wal"))


def test_a_database_without_a_log_waits_as_before(tmp_path: Path) -> None:
    with reduce_fsyncs(tmp_path):
        assert _open(tmp_path / "plain.db", is_logged=False) == (FULL, False)


def test_nothing_is_changed_afterwards(tmp_path: Path) -> None:
    with pytest.raises(KeyError), reduce_fsyncs(tmp_path):
        raise KeyError
    assert _open(tmp_path / "runs.db") == (FULL, False)
