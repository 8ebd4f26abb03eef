"""Search against a naive hybrid and a framework's: times at several sizes, and quality."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psutil

from benchmarks.accuracy import ask_systems
from benchmarks.answerable import take_rows
from benchmarks.frameworks import MOST_CHUNKS, open_haystack
from benchmarks.in_memory import index_in_memory
from benchmarks.questions import read_questions
from benchmarks.results import open_home, write_results
from taxkg_assets.retrieval.index.passage_index import PrecomputedFacts, SearchIndex
from taxkg_assets.retrieval.ranking.baselines import build_baselines
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

QUERIED, SLOW = 100, 20
"""Questions queried, and of what takes seconds over one."""
SHOWN = ("recall@5", "recall@2000tok", "mrr", "near_miss@1", "wrong_document@1")
OWN, PLAIN, NAIVE, FRAMEWORK = "search", "search without ranker", "naive hybrid", "Haystack hybrid"


@dataclass(frozen=True, slots=True)
class Size:
    """What was seen at one number of chunks; times in milliseconds by system: p50, p95, p50 of processor time."""

    chunks: int
    times_ms: dict[str, tuple[float, float, float]]
    open_s: float
    """From rows and vectors to the first answer: BM25, what is known of passages and documents."""
    resident_mb: float


@dataclass(frozen=True, slots=True)
class Report:
    """One run over all sizes."""

    sizes: list[Size]
    quality: dict[str, dict[str, dict[str, float]]]
    """Means by query set, system and metric, on the release."""
    left_out: list[str]

    def write(self, folder: Path) -> str:
        """Write `retrieval.json` and `retrieval.md`; gives the Markdown."""
        return write_results(self, render(self), folder=folder, name="retrieval")


def render(report: Report) -> str:
    """The table of times, and what the index cost and found."""
    lines = [
        "# retrieval",
        "",
        "| chunks | system | p50 ms | p95 ms | p50 ms of processor time |",
        "|---|---|---|---|---|",
    ]
    for size in report.sizes:
        lines += [
            f"| {size.chunks:,} | {name} | {p50:.1f} | {p95:.1f} | {busy:.1f} |"
            for name, (p50, p95, busy) in size.times_ms.items()
        ]
    lines.append("")
    for size in report.sizes:
        lines.append(f"{size.chunks:,} chunks: opened in {size.open_s:.1f} s, {size.resident_mb:,.0f} MB resident.")
    for name, systems in report.quality.items():
        lines += ["", f"## {name}", "", f"| system | {' | '.join(SHOWN)} |", "|---" * (1 + len(SHOWN)) + "|"]
        lines += [f"| {own} | {' | '.join(f'{m.get(s, 0):.3f}' for s in SHOWN)} |" for own, m in systems.items()]
    return "\n".join([*lines, *(["", *report.left_out] if report.left_out else [])]) + "\n"


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask the release of TAXKG_HOME, then its texts repeated to the sizes of TAXKG_BENCH_CHUNKS; no repetitions."""
    settings = Settings()
    released = open_home(settings.home)
    searcher = released.searcher
    questions = [str(row["query"]) for row in read_questions()][:QUERIED]
    left_out: list[str] = []
    rivals = {NAIVE: build_baselines(searcher)["hybrid"], **_open_framework(searcher, left_out)}
    quality = ask_systems(released, settings, rivals=rivals)
    sizes = [_measure(searcher, questions, left_out=left_out)]
    for count in (int(text) for text in os.environ.get("TAXKG_BENCH_CHUNKS", "50000").split(",") if text):
        sizes.append(_measure(repeat_texts(searcher, count), questions, left_out=left_out))
    return Report(sizes, quality, list(dict.fromkeys(left_out)))


def _open_framework(searcher: Searcher, left_out: list[str]) -> dict[str, Callable[[str], Any]]:
    """The framework's retriever; none, and a line, where it is not installed or the texts are too many for it."""
    if searcher.index.height > MOST_CHUNKS:
        left_out.append(f"{FRAMEWORK} left out above {MOST_CHUNKS:,} chunks, which it holds number by number.")
        return {}
    try:
        return {FRAMEWORK: open_haystack(searcher)}
    except ImportError as missing:
        left_out.append(f"{FRAMEWORK} left out: {missing} (pip install -e .[bench]).")
        return {}


def repeat_texts(searcher: Searcher, count: int) -> Searcher:
    """The release's texts again and again, each time as other documents."""
    own = index_in_memory(searcher)
    rows, vectors = own.rows, own.vectors
    copies = [
        rows.with_columns(
            document_id=pl.col("document_id") + f"~{copy}",
            anchor_id=pl.col("anchor_id") + f"~{copy}",
            chunk_id=pl.col("chunk_id") + f"~{copy}",
        )
        for copy in range(-(-count // rows.height))
    ]
    index = SearchIndex(
        rows=pl.concat(copies).head(count),
        vectors=np.tile(vectors, (len(copies), 1))[:count],
        model_hash=own.model_hash,
        precomputed=PrecomputedFacts(
            tokens=None if own.tokens is None else take_rows(own.tokens, np.arange(count) % rows.height)
        ),
    )
    return Searcher(index=index, encoder=searcher.encoder)


def _measure(searcher: Searcher, questions: Sequence[str], *, left_out: list[str]) -> Size:
    begin = time.perf_counter()
    searcher.search(questions[0])
    opened = time.perf_counter() - begin
    plain = searcher.with_parts(replace(searcher.parts, rerank=False, reranker=False))
    systems: dict[str, Callable[[str], Any]] = {
        OWN: lambda question: searcher.search(question, k=10),
        PLAIN: lambda question: plain.search(question, k=10),
        NAIVE: build_baselines(searcher)["hybrid"],
        "of these, encoding the question": searcher.encoder.encode_query,
    }
    times = _time_by_turns(systems, questions)
    resident = psutil.Process().memory_info().rss / 2**20
    times |= _time_by_turns(_open_framework(searcher, left_out), questions[:SLOW])
    return Size(searcher.index.height, times, opened, resident)


def _time_by_turns(
    systems: dict[str, Callable[[str], Any]], questions: Sequence[str]
) -> dict[str, tuple[float, float, float]]:
    """Times of each system, one question after the other, so that other work on the machine falls on all alike."""
    for system in systems.values():
        system(questions[0])
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in systems}
    for question in questions:
        for name, system in systems.items():
            begin, busy = time.perf_counter(), time.process_time()
            system(question)
            seen[name].append((time.perf_counter() - begin, time.process_time() - busy))
    return {name: _quantiles(own) for name, own in seen.items()}


def _quantiles(seconds: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """p50 and p95 on the clock, p50 of processor time, in milliseconds."""
    clock, busy = (1000 * np.array(own) for own in zip(*seconds, strict=True))
    return float(np.quantile(clock, 0.5)), float(np.quantile(clock, 0.95)), float(np.quantile(busy, 0.5))
