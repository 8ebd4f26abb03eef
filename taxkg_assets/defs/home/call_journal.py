"""The journal of calls: requests to models since the table `llm_calls` was written, with their cost.

A call is appended to a file in the home, flushed to the disk, as soon as it returns; the asset `llm_calls` takes the
file up. A process killed in between loses nothing, and parallel processes see its calls: look-ups read both.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from taxkg_assets.defs.home.store import Store
from taxkg_assets.llm.budget import Prices
from taxkg_assets.llm.llm_calls import Call

JOURNAL = "llm_calls.jsonl"
SPENDER = "spender"
_CALL = TypeAdapter(Call)


class BudgetScope(StrEnum):
    """Who causes a model call (build, training or readers); each has its own budget."""

    BUILD = "build"
    TRAINING = "training"
    READER = "reader"


class Tail:
    """Reads the new lines of a file that other processes append to; after a truncation, it starts at the beginning."""

    def __init__(self, path: Path) -> None:
        self._path, self._end = path, 0

    @property
    def is_cut(self) -> bool:
        """Return whether the file was truncated since the last read."""
        return self._size < self._end

    @property
    def _size(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0

    def read(self) -> Iterator[bytes]:
        """Return the complete lines that were appended since the last read.

        Returns:
            Lines without their line feeds.
        """
        if self.is_cut:
            self._end = 0
        if self._size == self._end:
            return
        with self._path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            file.seek(self._end)
            lines, newline, _ = file.read().rpartition(b"\n")
        self._end += len(lines) + len(newline)
        yield from lines.split(b"\n")


class Journal:
    """The recorded model calls of a home: the table `llm_calls`, and a file of later calls."""

    def __init__(self, store: Store, *, spender: BudgetScope = BudgetScope.BUILD) -> None:
        self._store, self._spender = store, spender
        self._path = store.home / "cache" / JOURNAL
        self._lock = threading.Lock()
        self._calls_by_id: dict[str, Call] | None = None
        self._tail = Tail(self._path)

    def find(self, call_id: str) -> Call | None:
        """Return the recorded call with this content; None if this home has none.

        Args:
            call_id: Hash of the content of the call.
        """
        with self._lock:
            if self._calls_by_id is None:
                table = self._store.read_or_empty("llm_calls").iter_rows(named=True)
                self._calls_by_id = {row["call_id"]: Call(**row) for row in table}
            for line in self._tail.read():
                if call := read_call(line):
                    self._calls_by_id.setdefault(call.call_id, call)
            return self._calls_by_id.get(call_id)

    def record(self, call: Call) -> None:
        """Append a call to the file and flush it to the disk.

        Args:
            call: The call, with request and reply.
        """
        row = {**asdict(call), "called_at": call.called_at.isoformat(), SPENDER: self._spender}
        line = json.dumps(row, ensure_ascii=False)
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                # A killed writer may have left an incomplete line. Another process may have emptied the file during the
                # wait for the lock, so its present size counts, not the size when it was opened.
                is_torn = os.fstat(file.fileno()).st_size > 0 and _last_byte(self._path) != b"\n"
                file.write((b"\n" if is_torn else b"") + line.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

    def read(self) -> list[Call]:
        """Return the calls of the file, skipping an incomplete line of a killed process."""
        if not self._path.exists():
            return []
        calls = (read_call(line) for line in self._path.read_bytes().split(b"\n"))
        return [call for call in calls if call is not None]

    def forget(self, recorded_ids: set[str]) -> None:
        """Remove from the file the calls that the table already contains.

        Args:
            recorded_ids: Ids of the calls in the table `llm_calls`.
        """
        if not self._path.exists():
            return
        with self._lock, self._path.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            calls = [(line, read_call(line)) for line in file.read().split(b"\n")]
            remaining_lines = [line for line, call in calls if call is not None and call.call_id not in recorded_ids]
            file.seek(0)
            file.write(b"".join(line + b"\n" for line in remaining_lines))
            file.truncate()
            os.fsync(file.fileno())


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def read_call(line: bytes) -> Call | None:
    """Parse a line as a recorded call; None where it is incomplete.

    Args:
        line: Line of the journal, without its line feed.
    """
    try:
        return _CALL.validate_json(line.decode("utf8", errors="replace"), strict=True)
    except ValidationError:
        return None


class UsageReader:
    """Counts what one kind of caller has spent in a home, from calls that the table does not contain yet."""

    def __init__(self, store: Store, *, spender: BudgetScope, prices: Prices, since: datetime | None = None) -> None:
        self._store, self._spender, self._prices, self._since = store, spender, prices, since
        self._tail = Tail(store.home / "cache" / JOURNAL)
        self._lock = threading.Lock()
        self._recorded_ids: set[str] | None = None
        self._tokens, self._usd = 0, 0.0

    def read(self) -> tuple[int, float]:
        """Return the tokens and dollars spent so far by all processes."""
        with self._lock:
            # Calls that the table has are not counted again; a shorter journal was moved into the table.
            if self._recorded_ids is None or self._tail.is_cut:
                self._recorded_ids = set(self._store.read_or_empty("llm_calls")["call_id"])
                self._tokens, self._usd = 0, 0.0
            for line in self._tail.read():
                self._add(line, recorded=self._recorded_ids)
            return self._tokens, self._usd

    def _add(self, line: bytes, *, recorded: set[str]) -> None:
        call = read_call(line)
        if call is None or call.call_id in recorded:
            return
        if json.loads(line).get(SPENDER, BudgetScope.BUILD) != self._spender:
            return
        if self._since is not None and call.called_at < self._since:
            return
        price = self._prices.find(call.model)
        cost = call.cost_usd if price is None else price.cost(call.input_tokens, call.output_tokens)
        self._tokens += call.input_tokens + call.output_tokens
        self._usd += cost or 0.0
