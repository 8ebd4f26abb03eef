"""Tables that are made next to others: taken by their own step if their inputs are the expected ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import dagster as dg
import polars as pl
import pytest

import taxkg_assets.definitions  # noqa: F401 - registers the tables and their gates
from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.defs.wiring import early_gates as early_gates_module
from taxkg_assets.defs.wiring import early_tables
from taxkg_assets.defs.wiring.background import BackgroundWork
from taxkg_assets.defs.wiring.early_gates import EarlyGates, early_gates, find_run, record_output
from taxkg_assets.defs.wiring.early_tables import begin_tables, take_table, wait_until_prepared
from taxkg_assets.defs.wiring.output_rows import WholeTable, Written
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.step_process import StepDiedError
from taxkg_assets.defs.wiring.verdicts import Verdict

WRITTEN = Written("content", {"unchanged": False})


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A run in which every input of `nodes` is final; the names of the tables that are made early are appended."""
    made: list[str] = []

    def make(home: Home, name: str, states: Any, *, made_from: str) -> Written:
        made.append(name)
        return WRITTEN

    monkeypatch.setattr(early_tables, "make_in_process", make)
    monkeypatch.setattr(early_tables, "reads_much", lambda *_: True)
    monkeypatch.setattr(early_tables, "find_ungated", lambda *_: {})
    monkeypatch.setattr(EarlyGates, "begin_early", lambda *_: None)
    monkeypatch.setattr(PIPELINE["nodes"], "fingerprint", lambda home, states: "from these")
    monkeypatch.setattr(
        "taxkg_assets.defs.home.store.Store.state", lambda store, name: TableState(1, "rows", "from others", {})
    )
    with early_gates({"nodes", "edges"}):
        for name in PIPELINE.upstream("nodes"):
            record_output(Home(), name, is_changed=False)
        yield made


def _background() -> BackgroundWork:
    run = find_run()
    assert run is not None
    return run.background


def _begin(tmp_path: Path, *, current: str = "summaries") -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        begin_tables(Home(home=str(tmp_path)), instance, current_table=current)


def test_a_table_is_made_early_once_and_taken_for_its_inputs_only(run: list[str], tmp_path: Path) -> None:
    _begin(tmp_path)
    _begin(tmp_path)
    assert take_table("nodes", made_from="from these") is WRITTEN
    assert run == ["nodes"], "`edges` waits for `nodes`"
    assert take_table("nodes", made_from="from others") is None
    assert take_table("edges", made_from="from these") is None


