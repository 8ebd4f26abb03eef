"""Sizing: processor time of each step of a build at growing sizes; real pages, repeated under new names.

Each size is a build of its own on a fresh home, from PDFs to the index, in a process that does not know it:
a watcher notes the processor time of it and its children four times a second, and Dagster's records have the start and
end of each step. With `--inside` the same tables are made one after the other in this process (`sizing_inside.py`),
which costs a fraction and leaves Dagster out. Wall time is not used: other work on the machine would be in it. The
evaluation is left out: it grows with questions, and the benchmark `retrieval` measures what one costs.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import dagster as dg
import numpy as np
import psutil

import taxkg_assets.definitions  # noqa: F401 - registers the tables and their gates
from benchmarks.documents import Document, load_documents
from benchmarks.results import write_results
from benchmarks.sizing_inside import LAST, READING, Size, open_inside
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import PROJECT
from taxkg_assets.serving.instance import open_instance

SAMPLE_SECONDS = 0.25
MODEL_STEPS = ("embeddings",)
"""Steps whose cost goes by texts that were never seen before, and pages that are repeated hold none."""

BETWEEN = "(between steps)"
SIZES_REPORTED = (100, 1_000, 10_000, 100_000)
CORES_REPORTED = (2, 16, 64)
LEAST_SHARE = 0.01
"""A step below this share of the largest build is none that sizes anything; its exponent would be one of noise."""

STEEP = 1.1
"""An exponent whose whole interval is above this is called worse than linear."""

LEAST_SIZES = 3
"""Fewer sizes than this give no line with an interval."""

T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36)
"""Student's t, two-sided, by degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Slope:
    """How the cost of a step grows: `fixed_s + ms_a_page * pages`, and as a power of the pages, with 95 % intervals.

    `power` (exponent, low, high) is None for steps that cost next to nothing.
    """

    step: str
    fixed_s: float
    ms_a_page: float
    ms_reach: float
    power: tuple[float, float, float] | None

    @property
    def is_steep(self) -> bool:
        return self.power is not None and self.power[1] > STEEP

    @property
    def shown_ms(self) -> str:
        """Milliseconds a page with their interval."""
        low, high = self.ms_a_page - self.ms_reach, self.ms_a_page + self.ms_reach
        return f"{self.ms_a_page:.2f} ({low:.2f} to {high:.2f})"

    @property
    def shown_exponent(self) -> str:
        """The exponent with its interval; empty if it was not fitted."""
        return "" if self.power is None else "{:.2f} ({:.2f} to {:.2f})".format(*self.power)


@dataclass(frozen=True, slots=True)
class Report:
    """Every size, smallest first."""

    sizes: list[Size]
    slopes: list[Slope]

    def write(self, folder: Path) -> str:
        """Write `sizing.json` and `sizing.md`; gives the Markdown."""
        return write_results(self, render(self), folder=folder, name="sizing")


