"""Steps that run in a process of their own: results, errors, progress, and what becomes of a child that is lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from taxkg_assets.defs.wiring.progress import listening, stage_progress
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.step_process import SHARES, StepDiedError, reads_much, run_in_process, run_shares
from taxkg_assets.settings import Settings
from taxkg_assets.sources.scan import MissingSourceError

pytestmark = pytest.mark.slow


class Heard:
    """A listener that records what it receives."""

    def __init__(self) -> None:
        self.events: list[tuple[object, ...]] = []

    def set_progress(self, stage: str, done: int, total: int) -> None:
        self.events.append(("set_progress", stage, done, total))

    def start(self, stage: str, total: int) -> None:
        self.events.append(("start", stage, total))

    def advance(self, stage: str, count: int = 1) -> None:
        self.events.append(("advance", stage, count))

    def estimate(self, stage: str, pages: int, seconds_left: float) -> None:
        self.events.append(("estimate", stage, pages, seconds_left))

    def finish(self, stage: str) -> None:
        self.events.append(("finish", stage))


def work(texts: list[str]) -> tuple[int, str, int]:
    with stage_progress("embeddings", len(texts)) as progress:
        progress.set_progress("embeddings", 1, len(texts))
        progress.advance("embeddings")
        progress.estimate("embeddings", 3, 1.5)
    return os.getpid(), os.environ["TAXKG_TEST_MARK"], len(texts)


def fail() -> None:
    raise MissingSourceError("There is no folder of this name: name another.")


def fail_with_what_cannot_be_sent() -> None:
    error = ValueError("broken")
    error.handle = lambda: None  # type: ignore[attr-defined]
    raise error


def be_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def wait_long(path: str) -> None:
    Path(path).write_text(str(os.getpid()), encoding="utf8")
    time.sleep(600)


def test_a_step_runs_elsewhere_and_is_heard_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAXKG_TEST_MARK", "of today")
    heard = Heard()
    with listening(heard):
        pid, mark, count = run_in_process("the test", work, ["a", "b"])
    assert pid != os.getpid()
    assert (mark, count) == ("of today", 2)
    assert heard.events == [
        ("start", "embeddings", 2),
        ("set_progress", "embeddings", 1, 2),
        ("advance", "embeddings", 1),
        ("estimate", "embeddings", 3, 1.5),
        ("finish", "embeddings"),
    ]


def take_share(texts: list[str], number: int, shares: int) -> tuple[int, list[str]]:
    return os.getpid(), texts[number::shares]


def test_shares_are_worked_on_in_processes_of_their_own_and_come_in_order() -> None:
    done = run_shares("the test", take_share, ["a", "b", "c"])
    assert [own for _, own in done] == [["a", "b", "c"][number::SHARES] for number in range(SHARES)]
    assert len({pid for pid, _ in done} | {os.getpid()}) == SHARES + 1


def test_an_error_is_raised_as_it_was() -> None:
    with pytest.raises(MissingSourceError, match="name another"):
        run_in_process("the test", fail)
    with pytest.raises(RuntimeError, match="ValueError: broken"):
        run_in_process("the test", fail_with_what_cannot_be_sent)


def test_a_killed_step_is_named_with_a_remedy() -> None:
    with pytest.raises(StepDiedError, match=r"process of the table nodes ended .* Free memory and build again"):
        run_in_process("the table nodes", be_killed)


def test_a_step_ends_with_the_process_that_waits_for_it(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    code = (
        "from taxkg_assets.defs.wiring.step_process import run_in_process\n"
        "from taxkg_assets_tests.defs.wiring.test_step_process import wait_long\n"
        f"run_in_process('the test', wait_long, {str(noted)!r})\n"
    )
    waiting = subprocess.Popen([sys.executable, "-c", code])
    try:
        deadline = time.monotonic() + 120
        while not (noted.exists() and noted.read_text(encoding="utf8")) and time.monotonic() < deadline:
            time.sleep(0.1)
        child = psutil.Process(int(noted.read_text(encoding="utf8")))
    finally:
        waiting.kill()
        waiting.wait()
    gone, left = psutil.wait_procs([child], timeout=30)
    assert gone
    assert not left


def test_only_steps_that_read_much_run_elsewhere(
    sample_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = Home(home=str(sample_home))
    assert not reads_much(home, ["sections", "anchors"])
    rows = home.store.count("sections") + home.store.count("anchors")
    monkeypatch.setenv("TAXKG_STEP_PROCESS_ROWS", str(rows - 1))
    assert reads_much(home, ["sections", "anchors"])
    assert not reads_much(home, ["sections"])
    assert not reads_much(Home(home=str(tmp_path)), ["sections"]), "a table that is not there has no rows"
    monkeypatch.setenv("TAXKG_LLM_PROVIDER", "replay")
    assert Settings().llm_provider == "replay"
    assert not reads_much(home, ["sections", "anchors"]), "a model's budget is counted in one process"
