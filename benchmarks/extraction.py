"""Extraction: all per-document stages together against the parser alone and against other extractors, on 93 pages."""

from __future__ import annotations

import os
import platform
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.documents import Document, load_documents
from benchmarks.engines import FLOOR, OWN, RIVALS, Engine, Seconds, timed
from benchmarks.load import Memory, Scaling, measure_memory, measure_scaling
from benchmarks.profile import PageCost, find_reason, profile_pages, profile_stages
from benchmarks.results import write_results

PAGES_OF_MEMORY = 1_000
DEAREST_PAGES = 10
PROFILE_REPEAT = 3


@dataclass(frozen=True, slots=True)
class Comparison:
    """One engine on one set of documents: a list holds one value a repetition; ratios are of processor time."""

    engine: str
    gives: str
    documents: str
    pages: int
    wall_s: list[float]
    cpu_s: list[float]
    to_floor: list[float]
    to_own: list[float]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one run of the benchmark saw."""

    machine: dict[str, str]
    comparisons: list[Comparison]
    left_out: list[str]
    stages_ms: dict[str, dict[str, float]]
    pages: list[PageCost]
    scaling: Scaling
    memory: Memory

    def write(self, folder: Path) -> str:
        """Write `extraction.json` and `extraction.md`; gives the Markdown."""
        return write_results(self, render(self), folder=folder, name="extraction")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Run every part of the benchmark, one after the other."""
    documents = load_documents()
    left_out = [
        f"{rival.name} is not installed (extra `bench`; opendataloader-pdf needs java) and was left out"
        for rival in RIVALS
    ]
    left_out = [line for line, rival in zip(left_out, RIVALS, strict=True) if not rival.is_installed]
    for line in left_out:
        print(line, file=sys.stderr)
    with _one_core():
        comparisons = compare(documents, repeat=repeat, rival_repeat=rival_repeat)
        stages = profile_stages(documents, repeat=PROFILE_REPEAT)
        pages = profile_pages(documents, repeat=PROFILE_REPEAT)
    return Report(
        machine=_machine(),
        comparisons=comparisons,
        left_out=left_out,
        stages_ms=stages,
        pages=pages,
        scaling=measure_scaling(documents),
        memory=measure_memory(documents, pages=PAGES_OF_MEMORY),
    )


def compare(documents: Sequence[Document], *, repeat: int, rival_repeat: int) -> list[Comparison]:
    """Time the floor, our own stages and the rivals by turns, so that what else the machine does meets all of them."""
    sets = {
        "all": list(documents),
        "text": [document for document in documents if not document.has_fields],
        "form": [document for document in documents if document.has_fields],
    }
    rivals = [rival for rival in RIVALS if rival.is_installed]
    for engine in (FLOOR, OWN):
        timed(engine, documents)
    for rival in rivals:
        timed(rival, documents[:1])
    seen: dict[tuple[str, str], list[Seconds]] = {}
    for turn in range(max(repeat, rival_repeat)):
        for name, subset in sets.items():
            for engine in (FLOOR, OWN):
                if turn < repeat:
                    seen.setdefault((engine.name, name), []).append(timed(engine, subset))
        for rival in rivals:
            if turn < rival_repeat:
                seen.setdefault((rival.name, "all"), []).append(timed(rival, documents))
    return [
        _comparison(engine, name, sum(d.page_count for d in subset), seen)
        for name, subset in sets.items()
        for engine in (FLOOR, OWN, *rivals)
        if (engine.name, name) in seen
    ]


