"""Makes tables in the background whose inputs are final, while the build makes another table.

Dagster runs the steps of a build one after the other. On a large library a step runs in a process of its own, and the
second core is idle meanwhile. A table begins early if the steps of all its inputs are over and all gates above it have
passed. Its own step then takes the finished table, or makes it if the inputs are others than expected.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field

import dagster as dg

from taxkg_assets.defs.early_gates import begin_gates_of, list_over, submit_early
from taxkg_assets.defs.gates import find_ungated
from taxkg_assets.defs.io_manager import Written
from taxkg_assets.defs.registry import PIPELINE
from taxkg_assets.defs.resources import Home
from taxkg_assets.defs.step_process import StepDiedError, reads_much
from taxkg_assets.defs.store import TableState
from taxkg_assets.defs.table_step import make_in_process


@dataclass(frozen=True, slots=True)
class _Making:
    """A table that is made early.

    Attributes:
        made_from: Digest of all that its rows depend on.
        begun: Its making.
    """

    made_from: str
    begun: Future[Written]


@dataclass(frozen=True, slots=True)
class _Run:
    """One run.

    Attributes:
        tables: Tables that the run makes.
        makings: Tables that are made early, by name.
    """

    tables: Collection[str]
    makings: dict[str, _Making] = field(default_factory=dict)


_running: list[_Run] = []


@contextmanager
def early_tables(tables: Collection[str]) -> Iterator[None]:
    """Make tables early during one run of this process, inside `early_gates`.

    Args:
        tables: Names of the tables that the run makes.

    Yields:
        Nothing.
    """
    _running.append(_Run(tables))
    try:
        yield
    finally:
        _running.pop()


def begin_tables(home: Home, instance: dg.DagsterInstance, *, current: str) -> None:
    """Begin with the tables that can be made next to the current one.

    Args:
        home: The home.
        instance: Dagster instance of the run.
        current: Table whose step begins.
    """
    over = list_over()
    for run in _running[-1:]:
        for name in sorted(set(run.tables) & set(PIPELINE)):
            if name != current and name not in over and name not in run.makings:
                _begin(run, home, instance, name)


def _begin(run: _Run, home: Home, instance: dg.DagsterInstance, name: str) -> None:
    record = PIPELINE[name]
    step = record.step
    if step is None or step.dealt or record.is_training or record.fingerprint is None:
        return
    if not set(record.upstream) <= list_over() or not reads_much(home, step.maker.reads):
        return
    if find_ungated(instance, home.store, PIPELINE.ancestors(record.upstream)):
        return
    states = {above: home.store.state(above) for above in record.upstream}
    known: Mapping[str, TableState] = {above: state for above, state in states.items() if state is not None}
    state = home.store.state(name)
    made_from = record.fingerprint(home, known) if len(known) == len(states) else ""
    if not made_from or (state is not None and state.inputs == made_from):
        return

    def make() -> Written:
        written = make_in_process(home, name, known, made_from=made_from)
        begin_gates_of(home, name)
        return written

    begun = submit_early(make)
    if begun is not None:
        run.makings[name] = _Making(made_from, begun)


def take_table(name: str, *, made_from: str) -> Written | None:
    """Return a table that was made early; None if the step has to make it.

    Args:
        name: Name of the table.
        made_from: Digest of all that its rows depend on.

    Raises:
        Exception: What its builder raises.
    """
    making = _running[-1].makings.get(name) if _running else None
    if making is None or making.begun.cancel():
        return None
    try:
        written = making.begun.result()
    except StepDiedError:  # alone it has more memory
        return None
    return written if making.made_from == made_from else None
