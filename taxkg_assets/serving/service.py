"""What the servers offer: one object that follows the release and answers from it, whatever the protocol.

A reader always sees one release: a newer one is opened and warmed up aside, then takes over in one step. Answers are
kept in memory by release, so that a frequent question costs a look-up until the next release.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from cachetools import LRUCache

from taxkg_assets.defs.home.read_ahead import read_index_ahead
from taxkg_assets.graph.change_report import GROUPS, find_group
from taxkg_assets.retrieval.answering.answer import Answer
from taxkg_assets.retrieval.index.passage_index import LanceIndex
from taxkg_assets.retrieval.results import Result
from taxkg_assets.serving.boxes import find_box, list_boxes
from taxkg_assets.serving.diff import compare, resolve_revision_pair
from taxkg_assets.serving.drafts import DraftFile
from taxkg_assets.serving.evidence import draw_evidence, read_node
from taxkg_assets.serving.filters import check_filters
from taxkg_assets.serving.journal import Journal
from taxkg_assets.serving.lines import find_lines
from taxkg_assets.serving.quotes import answer_with_places
from taxkg_assets.serving.released import Released, open_release
from taxkg_assets.serving.replies import BoxRow, CellRow, ChangeRow, LineRow, NodeDetail, Served, Trace
from taxkg_assets.serving.same_text import note_same_text
from taxkg_assets.serving.tables import TableLookup
from taxkg_assets.serving.trace import trace
from taxkg_assets.serving.verify import Checker
from taxkg_assets.settings import Settings
from taxkg_assets.verification.verdicts import Report

T = TypeVar("T")

_log = logging.getLogger("taxkg.serving")

LOOK_SECONDS = 1.0
"""How often, at most, the service looks for a newer release."""

RETRY_SECONDS = 5.0
"""How soon it looks again after a release that could not be opened: opening one is work."""

UNREADABLE = (
    "The newest release cannot be read. The server keeps serving this one and tries again; its log has the cause."
)
"""What clients learn: the reason itself contains paths."""

WARM_UP = "How are ordinary dividends reported?"


@dataclass(slots=True)
class Counts:
    """Hits and misses of the answer cache."""

    hits: int = 0
    misses: int = 0


class Service:
    """One opened home that serves many readers at once."""

    def __init__(self, home: str, *, settings: Settings | None = None) -> None:
        self.home = home
        self.settings = settings or Settings()
        self.counts = Counts()
        self._answers: LRUCache[str, Any] = LRUCache(maxsize=max(1, self.settings.api_cached))
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._next_check = 0.0
        self._problem = ""
        self._tables: TableLookup | None = None
        self._checker: Checker | None = None
        self._current = self._open()
        self.journal = Journal(self._current.store) if self.settings.query_log else None

    @property
    def current(self) -> Released:
        """Return the release to serve, checking periodically for a newer one."""
        if time.monotonic() > self._next_check and self._opening.acquire(blocking=False):
            try:
                self._follow()
            finally:
                self._next_check = time.monotonic() + (RETRY_SECONDS if self._problem else LOOK_SECONDS)
                self._opening.release()
        return self._current

    def _follow(self) -> None:
        """Take over the newest release; one that cannot be had, for whatever reason, leaves the present one served."""
        try:
            if self._newest_ix() != self._current.row["release_ix"]:
                self._current = self._open()
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            if problem != self._problem:
                _log.warning(
                    "A newer release cannot be read, so release %s is still served: %s",
                    self._current.row["release_ix"],
                    problem,
                )
            self._problem = problem
        else:
            if self._problem:
                _log.warning("The home can be read again: release %s is now served", self._current.row["release_ix"])
            self._problem = ""

    @property
    def is_stale(self) -> bool:
        """Return whether the newest release could not be read at the last attempt."""
        return bool(self._problem)

    def search(self, question: str, *, k: int, level: str, **filters: Any) -> list[Result]:
        """Return ranked passages.

        Args:
            question: The user's question.
            k: Maximum number of results.
            level: Size of a passage: auto, document, page, section or paragraph.
            filters: `form`, `year` and `document`, each None if it does not restrict the search.

        Returns:
            Results, best first.
        """
        released = self.current
        check_filters(released, **filters)

        def search_index() -> list[Result]:
            return released.searcher.search(question, k=k, level=level, **filters)

        return self._answer_from_cache(released, "search", [question, k, level, filters], search_index)

    def ask(self, question: str, *, k: int, level: str = "auto", **filters: Any) -> Answer:
        """Return an answer with citations, guidance, or abstention.

        Args:
            question: The user's question.
            k: Maximum number of results, besides those that the answer cites.
            level: Size of a passage: auto, document, page, section or paragraph.
            filters: `form`, `year` and `document`, each None if it does not restrict the search.
        """
        released = self.current
        check_filters(released, **filters)

        def make_answer() -> Answer:
            answer = answer_with_places(released, question, settings=self.settings, k=k, level=level, **filters)
            return answer.model_copy(update={"results": note_same_text(answer.results, released)})

        return self._answer_from_cache(
            released, "ask", [question, k, level, filters], make_answer, can_be_cached=self._is_final
        )

    def find_cells(self, question: str, *, k: int = 3, document: str | None = None) -> list[CellRow]:
        """Return the table cells whose row and column headers match a question; empty if none do.

        Args:
            question: The user's question.
            k: Maximum number of results.
            document: Only this document.
        """
        released = self.current
        check_filters(released, document=document)
        lookup = self._tables_of(released)
        return self._answer_from_cache(
            released, "table", [question, k, document], lambda: lookup.find(question, k=k, document=document)
        )

    def _tables_of(self, released: Released) -> TableLookup:
        """Return the catalog of the release's tables, parsed once."""
        with self._lock:
            if self._tables is None or self._tables.released is not released:
                self._tables = TableLookup(released)
            return self._tables

    def find_box(self, form: str, key: str) -> list[BoxRow]:
        """Return a box in each revision with the passages about it; `BoxNotFoundError` lists existing boxes.

        Args:
            form: Form, e.g. 1099-DIV.
            key: Box, e.g. 2e.
        """
        released = self.current
        return self._answer_from_cache(released, "box", [form, key], lambda: find_box(released, form, key))

    def list_boxes(self, form: str) -> list[BoxRow]:
        """List the boxes of a form in each revision.

        Args:
            form: Form, e.g. 1099-DIV.

        Returns:
            Boxes, sorted by revision and key.

        Raises:
            BoxNotFoundError: No form with boxes has this name; the message lists them.
        """
        released = self.current
        return self._answer_from_cache(released, "boxes", [form], lambda: list_boxes(released, form))

    def find_line(self, form: str, key: str) -> list[LineRow]:
        """Return a numbered line in every revision of its form.

        Args:
            form: Form or schedule, e.g. 8960.
            key: Key, e.g. 5a, or with its part, e.g. "Part II 2".

        Raises:
            LineNotFoundError: There is no such line; the message lists the existing lines.
        """
        released = self.current
        return self._answer_from_cache(released, "line", [form, key], lambda: find_lines(released, [form, key]))

    def trace_line(self, form: str, key: str, revision: str = "") -> Trace:
        """Trace the flows of a line in both directions.

        Args:
            form: Form or schedule, e.g. 1099-DIV.
            key: Key, e.g. 1a.
            revision: Revision, its year, or document; the newest if empty.

        Returns:
            Flows by direction.

        Raises:
            LineNotFoundError: There is no such line; the message lists the existing lines.
        """
        released = self.current
        arguments = [form, key, revision]
        return self._answer_from_cache(
            released, "trace", arguments, lambda: trace(released, [form, key], revision=revision)
        )

    def compare(self, name: str, older: str = "", newer: str = "") -> list[ChangeRow]:
        """Return what changed between two revisions; `RevisionNotFoundError` lists existing revisions.

        Args:
            name: Form, or IRS name of a product.
            older: Older revision; empty for the two newest ones.
            newer: Newer revision.
        """
        released = self.current
        arguments = [name, older, newer]

        def find_changes() -> list[ChangeRow]:
            rows, _ = compare(released, *arguments)
            return [ChangeRow.model_validate({**row, "group": find_group(row)}) for row in rows]

        return self._answer_from_cache(released, "diff", arguments, find_changes)

    def find_compared_documents(self, name: str, older: str = "", newer: str = "") -> tuple[str, str]:
        """Return the ids of the older and the newer document that `compare` compares for these arguments.

        Args:
            name: Form, or IRS name of a product.
            older: Older revision; empty for the two newest ones.
            newer: Newer revision.
        """
        before, after = resolve_revision_pair(self.current.read("documents"), name, older=older, newer=newer)
        return before["document_id"], after["document_id"]

    def verify(self, draft: DraftFile) -> Report:
        """Check the claims and quotations of a draft; those beyond the time limit stay unchecked.

        Args:
            draft: Text or PDF to check.

        Returns:
            Result for each claim and quotation.
        """
        released = self.current
        with self._lock:
            if self._checker is None or self._checker.released is not released:
                self._checker = Checker(released)
            checker = self._checker
        return checker.check(draft, seconds=self.settings.api_draft_seconds)

    def list_changes(
        self, name: str, older: str = "", newer: str = "", *, routine: bool = False, key: str = ""
    ) -> list[ChangeRow]:
        """List what changed between two revisions, the most important kinds of change first.

        Args:
            name: Form or file stem, e.g. 1099-NEC.
            older: Older revision; if both are empty, the two newest ones are compared.
            newer: Newer revision.
            routine: Whether to include changes that need no action.
            key: Only changes of this box, line or code; all if empty.

        Returns:
            The changes in the order of a change report.

        Raises:
            RevisionNotFoundError: There is no such form or revision; the message lists the existing ones.
        """
        key_name = key.strip().lower().replace(" ", "_")
        rows = [
            row
            for row in self.compare(name, older, newer)
            if (routine or not row.is_routine)
            and (not key_name or row.key.lower() in (key_name, f"box_{key_name}", f"line_{key_name}"))
        ]
        order = [group for group, _ in GROUPS]
        return sorted(rows, key=lambda row: order.index(row.group))

    def read_node(self, node_id: str) -> NodeDetail:
        """Read a node in full with its relations.

        Args:
            node_id: Id of the node.

        Returns:
            The node.

        Raises:
            EvidenceNotFoundError: The release does not contain it.
        """
        return read_node(self.current, node_id)

    def draw_evidence(self, node_id: str, *, page: int | None = None, zoom: float = 2.0) -> bytes:
        """Return the page of a node as a PNG with its rectangles marked.

        Args:
            node_id: Id of the node.
            page: 1-based page; the first one of the node by default.
            zoom: Scale of the picture; 1 is 72 pixels per inch.
        """
        return draw_evidence(self.current, node_id, page=page, zoom=zoom)

    def describe(self) -> Served:
        """Return the served release with its models and documents, and why a newer release is not served."""
        released = self.current
        row = released.row
        return Served(
            status="stale" if self.is_stale else "ok",
            release=row["release_ix"],
            released_at=row["released_at"].isoformat(timespec="seconds"),
            model=row["model_name"],
            documents=released.table("documents").height,
            passages=released.searcher.index.height,
            problem=UNREADABLE if self.is_stale else "",
        )

    def _newest_ix(self) -> int:
        return int(open_release(self.home).row["release_ix"])

    def _open(self) -> Released:
        released = open_release(self.home)
        released.searcher.search(WARM_UP, k=1)
        if isinstance(released.searcher.index, LanceIndex):
            index_files = (released.store, released.row["index_path"])
            threading.Thread(target=read_index_ahead, args=index_files, name="read-ahead", daemon=True).start()
        released.table("documents")  # every filter reads it, also while the home cannot be read
        return released

    def _is_final(self, answer: Answer) -> bool:
        """Where a model words answers, one without its words may be due to an outage: the next asker tries again."""
        wants_model = self.current.searcher.proposer is not None and self.settings.llm_answers
        return not wants_model or answer.abstained or answer.created_by == "llm"

    def _answer_from_cache(
        self,
        released: Released,
        kind: str,
        arguments: list[Any],
        compute: Callable[[], T],
        *,
        can_be_cached: Callable[[T], bool] = lambda result: True,
    ) -> T:
        """Return the cached result for the same question and release, or else what `compute` finds."""
        key = json.dumps([released.row["release_ix"], kind, arguments], sort_keys=True, default=str)
        with self._lock:
            if key in self._answers:
                self.counts.hits += 1
                return cast(T, self._answers[key])
            self.counts.misses += 1
        result = compute()
        if self.settings.api_cached and can_be_cached(result):
            with self._lock:
                self._answers[key] = result
        return result