def test_a_table_that_can_be_divided_is_made_early_by_several_processes(
    run: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    divided: list[str] = []

    def make_shares(home: Home, name: str, states: Any, *, made_from: str) -> WholeTable:
        divided.append(name)
        return WholeTable(pl.DataFrame(), made_from)

    step = PIPELINE["nodes"].step
    assert step is not None
    monkeypatch.setattr(PIPELINE["nodes"], "step", replace(step, divided_table="documents"))
    monkeypatch.setattr(early_tables, "make_in_shares", make_shares)
    monkeypatch.setattr(early_tables, "write_whole", lambda store, name, rows: WRITTEN)
    _begin(tmp_path)
    assert take_table("nodes", made_from="from these") is WRITTEN
    assert (divided, run) == (["nodes"], [])


def test_a_table_below_a_gate_that_has_not_passed_is_not_made_early(
    run: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    monkeypatch.setattr(early_tables, "find_ungated", lambda *_: {"sections:gate": "has failed"})
    monkeypatch.setattr(EarlyGates, "begin_missing", lambda run, home, gates: begun.extend(table for table, _ in gates))
    _begin(tmp_path)
    assert take_table("nodes", made_from="from these") is None
    assert (run, begun) == ([], ["sections"])
    monkeypatch.setattr(EarlyGates, "has_passed", lambda run, home, *gate: gate == ("sections", "gate"))
    _begin(tmp_path)
    assert take_table("nodes", made_from="from these") is WRITTEN, "an early verdict is enough"


def test_a_step_does_not_wait_for_a_table_that_has_not_begun(run: list[str], tmp_path: Path) -> None:
    busy = Event()
    _background().submit(lambda: busy.wait(60))
    _begin(tmp_path)
    assert take_table("nodes", made_from="from these") is None
    assert run == []
    busy.set()


def test_a_table_begins_when_work_before_it_is_over(run: list[str], tmp_path: Path) -> None:
    busy = Event()
    before = _background().submit(lambda: busy.wait(60))
    _begin(tmp_path)
    busy.set()
    assert before.result()
    _wait_until(lambda: bool(run))
    _wait_until(lambda: take_table("nodes", made_from="from these") is WRITTEN)  # it begins before it is registered


def test_a_table_begins_while_the_step_waits(run: list[str], tmp_path: Path) -> None:
    busy = Event()
    before = _background().submit(lambda: busy.wait(60))
    _begin(tmp_path)
    step = Thread(target=_background().wait, args=[before])
    step.start()
    _wait_until(lambda: run == ["nodes"])
    assert not before.done()
    busy.set()
    step.join()


def test_gates_that_read_few_rows_are_evaluated_for_a_table_that_could_begin(
    run: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = PIPELINE.gates("lines")[0]
    passed = {name: (Verdict(pl.DataFrame(), 1), {}) for name in PIPELINE.gates("lines")}
    monkeypatch.setattr(early_gates_module, "run_in_process", lambda *_: passed)
    monkeypatch.setattr(early_tables, "find_ungated", lambda *_: {f"lines:{gate}": "has not been run"})
    _begin(tmp_path)
    _wait_until(lambda: run == ["nodes"])


def _wait_until(is_true: Callable[[], bool]) -> None:
    end = monotonic() + 60
    while not is_true() and monotonic() < end:
        sleep(0.01)
    assert is_true()


@pytest.mark.parametrize(("failure", "is_raised"), [(ValueError("broken law"), True), (StepDiedError("killed"), False)])
def test_a_builder_that_fails_fails_its_step_but_a_lack_of_memory_does_not(
    run: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception, is_raised: bool
) -> None:
    def fail(*_: Any, **__: Any) -> Written:
        raise failure

    monkeypatch.setattr(early_tables, "make_in_process", fail)
    _begin(tmp_path)
    if is_raised:
        with pytest.raises(ValueError, match="broken law"):
            take_table("nodes", made_from="from these")
    else:
        assert take_table("nodes", made_from="from these") is None


def _prepare(monkeypatch: pytest.MonkeyPatch, work: Callable[[], None]) -> None:
    step = PIPELINE["nodes"].step
    assert step is not None
    monkeypatch.setattr(PIPELINE["nodes"], "step", replace(step, prepare=lambda home: None))
    monkeypatch.setattr(early_tables, "prepare_in_process", lambda home, name: work())
    monkeypatch.setattr("taxkg_assets.defs.home.store.Store.exists", lambda store, name: True)


def test_a_preparation_begins_once_and_needs_no_gate(
    run: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[str] = []
    _prepare(monkeypatch, lambda: prepared.append("nodes"))
    monkeypatch.setattr(early_tables, "find_ungated", lambda *_: {"sections:gate": "has failed"})
    monkeypatch.setattr(EarlyGates, "begin_missing", lambda *_: None)
    _begin(tmp_path)
    _begin(tmp_path)
    wait_until_prepared("nodes")
    wait_until_prepared("edges")
    assert (prepared, run) == (["nodes"], [])


def test_a_table_that_does_not_exist_yet_is_not_prepared(
    run: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[str] = []
    _prepare(monkeypatch, lambda: prepared.append("nodes"))
    monkeypatch.setattr("taxkg_assets.defs.home.store.Store.exists", lambda store, name: False)
    _begin(tmp_path)
    wait_until_prepared("nodes")
    assert prepared == []


def test_a_first_build_makes_nothing_next_to_a_step_that_later_ones_prepare(run: list[str], tmp_path: Path) -> None:
    _begin(tmp_path, current="embeddings")
    assert take_table("nodes", made_from="from these") is None
    assert run == []


def test_a_preparation_that_fails_costs_time_alone(
    run: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise StepDiedError("killed")

    _prepare(monkeypatch, fail)
    _begin(tmp_path)
    wait_until_prepared("nodes")
    assert "Preparing nodes in the background failed, so its own step builds it: killed" in caplog.text
    assert take_table("nodes", made_from="from these") is WRITTEN
