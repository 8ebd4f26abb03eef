"""Search: its time with and without the ranker against a naive hybrid, and LanceDB's index at larger sizes."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.documents import CorpusError
from benchmarks.questions import read_questions
from taxkg_assets.retrieval.baselines import build_baselines
from taxkg_assets.retrieval.index import SearchIndex, build_neighbour_index, find_nearest
from taxkg_assets.retrieval.search import Parts, Searcher
from taxkg_assets.serving.released import NotReleasedError, open_release
from taxkg_assets.settings import Settings

ASKED, NEAREST, CHECKED = 100, 10, 50
CLOSE = 1e-4
"""Distances that differ by less are equal: repeated texts tie."""


@dataclass(frozen=True, slots=True)
class Size:
    """What was seen at one number of chunks; times in milliseconds, p50 and p95 by system."""

    chunks: int
    times_ms: dict[str, tuple[float, float]]
    lance_build_s: float | None
    lance_recall: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """One run over all sizes."""

    sizes: list[Size]

    def write(self, folder: Path) -> str:
        """Write `retrieval.json` and `retrieval.md`; gives the Markdown."""
        folder.mkdir(parents=True, exist_ok=True)
        text = render(self)
        (folder / "retrieval.json").write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf8")
        (folder / "retrieval.md").write_text(text, encoding="utf8")
        return text


def render(report: Report) -> str:
    """The table of times, and what the index cost and found."""
    lines = ["# retrieval", "", "| chunks | system | p50 ms | p95 ms |", "|---|---|---|---|"]
    for size in report.sizes:
        lines += [f"| {size.chunks:,} | {name} | {p50:.1f} | {p95:.1f} |" for name, (p50, p95) in size.times_ms.items()]
    lines.append("")
    for size in report.sizes:
        if size.lance_build_s is not None:
            lines.append(
                f"LanceDB, {size.chunks:,} chunks: built in {size.lance_build_s:.1f} s, recall@{NEAREST} against brute "
                f"force {size.lance_recall:.3f} (by distance)."
            )
    return "\n".join(lines) + "\n"


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask the release of TAXKG_HOME, then its texts repeated to the sizes of TAXKG_BENCH_CHUNKS; no repetitions."""
    try:
        searcher = open_release(Settings().home).searcher
    except NotReleasedError as missing:
        raise CorpusError(str(missing)) from missing
    questions = [str(row["query"]) for row in read_questions()][:ASKED]
    sizes = [_measure(searcher, questions, has_lance=False)]
    for count in (int(text) for text in os.environ.get("TAXKG_BENCH_CHUNKS", "50000").split(",") if text):
        sizes.append(_measure(_repeat(searcher, count), questions, has_lance=True))
    return Report(sizes)


def _repeat(searcher: Searcher, count: int) -> Searcher:
    """The release's texts again and again, each time as other documents."""
    rows, vectors = searcher.index.rows, searcher.index.vectors
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
        model_hash=searcher.index.model_hash,
    )
    return Searcher(index=index, encoder=searcher.encoder)


def _measure(searcher: Searcher, questions: Sequence[str], *, has_lance: bool) -> Size:
    plain = replace(searcher, parts=Parts(rerank=False))
    hybrid = build_baselines(searcher)["hybrid"]
    systems: dict[str, Callable[[str], Any]] = {
        "search": lambda question: searcher.search(question, k=10),
        "search without ranker": lambda question: plain.search(question, k=10),
        "naive hybrid": hybrid,
        "of these, encoding the question": searcher.encoder.encode_query,
    }
    for system in systems.values():
        system(questions[0])
    seen: dict[str, list[float]] = {name: [] for name in systems}
    for question in questions:  # by turns, so that other work on the machine falls on all alike
        for name, system in systems.items():
            begin = time.perf_counter()
            system(question)
            seen[name].append(1000 * (time.perf_counter() - begin))
    times = {name: (float(np.quantile(own, 0.5)), float(np.quantile(own, 0.95))) for name, own in seen.items()}
    if not has_lance:
        return Size(searcher.index.rows.height, times, None, None)
    asked = np.stack([searcher.encoder.encode_query(question) for question in questions[:CHECKED]])
    build, vector_times, recall = _measure_lance(searcher.index, asked)
    return Size(searcher.index.rows.height, {**times, "LanceDB, vectors alone": vector_times}, build, recall)


def _measure_lance(index: SearchIndex, asked: Any) -> tuple[float, tuple[float, float], float]:
    """Build time, p50 and p95 of a search, and recall by distance of LanceDB's approximate index."""
    import lancedb

    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        vectors = pl.Series(index.vectors, dtype=pl.Array(pl.Float32, index.vectors.shape[1]))
        table = lancedb.connect(folder).create_table(
            "chunks", pl.DataFrame({"chunk_id": index.rows["chunk_id"], "vector": vectors}).to_arrow()
        )
        build_neighbour_index(table)
        build = time.perf_counter() - begin
        times: list[float] = []
        hits = 0
        for vector in asked:
            begin = time.perf_counter()
            found = find_nearest(table, vector, count=NEAREST, is_indexed=True)
            times.append(1000 * (time.perf_counter() - begin))
            exact = np.sort(1.0 - index.vectors @ vector)[NEAREST - 1]
            hits += sum(row["_distance"] <= float(exact) + CLOSE for row in found)
    quantiles = float(np.quantile(times, 0.5)), float(np.quantile(times, 0.95))
    return build, quantiles, hits / (NEAREST * len(asked))
