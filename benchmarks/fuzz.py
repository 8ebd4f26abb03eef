"""Fuzz: thousands of broken PDFs through the reading processes of a build, with their limits of time and memory."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import psutil

from benchmarks.mutants import Mutant, build_mutants, load_originals
from taxkg_assets.defs.reader import Job, Limits, Outcome, read_documents

PROJECT = Path(__file__).resolve().parents[1]
SEED = 20
LIMITS = Limits(seconds=30.0, memory_mb=1024)
GRACE_SECONDS = 10.0
BATCH = 50
_MB = 1024 * 1024


@dataclass
class Report:
    """What became of all mutants."""

    cases: int
    seed: int
    limits: Limits
    originals: int
    seconds: float = 0.0
    by_mutation: dict[str, Counter[str]] = field(default_factory=dict)
    defects: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    hangs: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    parent_mb: tuple[int, int] = (0, 0)
    child_mb: int = 0

    def write(self, folder: Path) -> str:
        """Write `fuzz.json` and `fuzz.md`; gives the Markdown."""
        folder.mkdir(parents=True, exist_ok=True)
        text = render(self)
        plain = {**vars(self), "limits": f"{self.limits.seconds:g} s, {self.limits.memory_mb} MiB"}
        (folder / "fuzz.json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf8")
        (folder / "fuzz.md").write_text(text, encoding="utf8")
        return text


def outcome_of(outcome: Outcome) -> str:
    """One word for what became of a document."""
    if outcome.is_read:
        return "read"
    if outcome.stage == "limits":
        return "memory limit" if "memory" in outcome.reason else "time limit" if "longer" in outcome.reason else "crash"
    if outcome.stage == "extract":
        return "defect"
    return "law" if outcome.is_law else "refused"


def run(*, cases: int, folders: Sequence[Path] = (), seed: int = SEED, limits: Limits = LIMITS) -> Report:
    """Read so many mutants of the samples and of the real documents, if there are any."""
    corpus = Path(os.environ.get("TAXKG_TEST_CORPUS", "../shared")) / "corpus"
    originals = load_originals(folders or [PROJECT / "data" / "samples", corpus], seed=seed)
    report = Report(cases=cases, seed=seed, limits=limits, originals=len(originals))
    started, before = time.monotonic(), psutil.Process().memory_info().rss // _MB
    with tempfile.TemporaryDirectory() as scratch:
        mutants = build_mutants(originals, cases=cases, seed=seed)
        while batch := list(islice(mutants, BATCH)):
            _read(batch, report, folder=Path(scratch) / "batch")
    report.seconds = time.monotonic() - started
    report.parent_mb = (before, psutil.Process().memory_info().rss // _MB)
    return report


def _read(batch: Sequence[Mutant], report: Report, *, folder: Path) -> None:
    folder.mkdir(parents=True)
    jobs = [_job(mutant, folder) for mutant in batch]
    peaks: list[int] = [report.child_mb]
    outcomes = read_documents(
        jobs, workers=1, limits=report.limits, on_done=lambda _: peaks.extend(_resident_of_children())
    )
    report.child_mb = max(peaks)
    for mutant, outcome in zip(batch, outcomes, strict=True):
        word = outcome_of(outcome)
        report.by_mutation.setdefault(mutant.mutations[0], Counter())[word] += 1
        report.slowest_s = max(report.slowest_s, outcome.seconds)
        if outcome.seconds > report.limits.seconds + GRACE_SECONDS:
            report.hangs.append(mutant.name)
        if word == "crash":
            report.lost.append(f"{mutant.name}: {outcome.reason}")
        if word in {"defect", "law"}:
            report.defects[re.sub(r"mutant-\d+[\w:.-]*|\d{3,}", "…", outcome.reason)[:160]] += 1
    shutil.rmtree(folder)


def _job(mutant: Mutant, folder: Path) -> Job:
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


def render(report: Report) -> str:
    """The table of outcomes as Markdown."""
    words = sorted({word for counts in report.by_mutation.values() for word in counts})
    total: Counter[str] = sum(report.by_mutation.values(), Counter())
    rows = [*sorted(report.by_mutation.items()), ("all", total)]
    lines = [
        f"# Fuzz: {report.cases} broken PDFs",
        "",
        f"From {report.originals} originals, seed {report.seed}; limits {report.limits.seconds:g} s and "
        f"{report.limits.memory_mb} MiB a document; {report.seconds:.0f} s in all.",
        "",
        f"| mutation | {' | '.join(words)} | all |",
        f"|---|{'---|' * (len(words) + 1)}",
        *(f"| {name} | {' | '.join(str(c[w]) for w in words)} | {c.total()} |" for name, c in rows),
        "",
        "- crashes of the build: 0 (a crash ends this run)",
        f"- hangs beyond the limit: {len(report.hangs)}; slowest document {report.slowest_s:.1f} s",
        f"- parser crashes, each alone in its process: {len(report.lost)}",
        f"- resident memory: this process {report.parent_mb[0]} MiB before, {report.parent_mb[1]} MiB after; "
        f"a reading process at most {report.child_mb} MiB after a document",
        *(f"- {count} × {reason}" for reason, count in report.defects.most_common(30)),
    ]
    return "\n".join(lines) + "\n"