def _comparison(engine: Engine, documents: str, pages: int, seen: dict[tuple[str, str], list[Seconds]]) -> Comparison:
    own, floor, other = (seen[name, documents] for name in (OWN.name, FLOOR.name, engine.name))
    return Comparison(
        engine=engine.name,
        gives=engine.gives,
        documents=documents,
        pages=pages,
        wall_s=[seconds.wall for seconds in other],
        cpu_s=[seconds.cpu for seconds in other],
        to_floor=[seconds.cpu / base.cpu for seconds, base in zip(other, floor, strict=False)],
        to_own=[seconds.cpu / base.cpu for seconds, base in zip(other, own, strict=False)],
    )


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep this process and its children on one core, where the system knows how."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _machine() -> dict[str, str]:
    packages = ("pymupdf", "polars", "dataframely", "opendataloader-pdf", "pymupdf4llm")
    return {
        "processor": platform.machine(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "load": f"{os.getloadavg()[0]:.1f}",
        **{name: _version(name) for name in packages},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def render(report: Report) -> str:
    """The report as Markdown: comparisons, stages, dearest pages, scaling, memory."""
    machine = ", ".join(f"{name} {value}" for name, value in report.machine.items())
    parts = [
        "# Extraction",
        machine,
        *report.left_out,
        "## Against the parser alone and other extractors",
        "One core, processor time with child processes; medians, and the span of the ratios over the repetitions.",
        _comparison_table(report.comparisons),
        "## Milliseconds a page, by stage",
        _stage_table(report.stages_ms),
        "## By kind of page",
        "Each page as a document of its own, less what an empty document costs: medians.",
        _kind_table(report.pages),
        "## Dearest pages",
        "Milliseconds, the best of a few runs; the reason is what is there most often against the usual page.",
        _page_table(report.pages),
        "## Two cores",
        _scaling_line(report.scaling),
        "## Memory",
        _memory_line(report.memory),
    ]
    return "\n\n".join(parts) + "\n"


def _comparison_table(comparisons: Sequence[Comparison]) -> str:
    head = ["engine", "documents", "pages", "pages/s", "wall s", "cpu s", "to get_text", "to taxkg", "runs"]
    rows = [
        [
            c.engine,
            c.documents,
            str(c.pages),
            f"{c.pages / statistics.median(c.cpu_s):.1f}",
            f"{statistics.median(c.wall_s):.2f}",
            f"{statistics.median(c.cpu_s):.2f}",
            _spread(c.to_floor),
            _spread(c.to_own),
            str(len(c.cpu_s)),
        ]
        for c in comparisons
    ]
    return _table(head, rows)


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def _stage_table(stages_ms: dict[str, dict[str, float]]) -> str:
    names = sorted({name for stages in stages_ms.values() for name in stages})
    names.sort(key=lambda name: -sum(stages.get(name, 0.0) for stages in stages_ms.values()))
    rows = [[name, *(f"{stages.get(name, 0.0):.2f}" for stages in stages_ms.values())] for name in names]
    rows.append(["together", *(f"{sum(stages.values()):.2f}" for stages in stages_ms.values())])
    return _table(["stage", *stages_ms], rows)


def _kind_table(pages: Sequence[PageCost]) -> str:
    rows = []
    for kind in sorted({page.kind for page in pages}):
        mine = [page for page in pages if page.kind == kind]
        own, floor, ratio = (
            statistics.median(values)
            for values in ([p.own_ms for p in mine], [p.floor_ms for p in mine], [p.ratio for p in mine])
        )
        rows.append([kind, str(len(mine)), f"{own:.1f}", f"{floor:.1f}", f"{ratio:.1f}"])
    return _table(["kind", "pages", "ms", "get_text", "ratio"], rows)


def _page_table(pages: Sequence[PageCost]) -> str:
    head = ["page", "ms", "get_text", "ratio", "reason", "dearest stages", *pages[0].counts]
    rows = []
    for cost in pages[:DEAREST_PAGES]:
        dearest = sorted(cost.stages_ms.items(), key=lambda item: -item[1])[:3]
        rows.append(
            [
                f"{cost.document_id} {cost.page}",
                f"{cost.own_ms:.1f}",
                f"{cost.floor_ms:.1f}",
                f"{cost.ratio:.1f}",
                find_reason(cost, pages),
                ", ".join(f"{name} {ms:.1f}" for name, ms in dearest),
                *(str(count) for count in cost.counts.values()),
            ]
        )
    return _table(head, rows)


def _scaling_line(scaling: Scaling) -> str:
    one, two = statistics.median(scaling.one_s), statistics.median(scaling.two_s)
    return (
        f"{scaling.pages} pages: {one:.1f} s with one process, {two:.1f} s with two, "
        f"{scaling.speedup:.2f} times as fast. "
        f"In the same run, in processes that share nothing: the parser alone {scaling.parser_speedup:.2f} times as "
        f"fast; sums of numbers, which need no memory, {scaling.control_speedup:.2f} times, which is what the two "
        f"cores were worth at the time (load before: {scaling.load_before:.1f}). Of the parser's gain "
        f"{scaling.speedup / scaling.parser_speedup:.0%} was reached, of the sums' "
        f"{scaling.speedup / scaling.control_speedup:.0%}."
    )


def _memory_line(memory: Memory) -> str:
    marks = [next(i for i, read in enumerate(memory.pages) if read >= goal) for goal in (100, 500, PAGES_OF_MEMORY)]
    seen = ", ".join(f"{memory.resident_mb[i]:.0f} MB after {memory.pages[i]} pages" for i in marks)
    return (
        f"{seen}; highest {max(memory.resident_mb):.0f} MB. "
        f"The second half's highest is {memory.growth_mb:+.0f} MB against the first half's."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
