"""Both members of the index at one size: in memory and exact, and rows in LanceDB; each in a process of its own.

The passages are those of a release again and again, each time as other documents, with three terms in ten drawn again
from the corpus and vectors moved a little, so that no two are equal and rare terms stay rare. TAXKG_BENCH_CHUNKS gives
the number (500,000 by default).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import polars as pl
import psutil

from benchmarks.in_memory import index_in_memory
from benchmarks.questions import read_questions
from benchmarks.results import open_home
from taxkg_assets.defs.home.index_files import FlatRows, open_search_index, write_index_files
from taxkg_assets.defs.home.read_ahead import read_index_ahead
from taxkg_assets.defs.home.store import Store
from taxkg_assets.garbage import collect_rarely
from taxkg_assets.retrieval.index.index import write_passages
from taxkg_assets.retrieval.index.passage_index import SearchIndex
from taxkg_assets.retrieval.index.precomputed import build_precomputed
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.serving.released import open_release
from taxkg_assets.settings import Settings

PROJECT = Path(__file__).resolve().parents[1]
QUERIED, WARM, NEAREST = 100, 10, 10
DRAWN, MOVED = 0.3, 0.4
"""Share of a passage's terms that are drawn again; length of what is added to its vector."""
MEMORY, LANCE = "in memory", "LanceDB"
PATH = "index/bench"
FILTERS: tuple[dict[str, Any], ...] = ({}, {"form": "1099-DIV"})


@dataclass(frozen=True, slots=True)
class Member:
    """What one member of the index took; times in milliseconds of a whole search of ten passages.

    `first`: the best rows of each question, by filter. `busy_ms`: processor time, p50.
    """

    name: str
    open_s: float
    opened_mb: float
    p50_ms: float
    p95_ms: float
    busy_ms: float
    filtered_p50_ms: float
    peak_mb: float
    first: list[list[int]]
    texts: list[list[str]]


@dataclass(frozen=True, slots=True)
class Report:
    """Both members on the same passages and questions."""

    passages: int
    rows_s: float
    files_s: float
    members: list[Member]
    candidate_recall: float
    pipeline_recall: float

    def write(self, folder: Path) -> str:
        """Write `served_index.json` and `served_index.md`; gives the Markdown."""
        folder.mkdir(parents=True, exist_ok=True)
        text = render(self)
        reported = asdict(self)
        for member in reported["members"]:
            del member["first"], member["texts"]
        (folder / "served_index.json").write_text(json.dumps(reported, indent=1) + "\n", encoding="utf8")
        (folder / "served_index.md").write_text(text, encoding="utf8")
        return text


def render(report: Report) -> str:
    """The table of times and memory, and how often both find the same."""
    lines = [
        f"# The served index at {report.passages:,} passages",
        "",
        "| index | opened in s | then MB | p50 ms | p95 ms | p50 ms of processor time | with a filter, p50 ms "
        "| most MB |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {own.name} | {own.open_s:.1f} | {own.opened_mb:,.0f} | {own.p50_ms:.1f} | {own.p95_ms:.1f} "
            f"| {own.busy_ms:.1f} | {own.filtered_p50_ms:.1f} | {own.peak_mb:,.0f} |"
            for own in report.members
        ),
        "",
        f"LanceDB's table was written in {report.rows_s:.0f} s, the files next to it in {report.files_s:.0f} s.",
        f"Of the ten best candidates of the exact index the other's ten hold {report.candidate_recall:.3f}, of the ten "
        f"passages handed over {report.pipeline_recall:.3f}.",
    ]
    return "\n".join(lines) + "\n"


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Write the passages once, then ask each member in its own process."""
    released = open_home(Settings().home)
    count = int(os.environ.get("TAXKG_BENCH_CHUNKS", "500000").split(",")[-1])
    index = index_in_memory(released.searcher)
    questions = [str(row["query"]) for row in read_questions()][: QUERIED + WARM]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        took = write_synthetic(index, home / PATH, count=count)
        queried = home / "questions.json"
        queried.write_text(json.dumps({"questions": questions, "home": Settings().home}), encoding="utf8")
        members = [_ask_in_child(name, home, queried) for name in (MEMORY, LANCE)]
    exact, served = members
    return Report(
        count,
        *took,
        members,
        candidate_recall=_share(exact.first, served.first),
        pipeline_recall=_share(exact.texts, served.texts),
    )


def _share(wanted: Sequence[Sequence[Any]], found: Sequence[Sequence[Any]]) -> float:
    hits = sum(len(set(one) & set(other)) for one, other in zip(wanted, found, strict=True))
    return hits / max(1, sum(len(set(one)) for one in wanted))


def write_synthetic(index: SearchIndex, folder: Path, *, count: int) -> tuple[float, float]:
    """Write an index of N passages; gives the seconds that LanceDB's table took, and the files next to it."""
    parts = list(_vary(index, count))
    rows, vectors = pl.concat([part for part, _ in parts]), np.concatenate([part for _, part in parts])
    del parts
    folder.mkdir(parents=True)
    begin = time.perf_counter()
    write_passages(lancedb.connect(folder), rows, vectors)
    written = time.perf_counter()
    units = pl.DataFrame(schema={**rows.schema, "children": pl.List(pl.String)})
    write_index_files(
        folder,
        precomputed=build_precomputed(rows, vectors, units=units),
        vectors=vectors,
        flat=FlatRows(rows, units, np.zeros((0, vectors.shape[1]), dtype=np.float32), tables=pl.DataFrame()),
    )
    return written - begin, time.perf_counter() - written


