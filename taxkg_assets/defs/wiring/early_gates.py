"""Evaluates gates in the background while the build continues: the gates of a table start once it is written.

A gate still takes effect when its check runs. The check uses the early verdict if it is for the same table versions.
If a check comes before its batch has started, the check evaluates the batch itself. `early_tables.py` builds tables in
the same background, while no gate waits there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from taxkg_assets.defs.wiring.background import BackgroundWork
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.step_process import SHARES, make_portable, reads_much, run_in_process
from taxkg_assets.defs.wiring.verdicts import Verdict

GateResult = tuple[Verdict, dict[str, int]] | Exception
"""The verdict of a gate with the versions of its tables, or how it failed."""


@dataclass(slots=True)
class _Batch:
    """Gates of one table that are evaluated together.

    Attributes:
        evaluate: Function that evaluates the gates.
        future: Evaluation in the background, which may still wait in the queue.
        results: Results by gate; None until they are known.
    """

    evaluate: Callable[[], Mapping[str, GateResult]]
    future: Future[Mapping[str, GateResult]]
    results: Mapping[str, GateResult] | None = None

    def is_over(self) -> bool:
        """Return whether the gates were evaluated; a batch that a check took over is canceled until it has results."""
        if self.results is not None:
            return True
        try:
            self.future.exception(timeout=0)
        except Exception:  # the batch still runs, or a check has taken it over
            return False
        return True

    def wait(self, background: BackgroundWork) -> Mapping[str, GateResult]:
        """Return the verdicts, evaluating gates here that have not started."""
        if self.results is None:
            self.results = self.evaluate() if self.future.cancel() else background.wait(self.future)
        return self.results


@dataclass(slots=True)
class EarlyGates:
    """The gates of one run that are evaluated in the background before their steps."""

    background: BackgroundWork = field(init=False)
    written_tables: dict[str, Home] = field(default_factory=dict)
    """Home of each table that was written since the last call of `begin`."""
    batches: dict[tuple[str, str], _Batch] = field(default_factory=dict)
    """Batch by table and gate."""
    begun_tables: set[str] = field(default_factory=set)
    """Tables whose gates began before the table's own step was over."""
    finished: set[str] = field(default_factory=set)
    """Tables whose steps have ended: their rows are final for this run."""
    tables: Collection[str] = ()
    """Tables that the run makes."""
    early_tables: dict[str, Any] = field(default_factory=dict)
    """What `early_tables.py` makes early, by table."""
    preparing: ThreadPoolExecutor | None = None
    """Where `early_tables.py` prepares tables: next to gates, which may take longer."""
    preparations: dict[str, Future[None]] = field(default_factory=dict)
    begin_tables: Callable[[], None] | None = None
    """Starts the tables that can be built now; `early_tables.py` sets it."""
    lock: RLock = field(default_factory=RLock)
    """Taken while background work is chosen: by the build's own step, or by the thread of work that is over."""

    def __post_init__(self) -> None:
        self.background = BackgroundWork(when_free=self.begin)

    def begin(self) -> None:
        """Start evaluating the gates of all tables written since the last call, then tables that can be built now."""
        with self.lock:
            while self.written_tables:
                table, home = self.written_tables.popitem()
                if table in self.begun_tables:  # `begin_early` has started its gates
                    self.begun_tables.discard(table)
                else:
                    self._begin_table(home, table)
            if self.begin_tables is not None:
                self.begin_tables()

    def begin_early(self, home: Home, table: str) -> None:
        """Start evaluating the gates of a table that was written ahead of its step.

        Args:
            home: Tables, files and settings of the home.
            table: Name of the table.
        """
        self.begun_tables.add(table)
        self._begin_table(home, table)

    def begin_missing(self, home: Home, gates: Iterable[Sequence[str]]) -> None:
        """Start evaluating gates that a table waits for, unless their evaluation has been started.

        Args:
            home: Tables, files and settings of the home.
            gates: Table, whose step is over, and name of each gate.
        """
        names_by_table: dict[str, list[str]] = {}
        for table, name in gates:
            if (table, name) not in self.batches:
                names_by_table.setdefault(table, []).append(name)
        for table, names in names_by_table.items():
            self._begin_batches(home, table, names)

    def _begin_table(self, home: Home, table: str) -> None:
        names = PIPELINE.gates(table)
        if names and reads_much(home, PIPELINE[table].gated):
            self._begin_batches(home, table, names)

    def _begin_batches(self, home: Home, table: str, names: Sequence[str]) -> None:
        batch_size = math.ceil(len(names) / SHARES)
        for first in range(0, len(names), batch_size):
            self._begin(home, table, names[first : first + batch_size])

    def _begin(self, home: Home, table: str, names: Sequence[str]) -> None:
        def evaluate() -> Mapping[str, GateResult]:
            return run_in_process(f"the gates of {table}", evaluate_gates, home.home, table, names)

        batch = _Batch(evaluate, self.background.submit(evaluate))
        self.batches |= {(table, name): batch for name in names}

    def has_passed(self, home: Home, table: str, name: str) -> bool:
        """Return whether a gate was evaluated early and passed on the current versions.

        Args:
            home: Tables, files and settings of the home.
            table: Table of the gate.
            name: Name of the gate.
        """
        batch = self.batches.get((table, name))
        if batch is None or not batch.is_over():
            return False
        try:
            result = batch.wait(self.background)[name]
        except Exception:  # the check of the gate runs again, and reports what is wrong
            return False
        if isinstance(result, Exception):
            return False
        verdict, versions = result
        return verdict.passed and all(
            home.store.version(read_table) == version for read_table, version in versions.items()
        )

    def evaluate_next(self, table: str, *, running: _Batch) -> None:
        """Evaluate in this thread one batch of a table's gates that waits in the queue, while another batch runs.

        Args:
            table: Table of the gates.
            running: Batch that is being evaluated in the background.
        """
        for name in PIPELINE.gates(table):
            batch = self.batches.get((table, name))
            # `cancel` succeeds only for a batch that has not started.
            if batch is not None and batch is not running and batch.results is None and batch.future.cancel():
                batch.results = batch.evaluate()
                return

    def take(self, table: str, name: str, *, versions: Mapping[str, int]) -> Verdict | None:
        """Return the early verdict of a gate, waiting for it if needed; None if there is none on these versions.

        Args:
            table: Table of the gate.
            name: Name of the gate.
            versions: Present versions of the tables that the gate reads.

        Raises:
            Exception: The error that the gate raised in the background.
        """
        batch = self.batches.get((table, name))
        if batch is not None and batch.future.running():
            self.evaluate_next(table, running=batch)
        result = batch.wait(self.background)[name] if batch is not None else None
        if isinstance(result, Exception):
            raise result
        return result[0] if result is not None and result[1] == dict(versions) else None