class Watch:
    """Processor seconds of a process and all its children over the time of day, and their most memory together."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._at: list[float] = []
        self._spent: list[float] = []
        self.peak_mb = 0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        root = psutil.Process(self._process.pid)
        while True:
            try:
                own = root.cpu_times()
                spent, resident = own.user + own.system + own.children_user + own.children_system, 0
                for one in (root, *root.children(recursive=True)):
                    resident += one.memory_info().rss
                    # What ended children took is in their parent's record.
                    times = one.cpu_times() if one.pid != root.pid else None
                    spent += times.user + times.system if times is not None else 0.0
            except psutil.NoSuchProcess:
                if not root.is_running():
                    return
                time.sleep(SAMPLE_SECONDS)
                continue
            self._at.append(time.time())
            # A child that ends between two looks would make the sum step back for a moment.
            self._spent.append(max(spent, self._spent[-1] if self._spent else 0.0))
            self.peak_mb = max(self.peak_mb, resident >> 20)
            time.sleep(SAMPLE_SECONDS)

    def until(self, moment: float) -> float:
        """Processor seconds up to a moment, linear between two looks."""
        return float(np.interp(moment, self._at, self._spent))

    def all(self) -> float:
        """Processor seconds of the whole life."""
        self._thread.join()
        return self._spent[-1]


def run(*, pages: Sequence[int], inside: bool, out: Path) -> Report:
    """Build every size; one that an earlier run of the same folder finished is taken from there."""
    unit = load_documents()
    measure_size = open_inside(unit) if inside else partial(measure, unit)
    path = out / ("sizing-inside.jsonl" if inside else "sizing.jsonl")
    out.mkdir(parents=True, exist_ok=True)
    lines = path.read_text(encoding="utf8").splitlines() if path.exists() else []
    known = {size.pages: size for size in (Size(**json.loads(line)) for line in lines)}
    of_unit = sum(document.page_count for document in unit)
    sizes = []
    for times in sorted({max(1, round(wanted / of_unit)) for wanted in pages}):
        size = known.get(times * of_unit)
        if size is None:
            size = measure_size(times=times)
            with path.open("a", encoding="utf8") as file:
                file.write(json.dumps(asdict(size)) + "\n")
        sizes.append(size)
    return Report(sizes, find_slopes(sizes))


def measure(unit: Sequence[Document], *, times: int) -> Size:
    """Build a fresh home from N copies of the documents."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, home = Path(folder) / "corpus", Path(folder) / "home"
        corpus.mkdir()
        for number in range(times):
            for document in unit:
                name, _, revision = document.document_id.partition("--")
                (corpus / f"{name}c{number}--{revision}.pdf").write_bytes(document.data + b"\n%% copy %d\n" % number)
        command = [sys.executable, "-m", "taxkg_assets.serving.cli", "build", "--json"]
        command += ["--corpus", str(corpus), "--home", str(home)]
        command += [word for name in sorted(PIPELINE.ancestors(LAST)) for word in ("--select", name)]
        with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE) as process:
            watch = Watch(process)
            result = json.loads(process.communicate()[0])
        spent = {step: watch.until(end) - watch.until(begin) for step, (begin, end) in read_steps(home).items()}
        spent[BETWEEN] = watch.all() - sum(spent.values())
        return Size(
            pages=times * sum(document.page_count for document in unit),
            documents=times * len(unit),
            seconds={step: round(seconds, 3) for step, seconds in spent.items()},
            rows=result["rows"],
            peak_mb=watch.peak_mb,
            is_done=result["is_done"],
        )


def read_steps(home: Path) -> dict[str, tuple[float, float]]:
    """When each step of the last run of a home began and ended."""
    spans: dict[str, tuple[float, float]] = {}
    with open_instance(Store(home)) as instance:
        run = instance.get_runs(limit=1)[0]
        kinds = {dg.DagsterEventType.STEP_START, dg.DagsterEventType.STEP_SUCCESS, dg.DagsterEventType.STEP_FAILURE}
        for event in instance.all_logs(run.run_id, of_type=kinds):
            if event.step_key is None or event.dagster_event is None:
                continue
            begin = spans.get(event.step_key, (event.timestamp, 0.0))[0]
            spans[event.step_key] = (begin, event.timestamp)
    return spans


def find_slopes(sizes: Sequence[Size]) -> list[Slope]:
    """The growth of each step over the sizes, dearest at the largest size first."""
    if len(sizes) < LEAST_SIZES:
        return []
    grouped = [by_table(size.seconds) for size in sizes]
    pages = np.array([size.pages for size in sizes], dtype=float)
    least = LEAST_SHARE * sum(grouped[-1].values())
    slopes = []
    for step in sorted(grouped[-1], key=lambda step: -grouped[-1][step]):
        seconds = np.array([of.get(step, 0.0) for of in grouped])
        slope, fixed, reach = fit_line(pages, seconds)
        power = None
        if grouped[-1][step] >= least and bool((seconds > 0).all()):
            exponent, _, around = fit_line(np.log(pages), np.log(seconds))
            power = (exponent, exponent - around, exponent + around)
        slopes.append(Slope(step, max(fixed, 0.0), 1000 * slope, 1000 * reach, power))
    return slopes


