"""Fuzz: thousands of broken PDFs through the reading processes of a build, with their limits of time and memory.

What became of each case is on a line of its own in `fuzz.jsonl` as soon as its batch is done, so that a run that
was ended continues where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import psutil

from benchmarks.mutants import Mutant, build_mutants, load_originals
from benchmarks.results import write_results
from taxkg_assets.defs.ingest.reader import Limits, Outcome, read_documents
from taxkg_assets.defs.ingest.worker_replies import Job

PROJECT = Path(__file__).resolve().parents[1]
SEED = 20
LIMITS = Limits(seconds=30.0, memory_mb=1024)
GRACE_SECONDS = 10.0
BATCH = 50
_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Case:
    """What became of one mutant; the megabytes are those of this process and of the reading one after its batch."""

    name: str
    original: str
    mutation: str
    outcome: str
    reason: str
    seconds: float
    parent_mb: int
    child_mb: int


@dataclass(frozen=True, slots=True)
class Report:
    """What became of all mutants."""

    seed: int
    limits: Limits
    originals: int
    cases: list[Case]

    def write(self, folder: Path) -> str:
        """Write `fuzz.json` and `fuzz.md`; gives the Markdown."""
        return write_results(self, render(self), folder=folder, name="fuzz")


def outcome_of(outcome: Outcome) -> str:
    """One word for what became of a document."""
    if outcome.is_read:
        return "read"
    if outcome.stage == "limits":
        return "memory limit" if "memory" in outcome.reason else "time limit" if "longer" in outcome.reason else "crash"
    if outcome.stage == "extract":
        return "defect"
    return "law" if outcome.is_check_failure else "refused"


def run(
    *, cases: int, out: Path | None = None, folders: Sequence[Path] = (), seed: int = SEED, limits: Limits = LIMITS
) -> Report:
    """Read N mutants of the samples and of the real documents, if there are any; go on where `out` is."""
    corpus = Path(os.environ.get("TAXKG_TEST_CORPUS", "../shared")) / "corpus"
    originals = load_originals(folders or [PROJECT / "data" / "samples", corpus], seed=seed)
    done = _load_done(out, cases=cases)
    mutants = islice(build_mutants(originals, cases=cases, seed=seed), len(done), None)
    with tempfile.TemporaryDirectory() as scratch:
        while batch := list(islice(mutants, BATCH)):
            read = _read(batch, limits=limits, folder=Path(scratch) / "batch")
            done += read
            if out is not None:
                with (out / "fuzz.jsonl").open("a", encoding="utf8") as lines:
                    lines.writelines(json.dumps(asdict(case)) + "\n" for case in read)
    return Report(seed, limits, len(originals), done)


def _load_done(out: Path | None, *, cases: int) -> list[Case]:
    """The cases of an earlier run of the same seed, in their order."""
    if out is None:
        return []
    out.mkdir(parents=True, exist_ok=True)
    path = out / "fuzz.jsonl"
    lines = path.read_text(encoding="utf8").splitlines() if path.exists() else []
    return [Case(**json.loads(line)) for line in lines[:cases]]


def _read(batch: Sequence[Mutant], *, limits: Limits, folder: Path) -> list[Case]:
    folder.mkdir(parents=True)
    jobs = [job_of(mutant, folder) for mutant in batch]
    peaks: list[int] = [0]
    outcomes = read_documents(jobs, workers=1, limits=limits, on_done=lambda _: peaks.extend(_resident_of_children()))
    shutil.rmtree(folder)
    memory = {"parent_mb": psutil.Process().memory_info().rss // _MB, "child_mb": max(peaks)}
    return [
        Case(
            mutant.name,
            mutant.original,
            mutant.mutations[0],
            outcome_of(outcome),
            outcome.reason,
            round(outcome.seconds, 3),
            **memory,
        )
        for mutant, outcome in zip(batch, outcomes, strict=True)
    ]


def job_of(mutant: Mutant, folder: Path) -> Job:
    """Write a mutant into a folder, and give the job that reads it."""
    path = folder / f"{mutant.name}.pdf"
    path.write_bytes(mutant.data)
    return Job(
        document_id=mutant.name,
        path=str(path),
        sha256=hashlib.sha256(mutant.data).hexdigest(),
        source_uri=path.name,
        source_root="",
        is_text=False,
        code_version="fuzz",
        max_pages=1000,
        folder=str(folder / "frames" / mutant.name),
    )


def _resident_of_children() -> Iterator[int]:
    for child in psutil.Process().children():
        try:
            yield child.memory_info().rss // _MB
        except psutil.NoSuchProcess:
            continue


def find_hangs(report: Report) -> list[Case]:
    """Cases that continued after their limit of time."""
    return [case for case in report.cases if case.seconds > report.limits.seconds + GRACE_SECONDS]


def render(report: Report) -> str:
    """The table of outcomes as Markdown."""
    words = sorted({case.outcome for case in report.cases})
    kinds = sorted({case.mutation for case in report.cases})
    counts = Counter((case.mutation, case.outcome) for case in report.cases)
    rows = [(kind, [counts[kind, word] for word in words]) for kind in kinds]
    rows.append(("all", [sum(column) for column in zip(*(row for _, row in rows), strict=True)]))
    faults = Counter(
        re.sub(r"mutant-\d+[\w:.-]*|\d{3,}", "…", case.reason)[:160]
        for case in report.cases
        if case.outcome in {"defect", "law", "crash"}
    )
    slowest = max(report.cases, key=lambda case: case.seconds)
    lines = [
        f"# Fuzz: {len(report.cases)} broken PDFs",
        "",
        f"From {report.originals} originals, seed {report.seed}; limits {report.limits.seconds:g} s and "
        f"{report.limits.memory_mb} MiB a document; {sum(case.seconds for case in report.cases):.0f} s of reading.",
        "",
        f"| mutation | {' | '.join(words)} | all |",
        f"|---|{'---|' * (len(words) + 1)}",
        *(f"| {name} | {' | '.join(map(str, row))} | {sum(row)} |" for name, row in rows),
        "",
        "- crashes of the build: 0 (a crash ends this run)",
        f"- hangs beyond the limit: {len(find_hangs(report))}; slowest document {slowest.seconds:.1f} s",
        f"- parser crashes, each alone in its process: {sum(case.outcome == 'crash' for case in report.cases)}",
        f"- resident memory: this process {report.cases[0].parent_mb} MiB after the first batch, "
        f"{report.cases[-1].parent_mb} MiB after the last; a reading process at most "
        f"{max(case.child_mb for case in report.cases)} MiB after a document",
        *(f"- {count} × {reason}" for reason, count in faults.most_common(30)),
    ]
    return "\n".join(lines) + "\n"