_running: list[EarlyGates] = []


@contextmanager
def early_gates(tables: Collection[str] = ()) -> Iterator[None]:
    """Evaluate gates and build tables in the background during one run, ahead of their steps.

    Args:
        tables: Names of the tables that the run makes.

    Yields:
        Nothing; at the end, running work is completed and queued work is dropped.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="preparations") as preparing:
        run = EarlyGates(tables=tables, preparing=preparing)
        _running.append(run)
        try:
            yield
        finally:
            _running.pop()
            run.background.close()
            preparing.shutdown(cancel_futures=True)


def record_output(home: Home, table: str, *, is_changed: bool) -> None:
    """Record that a table is final in this run, so that its gates start with the next step.

    Args:
        home: Tables, files and settings of the home.
        table: Name of the table.
        is_changed: Whether the table was written.
    """
    if _running:
        _running[-1].finished.add(table)
        if is_changed:
            _running[-1].written_tables[table] = home


def find_run() -> EarlyGates | None:
    """Return the background work of the current run; None outside a run."""
    return _running[-1] if _running else None


def begin_gates() -> None:
    """Start the gates of all tables written so far, at the beginning of a step."""
    if _running:
        _running[-1].begin()


def take_verdict(table: str, name: str, *, versions: Mapping[str, int]) -> Verdict | None:
    """Return the early verdict of a gate on given table versions; None if there is none.

    Args:
        table: Table that the gate checks.
        name: Name of the gate.
        versions: Versions of all tables that the gate reads.
    """
    return _running[-1].take(table, name, versions=versions) if _running else None


def evaluate_gates(home_name: str, table: str, names: Sequence[str]) -> dict[str, GateResult]:
    """Evaluate gates of a table, reading each table that they need once.

    Args:
        home_name: Folder or bucket of the home.
        table: Table of the gates.
        names: Names of the gates.

    Returns:
        By gate, its verdict with the versions of the tables that it read, or the error that it raised.
    """
    home = Home(home=home_name)
    frames = dict[tuple[str, int], Any]()
    verdicts = dict[str, GateResult]()
    for name in names:
        try:
            verdicts[name] = PIPELINE[table].gates[name](home, frames)
        except Exception as error:
            verdicts[name] = make_portable(error)
    return verdicts
