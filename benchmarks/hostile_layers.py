"""Hostile authored layers: hundreds of changed structure trees, templates and link tables, read under limits.

No case may crash, hang, fail with an unexpected error, or serve words that no page prints.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pymupdf

from benchmarks import fuzz
from benchmarks.fuzz import Case, outcome_of
from benchmarks.layer_mutants import FALSE_WORDS, build_layer_mutants
from benchmarks.mutants import Mutant
from benchmarks.results import write_results
from taxkg_assets.defs.ingest.reader import Limits, read_documents
from taxkg_assets_tests.extraction.tagged_pdf import make_booklet, make_tables

_MUPDF: Any = pymupdf
SEED = 31
LIMITS = Limits(seconds=30.0, memory_mb=1024)
MOST_PAGES = 2
# Larger files take longer to change and write than to read.
MOST_OBJECTS = 2000
_BATCH = 25
_MB = 1024 * 1024
FALSE = "false text"
_SERVED = ("spans", "elements", "sections", "tables", "anchors")
"""Tables whose words are printed ones; what a field or a link states about itself is kept as such in its own."""


class Report(fuzz.Report):
    """What became of all mutants."""

    def write(self, folder: Path) -> str:
        """Write `hostile_layers.json` and `hostile_layers.md`; gives the Markdown."""
        text = fuzz.render(self).replace("# Fuzz:", "# Hostile authored layers:").replace("broken PDFs", "changed PDFs")
        text += f"- documents that served words that no page prints: {sum(c.outcome == FALSE for c in self.cases)}\n"
        return write_results(self, text, folder=folder, name="hostile_layers")


def load_layered(folders: Sequence[Path]) -> dict[str, bytes]:
    """Generated documents with tags, and the tagged ones of folders, each cut to its first pages."""
    found = {"booklet": make_booklet().bytes(), "tables": make_tables().bytes()}
    for path in sorted(path for folder in folders for path in folder.glob("*.pdf")):
        with _MUPDF.open(path) as document:
            is_tagged = document.xref_get_key(document.pdf_catalog(), "StructTreeRoot")[0] == "xref"
            if not is_tagged or document.xref_length() > MOST_OBJECTS:
                continue
            document.select(list(range(min(MOST_PAGES, document.page_count))))
            found[path.stem] = document.tobytes(garbage=3)
    return found


def run(
    *,
    cases: int,
    out: Path | None = None,
    folders: Sequence[Path] | None = None,
    seed: int = SEED,
    limits: Limits = LIMITS,
) -> Report:
    """Read N mutants of generated documents and of the real ones, if there are any.

    Args: out: takes each case in `hostile_layers.jsonl` as soon as its batch is done.
    """
    corpus = Path(os.environ.get("TAXKG_TEST_CORPUS", "../shared")) / "corpus"
    originals: Mapping[str, bytes] = load_layered([corpus] if folders is None else folders)
    mutants = build_layer_mutants(originals, cases=cases, seed=seed)
    done: list[Case] = []
    with tempfile.TemporaryDirectory() as scratch:
        while batch := list(islice(mutants, _BATCH)):
            read = _read(batch, limits=limits, folder=Path(scratch) / "batch")
            done += read
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
                with (out / "hostile_layers.jsonl").open("a", encoding="utf8") as lines:
                    lines.writelines(json.dumps(asdict(case)) + "\n" for case in read)
    return Report(seed, limits, len(originals), done)


def _read(batch: Sequence[Mutant], *, limits: Limits, folder: Path) -> list[Case]:
    folder.mkdir(parents=True)
    jobs = [fuzz.job_of(mutant, folder) for mutant in batch]
    outcomes = read_documents(jobs, workers=1, limits=limits, on_done=lambda _: None)
    resident = psutil.Process().memory_info().rss // _MB
    cases = []
    for mutant, job, outcome in zip(batch, jobs, outcomes, strict=True):
        word = FALSE if _serves_false(Path(job.folder)) else outcome_of(outcome)
        seconds = round(outcome.seconds, 3)
        cases.append(
            Case(mutant.name, mutant.original, mutant.mutations[0], word, outcome.reason, seconds, resident, 0)
        )
    shutil.rmtree(folder)
    return cases


def _serves_false(folder: Path) -> bool:
    """Decide whether a table of printed words has words that no page prints."""
    for name in _SERVED:
        path = next(folder.glob(f"{name}.arrow"), None)
        if path is None:
            continue
        frame = pl.read_ipc(path)
        texts = [column for column, kind in frame.schema.items() if kind == pl.String]
        if any(frame[column].str.contains(FALSE_WORDS, literal=True).any() for column in texts):
            return True
    return False


def find_failures(report: Report) -> list[Case]:
    """Cases that crashed, hung, failed unexpectedly, or served words that no page prints."""
    return [case for case in report.cases if case.outcome in ("crash", "defect", "law", "time limit", FALSE)]
