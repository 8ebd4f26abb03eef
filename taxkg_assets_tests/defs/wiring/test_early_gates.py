"""Gates that are evaluated next to the build say what they say in their turn, of the tables that lie there then."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl
import pytest

import taxkg_assets.definitions  # noqa: F401 - registers the tables and their gates
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring import early_gates, early_tables
from taxkg_assets.defs.wiring.early_gates import EarlyGates, evaluate_gates
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.step_process import run_in_process
from taxkg_assets.defs.wiring.table_processes import make_in_process
from taxkg_assets.defs.wiring.verdicts import Verdict
from taxkg_assets.serving.build import build

pytestmark = pytest.mark.slow

TEXT = "§ 9-101 Berths. A berth is let by the season.\n§ 9-102 Dues. Dues are paid in May.\n"
GATE = "nodes_form_trees"


def test_gates_evaluated_together_say_what_each_says(sample_home: Path) -> None:
    home = Home(home=str(sample_home))
    for table in ("elements", "edges", "index"):
        found = evaluate_gates(home.home, table, PIPELINE.gates(table))
        for name, said in found.items():
            assert not isinstance(said, Exception)
            alone, versions = PIPELINE[table].gates[name](home)
            assert said[1] == versions
            assert (said[0].passed, said[0].checked, said[0].figures) == (alone.passed, alone.checked, alone.figures)
            assert said[0].offending.equals(alone.offending)


def _begin_gates(monkeypatch: pytest.MonkeyPatch, said: Any, *, early: EarlyGates) -> None:
    """Begin the gates of `nodes`, evaluated in this process to what is given."""
    monkeypatch.setattr(early_gates, "run_in_process", lambda *_: said())
    monkeypatch.setattr(early_gates, "reads_much", lambda *_: True)
    early.written_tables["nodes"] = Home()
    early.begin()


@pytest.fixture
def early() -> Iterator[EarlyGates]:
    """A run that has begun nothing."""
    early = EarlyGates()
    with closing(early.background):
        yield early


def test_what_was_found_binds_for_its_own_versions_only(monkeypatch: pytest.MonkeyPatch, early: EarlyGates) -> None:
    verdict = Verdict(pl.DataFrame(), 3)
    _begin_gates(monkeypatch, lambda: {GATE: (verdict, {"nodes": 4})}, early=early)
    assert early.take("nodes", GATE, versions={"nodes": 4}) is verdict
    assert early.take("nodes", GATE, versions={"nodes": 5}) is None
    assert early.take("nodes", "another gate", versions={"nodes": 4}) is None
    assert early.take("edges", GATE, versions={"nodes": 4}) is None


@pytest.mark.parametrize(
    ("found", "has_passed"),
    [
        (lambda: (Verdict(pl.DataFrame(), 3), {"nodes": -1}), True),
        (lambda: (Verdict(pl.DataFrame(), 3), {"nodes": 4}), False),
        (lambda: (Verdict(pl.DataFrame({"row": [1]}), 3), {"nodes": -1}), False),
        (lambda: ValueError("broken law"), False),
    ],
)
def test_a_gate_has_passed_early_on_the_present_versions_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, early: EarlyGates, found: Any, has_passed: bool
) -> None:
    _begin_gates(monkeypatch, lambda: {GATE: found()}, early=early)
    early.background.wait(early.batches["nodes", GATE].future)
    assert early.has_passed(Home(home=str(tmp_path)), "nodes", GATE) is has_passed
    assert not early.has_passed(Home(home=str(tmp_path)), "nodes", "another gate")


def test_while_gates_of_a_table_are_evaluated_its_check_evaluates_others(
    monkeypatch: pytest.MonkeyPatch, early: EarlyGates
) -> None:
    verdict, others_are_over = Verdict(pl.DataFrame(), 3), Event()
    first, *_, last = PIPELINE.gates("nodes")
    queried: list[str] = []

    def evaluate(title: str, function: Any, home: str, table: str, names: list[str]) -> dict[str, Any]:
        if first in names:
            assert others_are_over.wait(60), "the check waits and evaluates nothing"
        queried.append(names[0])
        if last in names:
            others_are_over.set()
        return {name: (verdict, {"nodes": 4}) for name in names}

    monkeypatch.setattr(early_gates, "run_in_process", evaluate)
    monkeypatch.setattr(early_gates, "reads_much", lambda *_: True)
    early.written_tables["nodes"] = Home()
    early.begin()
    while not early.batches["nodes", first].future.running():
        pass
    assert early.take("nodes", first, versions={"nodes": 4}) is verdict
    assert early.has_passed(Home(), "nodes", last) is False, "evaluated, but of other versions"
    assert early.take("nodes", last, versions={"nodes": 4}) is verdict
    assert len(queried) == 2


def test_a_gate_that_crashes_crashes_its_check(monkeypatch: pytest.MonkeyPatch, early: EarlyGates) -> None:
    _begin_gates(monkeypatch, lambda: {GATE: ValueError("broken law")}, early=early)
    with pytest.raises(ValueError, match="broken law"):
        early.take("nodes", GATE, versions={"nodes": 4})


def test_a_check_does_not_wait_for_gates_that_have_not_begun(
    monkeypatch: pytest.MonkeyPatch, early: EarlyGates
) -> None:
    verdict, busy = Verdict(pl.DataFrame(), 3), Event()
    early.background.submit(lambda: busy.wait(60))
    _begin_gates(monkeypatch, lambda: {GATE: (verdict, {"nodes": 4})}, early=early)
    assert early.take("nodes", GATE, versions={"nodes": 4}) is verdict
    assert not busy.is_set()
    busy.set()


def test_a_build_with_processes_next_to_it_is_the_build(
    small_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added, other = tmp_path / "more", tmp_path / "other"
    added.mkdir()
    (added / "berths.txt").write_text(TEXT, encoding="utf8")
    shutil.copytree(small_home, other)
    alone = build(str(other), roots=[added])
    monkeypatch.setenv("TAXKG_STEP_PROCESS_ROWS", "0")
    begun: list[str] = []

    def run(title: str, *arguments: Any) -> Any:
        begun.append(title)
        return run_in_process(title, *arguments)

    making: list[str] = []

    def make_noted(home: Home, name: str, *arguments: Any, **named: Any) -> Any:
        making.append(name)
        return make_in_process(home, name, *arguments, **named)

    monkeypatch.setattr(early_tables, "make_in_process", make_noted)
    monkeypatch.setattr(early_gates, "run_in_process", run)
    next_to = build(str(small_home), roots=[added])
    assert {"the gates of elements", "the gates of edges", "the gates of index"} <= set(begun)
    assert making, "tables are made next to others"
    assert (next_to.is_done, sorted(next_to.built)) == (alone.is_done, sorted(alone.built))
    said = [{(g.table, g.check): (g.word, g.figures) for g in one.gates} for one in (next_to, alone)]
    assert said[0].keys() == said[1].keys()
    assert {key: word for key, (word, _) in said[0].items()} == {key: word for key, (word, _) in said[1].items()}
    for name in ("summaries", "nodes", "edges", "chunks", "eval_runs"):
        one, two = (Store(folder).state(name) for folder in (small_home, other))
        assert one is not None
        assert two is not None
        assert one.content == two.content


def test_a_batch_that_a_check_has_taken_over_is_not_evaluated_again(
    monkeypatch: pytest.MonkeyPatch, early: EarlyGates, tmp_path: Path
) -> None:
    busy, calls = Event(), list[str]()
    early.background.submit(lambda: busy.wait(60))
    _begin_gates(monkeypatch, lambda: calls.append("evaluated") or {}, early=early)
    batch = early.batches["nodes", GATE]
    assert batch.future.cancel(), "as a check does that evaluates it"
    assert not early.has_passed(Home(home=str(tmp_path)), "nodes", GATE)
    assert calls == []
    busy.set()
