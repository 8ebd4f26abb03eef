"""Fewer fsyncs and openings of Dagster's SQLite databases: the event log of a build is some five hundred small commits.

Dagster opens a database again for each event and closes it again. In the mode in which it writes (WAL), a commit waits
for the disk, and so does the last connection that closes; and each opening reads the schema again. Here commits go to
the log without a wait, as SQLite's documentation recommends for WAL, and a connection that is closed stays open for the
next one who connects. If the machine loses power, the last events may be lost; no database is damaged, and gates whose
record is lost are evaluated again.

Source: SQLite, "PRAGMA synchronous" and "Write-Ahead Logging".
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

MAX_OPEN = 8
"""Databases that stay open: Dagster has one for each run, and a run writes to its own and to a few for all."""


class _Connection(sqlite3.Connection):
    """A connection that is given back instead of closed."""

    return_to_pool: Callable[[], None] | None = None
    """None closes it."""

    def close(self) -> None:
        """Give the connection back without a transaction; close one whose transaction cannot be ended."""
        if self.return_to_pool is not None:
            with suppress(sqlite3.Error):
                self.rollback()
                self.return_to_pool()
                return
        super().close()


class _OpenDatabases:
    """Connections to databases in WAL mode that are not in use at the moment, by path."""

    def __init__(self) -> None:
        self._free: OrderedDict[str, list[_Connection]] = OrderedDict()
        self._is_over = False
        self._lock = threading.Lock()

    def connect(self, path: str, **options: Any) -> _Connection:
        """Return a connection of its own for the caller, new only if no other is free."""
        with self._lock:
            if free_connections := self._free.get(path):
                self._free.move_to_end(path)
                return free_connections.pop()
        connection = sqlite3.connect(path, factory=_Connection, **{**options, "check_same_thread": False})
        if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.return_to_pool = partial(self._return_to_pool, path, connection)
        return connection

    def _return_to_pool(self, path: str, connection: _Connection) -> None:
        with self._lock:
            self._free.setdefault(path, []).append(connection)
            self._free.move_to_end(path)
            is_too_many = self._is_over or len(self._free) > MAX_OPEN
            unused = self._free.popitem(last=False)[1] if is_too_many else []
        _close(unused)

    def close(self) -> None:
        """Close what is free, and from now on what is given back."""
        with self._lock:
            self._is_over = True
            unused = [connection for free in self._free.values() for connection in free]
            self._free.clear()
        _close(unused)


def _close(connections: list[_Connection]) -> None:
    for connection in connections:
        connection.return_to_pool = None
        connection.close()


@contextmanager
def reduce_fsyncs(folder: Path) -> Iterator[None]:
    """Reduce fsyncs of the SQLite databases in a folder to one per checkpoint instead of one per commit.

    Args:
        folder: Folder of databases in WAL mode.

    Yields:
        Nothing; while the context is open, connections have `synchronous=NORMAL` and stay open for reuse.
    """
    databases = _OpenDatabases()
    resolved_folder = folder.resolve()
    is_in_folder: dict[str, bool] = {}

    def do_connect(dialect: Any, _record: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        if dialect.name != "sqlite":
            return None
        path = str(arguments[0])
        if path not in is_in_folder:
            is_in_folder[path] = Path(path).resolve().is_relative_to(resolved_folder)
        return databases.connect(path, **options) if is_in_folder[path] else None

    event.listen(Engine, "do_connect", do_connect)
    try:
        yield
    finally:
        event.remove(Engine, "do_connect", do_connect)
        databases.close()
