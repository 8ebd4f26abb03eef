"""How the reading behaves under load: two processes against one, and memory over a thousand pages."""

from __future__ import annotations

import gc
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pymupdf

from benchmarks.documents import Document, blank_page
from taxkg_assets.defs.ingest.reader import Limits, read_documents
from taxkg_assets.defs.ingest.worker_replies import Job
from taxkg_assets.extraction.extract import extract
from taxkg_assets.sources.scan import sha256_of

_MB = 1024 * 1024
_LIMITS = Limits(seconds=600, memory_mb=8000)
_COPIES = 5
_TURNS = 3
# The parser alone is given more to read, so that both are timed over seconds.
_PARSER_TIMES = 3
_NUMBERS, _SUMS = 1_000_000, 40
_MUPDF: Any = pymupdf


@dataclass(frozen=True, slots=True)
class Scaling:
    """The same pages read by one process and by two, by the pool that a build uses; starting the processes left out.

    `parser_…`: the parser alone in processes that share nothing. `control_…`: sums of numbers, which need no memory and
    no file: what the machine's two cores are worth at the time.
    """

    pages: int
    one_s: tuple[float, ...]
    two_s: tuple[float, ...]
    parser_one_s: tuple[float, ...]
    parser_two_s: tuple[float, ...]
    control_one_s: tuple[float, ...]
    control_two_s: tuple[float, ...]
    load_before: float

    @property
    def speedup(self) -> float:
        return _speedup(self.one_s, self.two_s)

    @property
    def parser_speedup(self) -> float:
        return _speedup(self.parser_one_s, self.parser_two_s)

    @property
    def control_speedup(self) -> float:
        return _speedup(self.control_one_s, self.control_two_s)


def _speedup(one_s: Sequence[float], two_s: Sequence[float]) -> float:
    return statistics.median(one / two for one, two in zip(one_s, two_s, strict=True))


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident memory while pages are read, document after document."""

    pages: tuple[int, ...]
    resident_mb: tuple[float, ...]

    @property
    def growth_mb(self) -> float:
        """Highest of the second half less the highest of the first half."""
        half = len(self.resident_mb) // 2
        return max(self.resident_mb[half:]) - max(self.resident_mb[:half])


def measure_scaling(documents: Sequence[Document]) -> Scaling:
    """Read the documents several times over with one process and with two, by turns with the parser alone."""
    load_before = os.getloadavg()[0]
    own: dict[int, list[float]] = {1: [], 2: []}
    parser: dict[int, list[float]] = {1: [], 2: []}
    control: dict[int, list[float]] = {1: [], 2: []}
    paths = [d.path for d in sorted(documents, key=lambda d: -d.page_count) for _ in range(_COPIES)]
    with tempfile.TemporaryDirectory() as folder:
        blank = Path(folder) / "blank.pdf"
        blank.write_bytes(blank_page())
        for turn in range(_TURNS):
            for workers in (1, 2):
                place = Path(folder) / f"{turn}-{workers}"
                start_s = _read_seconds([blank] * workers, workers=workers, folder=place / "start")
                own[workers].append(_read_seconds(paths, workers=workers, folder=place / "read") - start_s)
                parser[workers].append(_share_seconds(_parse, paths * _PARSER_TIMES, workers=workers))
                control[workers].append(_share_seconds(_count, [_NUMBERS] * _SUMS, workers=workers))
    pages = _COPIES * sum(d.page_count for d in documents)
    return Scaling(
        pages=pages,
        one_s=tuple(own[1]),
        two_s=tuple(own[2]),
        parser_one_s=tuple(parser[1]),
        parser_two_s=tuple(parser[2]),
        control_one_s=tuple(control[1]),
        control_two_s=tuple(control[2]),
        load_before=load_before,
    )


def _share_seconds(do: Callable[[Any], None], pieces: Sequence[Any], *, workers: int) -> float:
    """Seconds in which processes that share nothing do all pieces of work between them."""
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        pool.map(do, [pieces[0]] * workers, chunksize=1)
        start = time.perf_counter()
        pool.map(do, pieces, chunksize=1)
        return time.perf_counter() - start


def _count(numbers: int) -> None:
    total = 0
    for number in range(numbers):
        total += number * number % 7


def _parse(path: Path) -> None:
    with _MUPDF.open(path) as document:
        for page in document:
            page.get_text("dict")


def _read_seconds(paths: Sequence[Path], *, workers: int, folder: Path) -> float:
    jobs = [
        Job(f"{path.stem}-{ix}", str(path), sha256_of(path), str(path), str(path.parent), False, "bench", 10_000, out)
        for ix, path in enumerate(paths)
        for out in [str(folder / str(ix))]
    ]
    start = time.perf_counter()
    outcomes = read_documents(jobs, workers=workers, limits=_LIMITS, on_done=lambda _: None)
    seconds = time.perf_counter() - start
    if refused := [outcome.reason for outcome in outcomes if not outcome.is_read]:
        raise RuntimeError(f"documents were refused: {refused[0]}")
    return seconds


def measure_memory(documents: Sequence[Document], *, pages: int) -> Memory:
    """Read real pages under new document ids until there are as many as queried, in a process of its own."""
    paths = [str(document.path) for document in documents]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        read, resident = pool.apply(_read_and_weight, (paths, pages))
    return Memory(tuple(read), tuple(resident))


def _read_and_weight(paths: Sequence[str], pages: int) -> tuple[list[int], list[float]]:
    own = psutil.Process()
    read, resident, total, copy = [], [], 0, 0
    while total < pages:
        for path in paths:
            total += extract(Path(path).read_bytes(), document_id=f"{Path(path).stem}-copy{copy}").page_count
            gc.collect()
            read.append(total)
            resident.append(own.memory_info().rss / _MB)
        copy += 1
    return read, resident
