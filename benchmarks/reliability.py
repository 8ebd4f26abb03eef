"""Reliability: what a build that is killed at a random moment leaves behind when it is run again. It should be nothing.

Each round takes a fresh home, starts a build of bundled samples in a process of its own and kills it with signal 9 at a
random moment: alone, as the kernel does when memory is short, or with all its children, as when power fails. Every
third round kills the second try too. Then the build is run to its end, and every table is compared with a clean
build's: rows sorted by key, columns that end in `_at` aside.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl
import psutil

import taxkg_assets.definitions  # noqa: F401 - registers the tables
from benchmarks.results import write_results
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.serving.build import SAMPLES

BUILD = (sys.executable, "-m", "taxkg_assets.serving.cli", "build", "--json")
DOCUMENTS = ("sample-f1099div--2024-01.pdf", "sample-statute-title-7.txt")
"""A form and a statute: every stage has something to do, and little of it, so that most of a build is commits."""

HISTORY = ("release",)
"""A table of what was released when: one row more where the kill came between two releases."""
SECOND_KILL_EVERY = 3
SEED = 20260101
LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Round:
    """One kill after so much processor time, and what came of it. `stored` counts the tables that was then."""

    seconds: float
    is_alone: bool
    kills: int
    stored: int
    exit_status: int
    unequal: tuple[str, ...]

    @property
    def is_valid(self) -> bool:
        return self.exit_status == 0 and not self.unequal


@dataclass(frozen=True, slots=True)
class Report:
    """All rounds, and how long a clean build took next to them."""

    clean_s: float
    rounds: list[Round]

    def write(self, folder: Path) -> str:
        """Write `reliability.json` and `reliability.md`; gives the Markdown."""
        return write_results(self, render(self), folder=folder, name="reliability")


def render(report: Report) -> str:
    """How many rounds ended as a clean build, and over what span the kills fell."""
    rounds = report.rounds
    valid = sum(r.is_valid for r in rounds)
    stored = [r.stored for r in rounds]
    lines = [
        "# reliability",
        "",
        f"{valid} of {len(rounds)} builds that were killed and run again equal a clean build, table by table.",
        "",
        "| | |",
        "|---|---|",
        f"| kills | {sum(r.kills for r in rounds)} |",
        f"| the process alone, with its children | {sum(r.is_alone for r in rounds)}, "
        f"{sum(not r.is_alone for r in rounds)} |",
        f"| tables that was at the kill: fewest, most | {min(stored)}, {max(stored)} of {len(PIPELINE.built())} |",
        f"| rounds by tables that was: none, some, all | {stored.count(0)}, "
        f"{sum(0 < s < len(PIPELINE.built()) for s in stored)}, {stored.count(len(PIPELINE.built()))} |",
        f"| processor seconds of a clean build | {report.clean_s:.0f} |",
    ]
    lines += [
        f"| failed | after {r.seconds:.1f} s: status {r.exit_status}, {r.unequal} |" for r in rounds if not r.is_valid
    ]
    return "\n".join(lines) + "\n"


def run(*, repeat: int, out: Path) -> Report:
    """Kill N builds, one after the other; go on where `out` is, with a clean build of today's code."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "reliability.jsonl"
    lines = path.read_text(encoding="utf8").splitlines() if path.exists() else []
    rounds = [Round(**json.loads(line)) for line in lines[:repeat]]
    with tempfile.TemporaryDirectory() as folder:
        corpus, clean = Path(folder) / "corpus", Path(folder) / "clean"
        corpus.mkdir()
        for name in DOCUMENTS:
            shutil.copy(SAMPLES / name, corpus)
        clean_s = _build(corpus, clean)
        chance = random.Random(f"{SEED}:{len(rounds)}")
        while len(rounds) < repeat:
            home = Path(folder) / f"home-{len(rounds)}"
            kills = 2 if len(rounds) % SECOND_KILL_EVERY == 2 else 1
            done = kill_and_build(corpus, home, clean=clean, within_s=clean_s, kills=kills, chance=chance)
            shutil.rmtree(home, ignore_errors=True)
            if done is not None:
                rounds.append(done)
                with path.open("a", encoding="utf8") as file:
                    file.write(json.dumps(asdict(done)) + "\n")
    return Report(clean_s, rounds)


def _build(corpus: Path, home: Path) -> float:
    """Processor seconds of a build that no one disturbs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*BUILD, "--corpus", str(corpus), "--home", str(home)], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def kill_and_build(
    corpus: Path, home: Path, *, clean: Path, within_s: float, kills: int, chance: random.Random
) -> Round | None:
    """One round; None where a build was over before its moment came."""
    is_alone = chance.random() < 0.5
    seconds, stored = 0.0, 0
    for _ in range(kills):
        seconds = chance.uniform(0.0, within_s)
        if not _kill(corpus, home, after_s=seconds, is_alone=is_alone):
            return None
        stored = sum(Store(home).exists(name) for name in PIPELINE.built())
    again = subprocess.run(
        [*BUILD, "--corpus", str(corpus), "--home", str(home)], check=False, stdout=subprocess.DEVNULL
    )
    unequal = find_unequal(home, clean) if again.returncode == 0 else ()
    return Round(seconds, is_alone, kills, stored, again.returncode, tuple(unequal))


def _kill(corpus: Path, home: Path, *, after_s: float, is_alone: bool) -> bool:
    """Start a build, kill it when it has used so much processor time; False where it was over before.

    Time of day would leave the moments to what else the machine does.
    """
    command = [*BUILD, "--corpus", str(corpus), "--home", str(home)]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        while process.poll() is None and not (home / ".lock").exists():
            time.sleep(LOOK_SECONDS)
        while process.poll() is None and _used(process.pid) < after_s:
            time.sleep(LOOK_SECONDS)
        if process.poll() is None:
            if is_alone:
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode == -signal.SIGKILL


def _used(pid: int) -> float:
    """Processor seconds of a process and its children."""
    try:
        root = psutil.Process(pid)
        own = [root.cpu_times().children_user + root.cpu_times().children_system]
        return sum(own + [sum(one.cpu_times()[:2]) for one in (root, *root.children())])
    except psutil.NoSuchProcess:
        return 0.0


def find_unequal(home: Path, clean: Path, names: Sequence[str] = ()) -> list[str]:
    """Tables whose rows differ, sorted by key and without the columns that end in `_at`."""
    wanted = names or [name for name in PIPELINE.built() if name not in HISTORY]
    return [name for name in wanted if not _rows(home, name).equals(_rows(clean, name))]


def _rows(home: Path, name: str) -> pl.DataFrame:
    frame = Store(home).read(name)
    return frame.select(c for c in frame.columns if not c.endswith("_at"))
