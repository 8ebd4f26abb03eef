"""Cold start: how long one question takes in a fresh process, against what importing torch takes on the same machine.

Both run by turns, so that other work on the machine falls on both alike; the ratio is what states.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.documents import CorpusError
from benchmarks.results import write_results

PROJECT = Path(__file__).resolve().parents[1]
QUESTION = "How are ordinary dividends reported?"
TORCH = "import torch"
CLI = ("-m", "taxkg_assets.serving.cli")


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians of one program over all turns, in seconds."""

    name: str
    wall_s: float
    cpu_s: float
    least_cpu_s: float


@dataclass(frozen=True, slots=True)
class Report:
    """Every program; the first is importing torch."""

    turns: int
    costs: list[Cost]

    def write(self, folder: Path) -> str:
        """Write `cold_start.json` and `cold_start.md`; gives the Markdown."""
        return write_results(self, render(self), folder=folder, name="cold_start")


def render(report: Report) -> str:
    """The table of times and ratios."""
    base = report.costs[0]
    lines = [
        "# Cold start",
        "",
        f"Median of {report.turns} turns; processor time of user and system together.",
        "",
        "| program | wall s | processor s | least processor s | wall, ratio to torch | processor, ratio to torch |",
        "|---|---|---|---|---|---|",
        *(
            f"| {cost.name} | {cost.wall_s:.2f} | {cost.cpu_s:.2f} | {cost.least_cpu_s:.2f} "
            f"| {cost.wall_s / base.wall_s:.2f} | {cost.cpu_s / base.cpu_s:.2f} |"
            for cost in report.costs
        ),
    ]
    return "\n".join(lines) + "\n"


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Start each program `repeat` times, by turns, on the home of TAXKG_HOME."""
    home = Path(os.environ.get("TAXKG_HOME", PROJECT / "data" / "store")).resolve()
    if not (home / "tables" / "release").is_dir():
        raise CorpusError(f"{home} has no release: run `taxkg build` first, or name another home in TAXKG_HOME.")
    programs = {
        "import torch": ["-c", TORCH],
        "taxkg --help": [*CLI, "--help"],
        "taxkg ask": [*CLI, "ask", QUESTION, "--home", str(home)],
        "taxkg search": [*CLI, "search", QUESTION, "--home", str(home)],
        "taxkg box": [*CLI, "box", "1099-DIV", "1a", "--home", str(home)],
        "taxkg table": [*CLI, "table", QUESTION, "--home", str(home)],
    }
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    for _ in range(max(1, repeat)):
        for name, arguments in programs.items():
            seen[name].append(_time(arguments))
    return Report(repeat, [_summarize(name, times) for name, times in seen.items()])


def _time(arguments: Sequence[str]) -> tuple[float, float]:
    """Seconds on the clock and of the processor for one run in a fresh process."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=PROJECT, stdout=subprocess.DEVNULL, check=False)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _summarize(name: str, times: Sequence[tuple[float, float]]) -> Cost:
    walls, busy = zip(*times, strict=True)
    return Cost(name, statistics.median(walls), statistics.median(busy), min(busy))
