"""Makes tables in the background whose inputs are final, while the build makes another table.

Dagster runs the steps of a build one after the other. On a large library a step runs in a process of its own, and the
second core is idle meanwhile. A table begins early if the steps of all its inputs are over, and all gates above it have
passed: by their checks, or by an early verdict. The build looks for such a table when a step begins or waits, and when
other background work is over. The table's own step then takes the finished table, or makes it if the inputs are others
than expected.

A table may also have a preparation, which fills the home's cache and decides no rows. It needs no gate, so it begins
once the inputs are written.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache

import dagster as dg

from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.defs.wiring.early_gates import EarlyGates, find_run
from taxkg_assets.defs.wiring.gates import find_ungated
from taxkg_assets.defs.wiring.io_manager import write_whole
from taxkg_assets.defs.wiring.output_rows import Written
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.step_process import StepDiedError, reads_much
from taxkg_assets.defs.wiring.table_processes import make_in_process, make_in_shares, prepare_in_process

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _EarlyTable:
    """A table that is made early.

    Attributes:
        made_from: Digest of all that its rows depend on.
        future: Work in the background that builds the table; it may not have started.
    """

    made_from: str
    future: Future[Written]


def begin_tables(home: Home, instance: dg.DagsterInstance, *, current_table: str) -> None:
    """Start evaluating gates and building tables in parallel with the current table.

    Args:
        home: Tables, files and settings of the home.
        instance: Dagster instance of the run.
        current_table: Table whose step begins.
    """
    if (run := find_run()) is None:
        return

    def begin() -> None:
        if _needs_all_memory(home, current_table):
            return
        left_out = run.finished | {current_table}
        waiting = [name for name in _order_by_chain() if name in run.tables and name not in left_out]
        for name in waiting:
            _prepare(run, home, name)
        for name in waiting:
            if run.background.is_free() and name not in run.early_tables and not _needs_all_memory(home, name):
                _begin(run, home, instance, name)

    with run.lock:
        run.begin_tables = begin
        run.begin()


@cache
def _order_by_chain() -> list[str]:
    """Return all tables, those with the longest chain of tables below them first: the build ends with that chain."""
    chains = dict[str, int]()
    for name in reversed(PIPELINE.order()):
        chains[name] = 1 + max((chains[below] for below in chains if name in PIPELINE.upstream(below)), default=0)
    return sorted(PIPELINE.order(), key=lambda name: -chains[name])


def _needs_all_memory(home: Home, name: str) -> bool:
    """Return whether a step does in a first build what is prepared in later ones: it gets the memory alone."""
    step = PIPELINE[name].step
    return step is not None and step.prepare is not None and not home.store.exists(name)


def _prepare(run: EarlyGates, home: Home, name: str) -> None:
    """Begin with the preparation of a table whose inputs are written; a first build leaves all work to its steps."""
    record = PIPELINE[name]
    if record.step is None or record.step.prepare is None or run.preparing is None or name in run.preparations:
        return
    is_ready = set(record.upstream) <= run.finished and home.store.exists(name)
    if is_ready and reads_much(home, record.step.builder.reads):
        run.preparations[name] = run.preparing.submit(prepare_in_process, home, name)


def wait_until_prepared(name: str) -> None:
    """Wait for the background preparation of a table, if one was started.

    If it failed, the step prepares the table itself.

    Args:
        name: Name of the table.
    """
    run = find_run()
    preparation = run.preparations.get(name) if run is not None else None
    if preparation is not None and not preparation.cancel() and (error := preparation.exception()) is not None:
        _LOG.warning("Preparing %s in the background failed, so its own step builds it: %s", name, error)


def _begin(run: EarlyGates, home: Home, instance: dg.DagsterInstance, name: str) -> None:
    record = PIPELINE[name]
    step = record.step
    if step is None or record.is_training or record.fingerprint is None:
        return
    if not set(record.upstream) <= run.finished or not reads_much(home, record.upstream):
        return
    unpassed_gates = find_ungated(instance, home.store, PIPELINE.ancestors(record.upstream))
    missing = [gate for gate in unpassed_gates if not run.has_passed(home, *gate.split(":"))]
    if missing:
        run.begin_missing(home, [gate.split(":") for gate in missing])
        return
    states = {input_name: home.store.state(input_name) for input_name in record.upstream}
    input_states: Mapping[str, TableState] = {
        input_name: state for input_name, state in states.items() if state is not None
    }
    state = home.store.state(name)
    made_from = record.fingerprint(home, input_states) if len(input_states) == len(states) else ""
    if not made_from or (state is not None and state.inputs == made_from):
        return

    def make() -> Written:
        wait_until_prepared(name)
        # Questions are evaluated once nearly all other tables are made: both cores are free for them.
        if step.divided_table and step.can_be_divided(home):
            rows = make_in_shares(home, name, input_states, made_from=made_from)
            result = write_whole(home.store, name, rows)
        else:
            result = make_in_process(home, name, input_states, made_from=made_from)
        run.begin_early(home, name)
        return result

    run.early_tables[name] = _EarlyTable(made_from, run.background.submit(make))


def take_table(name: str, *, made_from: str) -> Written | None:
    """Return a table that was built ahead of its step; None if the step must build it.

    Args:
        name: Name of the table.
        made_from: Digest of all that its rows depend on.

    Raises:
        Exception: What its builder raises.
    """
    if (run := find_run()) is None:
        return None
    early_table: _EarlyTable | None = run.early_tables.get(name)
    if early_table is None or early_table.future.cancel():
        return None
    try:
        result = run.background.wait(early_table.future)
    except StepDiedError:  # the step builds the table itself, with more memory
        return None
    return result if early_table.made_from == made_from else None