def by_table(seconds: Mapping[str, float]) -> dict[str, float]:
    """Steps as they are, the gates of a table together."""
    gates = {f"{table}_{check}": f"{table}: gates" for table in PIPELINE for check in PIPELINE.gates(table)}
    grouped: dict[str, float] = {}
    for step, spent in seconds.items():
        name = gates.get(step, step)
        grouped[name] = grouped.get(name, 0.0) + spent
    return grouped


def fit_line(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Least squares: slope, intercept, and how far the slope's 95 % interval reaches to each side."""
    slope, intercept = (float(value) for value in np.polyfit(x, y, 1))
    free = len(x) - 2
    spread = float(((y - slope * x - intercept) ** 2).sum()) / free / float(((x - x.mean()) ** 2).sum())
    return slope, intercept, T95[min(free, len(T95)) - 1] * math.sqrt(spread)


def reckon(report: Report, pages: int) -> dict[str, float]:
    """Processor seconds of a build of N pages, by the fitted lines: reading, encoding, all else."""
    reported = {"reading": 0.0, "encoding": 0.0, "rest": 0.0}
    for slope in report.slopes:
        if slope.step in MODEL_STEPS:
            continue
        kind = "reading" if slope.step == READING else "rest"
        reported[kind] += slope.fixed_s + slope.ms_a_page * pages / 1000
    reported["encoding"] = encoding_ms_a_page(report) * pages / 1000
    return reported


def encoding_ms_a_page(report: Report) -> float:
    """Milliseconds that the texts of a page cost the encoder; those of the smallest size are all new to it."""
    first = report.sizes[0]
    return 1000 * sum(first.seconds[step] for step in MODEL_STEPS) / first.pages


def render(report: Report) -> str:
    """What was measured, how it grows, and what follows for libraries that were not built."""
    sizes, largest = report.sizes, report.sizes[-1]
    lines = [
        "# Sizing",
        "",
        "Measured: the tables of each size, from PDFs to the index.",
        "",
        "| pages | documents | processor seconds | ms a page | most memory, MB | all steps done |",
        "|---|---|---|---|---|---|",
        *(
            f"| {size.pages:,} | {size.documents:,} | {sum(size.seconds.values()):,.0f} "
            f"| {1000 * sum(size.seconds.values()) / size.pages:.0f} | {size.peak_mb:,} "
            f"| {'yes' if size.is_done else 'no'} |"
            for size in sizes
        ),
        "",
        f"| step | {' | '.join(f'{size.pages:,} pages, s' for size in sizes)} | ms a page | exponent |",
        f"|---|{'---|' * (len(sizes) + 2)}",
    ]
    grouped = [by_table(size.seconds) for size in sizes]
    for slope in report.slopes:
        spent = " | ".join(f"{of.get(slope.step, 0.0):.1f}" for of in grouped)
        lines.append(f"| {slope.step} | {spent} | {slope.shown_ms} | {slope.shown_exponent} |")
    steep = [slope.step for slope in report.slopes if slope.is_steep]
    lines += ["", f"Worse than linear: {', '.join(steep) or 'none'}.", ""]
    lines += [
        f"Reckoned from these lines, beyond {largest.pages:,} pages not measured: processor hours, and hours that pass "
        "where reading is dealt out evenly to all cores, encoding to two, and everything else runs on one.",
        "",
        f"| pages | reading | encoding | all else | {' | '.join(f'{cores} cores' for cores in CORES_REPORTED)} |",
        f"|---|---|---|---|{'---|' * len(CORES_REPORTED)}",
    ]
    for pages in SIZES_REPORTED if report.slopes else ():
        reported = reckon(report, pages)
        hours = [reported["reading"] / cores + reported["encoding"] / 2 + reported["rest"] for cores in CORES_REPORTED]
        shown = " | ".join(f"{seconds / 3600:.2f}" for seconds in (*reported.values(), *hours))
        lines.append(f"| {pages:,} | {shown} |")
    return "\n".join(lines) + "\n"
