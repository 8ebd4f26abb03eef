"""Fewer fsyncs for Dagster's SQLite databases: the event log of a build is some five hundred small commits.

Dagster opens a database again for each event and closes it again. In the mode in which it writes (WAL), a commit waits
for the disk, and so does the last connection that closes. Here commits go to the log without a wait, as SQLite's
documentation recommends for WAL, and a connection of our own stays open, so that no other is the last. If the machine
loses power, the last events may be lost; no database is damaged, and gates whose record is lost are evaluated again.

Source: SQLite, "PRAGMA synchronous" and "Write-Ahead Logging".
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

MAX_OPEN = 8
"""Databases that stay open: Dagster has one for each run, and a run writes to its own and to a few for all."""


@contextmanager
def reduce_fsyncs(folder: Path) -> Iterator[None]:
    """Reduce fsyncs of the SQLite databases in a folder to one per checkpoint instead of one per commit.

    Args:
        folder: Folder of databases in WAL mode.

    Yields:
        Nothing; connections that are opened meanwhile have `synchronous=NORMAL`.
    """
    kept: OrderedDict[str, sqlite3.Connection] = OrderedDict()
    lock = threading.Lock()
    below = folder.resolve()

    def on_connect(connection: Any, _record: Any) -> None:
        if not isinstance(connection, sqlite3.Connection):
            return
        path = connection.execute("PRAGMA database_list").fetchone()[2]
        if path not in kept and not (path and Path(path).is_relative_to(below) and _is_logged(connection)):
            return
        connection.execute("PRAGMA synchronous=NORMAL")
        with lock:
            if path not in kept:
                kept[path] = sqlite3.connect(path, check_same_thread=False)
                _is_logged(kept[path])  # a connection opens the database when it first reads
            kept.move_to_end(path)
            if len(kept) > MAX_OPEN:
                kept.popitem(last=False)[1].close()

    event.listen(Engine, "connect", on_connect)
    try:
        yield
    finally:
        event.remove(Engine, "connect", on_connect)
        for connection in kept.values():
            connection.close()


def _is_logged(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal")
