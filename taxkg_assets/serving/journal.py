"""Questions and judgments to be stored in the home: collected in memory, committed together from time to time.

A commit per question would cost more than the answer, and leave a table of a million files.
"""

from __future__ import annotations

import json
import logging
import threading
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import dataframely as dy

from taxkg_assets.defs.home.store import Store
from taxkg_assets.evaluation.feedback import build_feedback
from taxkg_assets.evaluation.query_log import build_query_log
from taxkg_assets.records import FeedbackRecord, QueryLogRecord
from taxkg_assets.retrieval.answering.answer import Answer
from taxkg_assets.retrieval.results import Result

FLUSH_SECONDS = 10.0
BATCH_ROWS = 500
"""Rows in memory that are committed without waiting for the clock."""
MOST_KEPT = 20 * BATCH_ROWS
"""Rows that wait for a home that cannot be written; beyond them the oldest go, so that the server's memory lasts."""

_log = logging.getLogger("taxkg.serving")

_BUILDERS: dict[str, Callable[[list[Any]], dy.DataFrame[Any]]] = {
    "query_log": build_query_log,
    "feedback": build_feedback,
}


class Journal:
    """The query log: queues rows from many threads for one writer thread, which commits them.

    `close` commits the rest.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[str, list[QueryLogRecord | FeedbackRecord]] = {name: [] for name in _BUILDERS}
        self._lock = threading.Lock()
        self._is_due = threading.Event()
        self._is_closed = False
        self._problem = ""
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def note_question(
        self,
        question: str,
        reply: Answer | list[Result],
        *,
        filters: Mapping[str, str | int | None],
        release_ix: int,
        seconds: float,
    ) -> str:
        """Log a question with its results.

        Args:
            question: The question.
            reply: Answer of `ask`, or results of `search`.
            filters: Filters of the request; None values are left out.
            release_ix: Release that was searched.
            seconds: Time to answer.

        Returns:
            Id of the entry, which feedback refers to.
        """
        entry_id = uuid.uuid4().hex
        answer = reply if isinstance(reply, Answer) else None
        results = reply.results if isinstance(reply, Answer) else reply
        row: QueryLogRecord = {
            "entry_id": entry_id,
            "kind": "search" if answer is None else "ask",
            "question": question,
            "filters": json.dumps({name: value for name, value in filters.items() if value is not None}),
            "route": results[0].via.route.model_dump_json() if results else "{}",
            "outcome": "" if answer is None else answer.outcome,
            "confidence": None if answer is None else answer.confidence,
            "documents": list(dict.fromkeys(row.document for row in results)),
            "release_ix": release_ix,
            "latency_ms": seconds * 1000,
            "received_at": datetime.now(UTC),
        }
        self._add("query_log", row)
        return entry_id

    def note_feedback(self, entry_id: str, *, is_helpful: bool, comment: str) -> None:
        """Log a user's judgment of an answer.

        Args:
            entry_id: Id of the answer's entry.
            is_helpful: Whether the answer helped.
            comment: Words of the user; may be empty.
        """
        row: FeedbackRecord = {
            "feedback_id": uuid.uuid4().hex,
            "entry_id": entry_id,
            "is_helpful": is_helpful,
            "comment": comment,
            "given_at": datetime.now(UTC),
        }
        self._add("feedback", row)

    def close(self) -> None:
        """Commit all queued rows and stop the writer thread."""
        self._is_closed = True
        self._is_due.set()
        self._thread.join()

    def _add(self, name: str, row: QueryLogRecord | FeedbackRecord) -> None:
        with self._lock:
            self._waiting[name].append(row)
            is_full = len(self._waiting[name]) % BATCH_ROWS == 0
        if is_full:
            self._is_due.set()

    def _work(self) -> None:
        while not self._is_closed:
            self._is_due.wait(FLUSH_SECONDS)
            self._is_due.clear()
            self._commit()
        self._commit()

    def _commit(self) -> None:
        for name, build in _BUILDERS.items():
            with self._lock:
                rows, self._waiting[name] = self._waiting[name], []
            if not rows:
                continue
            try:
                self._store.append(name, build(rows))
            except Exception as error:  # of whatever kind: the thread has to outlive it
                with self._lock:
                    self._waiting[name] = [*rows, *self._waiting[name]][-MOST_KEPT:]
                self._tell(f"{type(error).__name__}: {error}")
            else:
                self._tell("")

    def _tell(self, problem: str) -> None:
        """Log once what keeps the query log from being written."""
        if problem and problem != self._problem:
            _log.warning("The query log cannot be written; questions are kept in memory until it can: %s", problem)
        self._problem = problem