def _vary(index: SearchIndex, count: int) -> Iterator[tuple[pl.DataFrame, np.ndarray]]:
    """Copies of the passages that differ from one another, until there are enough."""
    draw = np.random.default_rng(7)
    held_out = [np.array(terms.split(" "), dtype=object) for terms in index.rows["terms"]]
    every = np.concatenate(held_out)
    own = np.asarray(index.vectors)
    for copy in range(-(-count // index.height)):
        terms = []
        for words in held_out:
            is_drawn = draw.random(len(words)) < (DRAWN if copy else 0.0)
            terms.append(" ".join(np.where(is_drawn, every[draw.integers(0, len(every), len(words))], words)))
        moved = own + draw.standard_normal(own.shape).astype(np.float32) * np.float32(MOVED / own.shape[1] ** 0.5)
        vectors = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
        named = index.rows.with_columns(
            pl.Series("terms", terms, dtype=pl.String),
            *(pl.col(name) + f"~{copy:04d}" for name in ("document_id", "anchor_id", "chunk_id")),
        )
        left = count - copy * index.height
        yield named.head(left), vectors[:left]


def _ask_in_child(name: str, home: Path, queried: Path) -> Member:
    """Ask one member in a process that does nothing else."""
    out = home / f"{name.replace(' ', '-')}.json"
    environment = {**os.environ, "TAXKG_INDEX_MEMORY_ROWS": str(10**9 if name == MEMORY else 0)}
    command = [sys.executable, "-m", "benchmarks.served_index", name, str(home), str(queried), str(out)]
    subprocess.run(command, cwd=PROJECT, env=environment, check=True)
    return Member(**json.loads(out.read_text(encoding="utf8")))


def ask_member(name: str, home: Path, queried: Path) -> Member:
    """Open the index as a server does, ask every question, and tell what it took."""
    reported = json.loads(queried.read_text(encoding="utf8"))
    collect_rarely()  # as the command line does
    released = open_release(reported["home"])
    encoder = released.question_encoder
    begin = time.perf_counter()
    most = Settings().index_memory_rows
    index = open_search_index(Store(home), PATH, model_hash=encoder.model_hash, most_rows=most)
    searcher = Searcher(index=index, encoder=encoder)
    searcher.search(reported["questions"][0], k=NEAREST)
    opened, process = time.perf_counter() - begin, psutil.Process()
    read_index_ahead(Store(home), PATH)
    opened_mb = process.memory_info().rss / 2**20
    times: dict[int, list[tuple[float, float]]] = {0: [], 1: []}
    first, texts = [], []
    peak = opened_mb
    for number, question in enumerate(reported["questions"]):
        for place, filters in enumerate(FILTERS):
            started, busy = time.perf_counter(), time.process_time()
            results = searcher.search(question, k=NEAREST, **filters)
            spent = (time.perf_counter() - started, time.process_time() - busy)
            if number >= WARM:
                times[place].append(spent)
            first.append([found.row for found in searcher.rank(question, **filters).candidates[:NEAREST]])
            texts.append([row.chunk_id for row in results])
        peak = max(peak, process.memory_info().rss / 2**20)
    clock, busy_s = (1000 * np.array(own) for own in zip(*times[0], strict=True))
    filtered = 1000 * np.array([one for one, _ in times[1]])
    return Member(
        name=name,
        open_s=opened,
        opened_mb=opened_mb,
        p50_ms=float(np.quantile(clock, 0.5)),
        p95_ms=float(np.quantile(clock, 0.95)),
        busy_ms=float(np.quantile(busy_s, 0.5)),
        filtered_p50_ms=float(np.quantile(filtered, 0.5)),
        peak_mb=peak,
        first=first,
        texts=texts,
    )


if __name__ == "__main__":
    member = ask_member(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    Path(sys.argv[4]).write_text(json.dumps(asdict(member)), encoding="utf8")
