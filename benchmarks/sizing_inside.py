"""The tables of a growing library made in this process: processor time of reading, builders, gates and commits.

The documents are read once, as each is read by itself; their rows are repeated under new names. Every further table is
made, committed and judged as in a build, but without Dagster. Texts are encoded at the smallest size only.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import polars as pl

import taxkg_assets.definitions  # noqa: F401 - registers the tables and their gates
from benchmarks.documents import Document
from benchmarks.graph import admit, rename
from taxkg_assets.defs.home.contracts import empty_frame, schema_of
from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.defs.ingest.intake import PER_DOCUMENT
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.extraction.extract import extract

READING = "documents"
LAST = ("edges", "revisions", "index")
"""The tables that builds go up to."""


@dataclass(frozen=True, slots=True)
class Size:
    """One build: pages, documents, processor seconds by step, rows of tables, most resident memory."""

    pages: int
    documents: int
    seconds: dict[str, float]
    rows: dict[str, int]
    peak_mb: int
    is_done: bool


class Clock:
    """Processor seconds of this process by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Add what happens inside to a step."""
        begin = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - begin


def open_inside(unit: Sequence[Document]) -> Callable[..., Size]:
    """Read the documents, and give what measures a library of N copies of them."""
    clock = Clock()
    with clock.step(READING):
        frames = read_frames(unit)
    known: dict[str, pl.DataFrame] = {}

    def measure(*, times: int) -> Size:
        return measure_inside(frames, times=times, reading_s=clock.seconds[READING] * times, known=known)

    return measure


def read_frames(unit: Sequence[Document]) -> dict[str, pl.DataFrame]:
    """All per-document tables of the documents."""
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in (READING, *PER_DOCUMENT)}
    for document in unit:
        read = extract(document.data, document_id=document.document_id)
        parts[READING].append(admit(document, read))
        for name in PER_DOCUMENT:
            parts[name].append(read.frames[name])
    return {name: pl.concat(frames) for name, frames in parts.items()}


def measure_inside(
    frames: dict[str, pl.DataFrame], *, times: int, reading_s: float, known: dict[str, pl.DataFrame]
) -> Size:
    """Commit the rows under new names, then make, commit and judge every table up to the index."""
    clock, rows = Clock(), {}
    clock.seconds[READING] = reading_s
    with tempfile.TemporaryDirectory() as folder:
        home = Home(home=folder)
        store = home.store
        documents = pl.concat([rename(frames[READING], number) for number in range(times)])["document_id"]
        states = {document: {"content": ""} for document in documents}
        for name, frame in frames.items():
            repeated = pl.concat([rename(frame, number) for number in range(times)])
            with clock.step(f"{name}: commit"):
                store.replace_documents(name, repeated, documents=states)
            rows[name] = repeated.height
        for name in set(PIPELINE) - frames.keys():
            store.write(name, known.get(name, empty_frame(schema_of(name))), inputs="")
        wanted = PIPELINE.ancestors(LAST)
        for name in PIPELINE.order():
            if name not in wanted:
                continue
            if name not in frames and (step := PIPELINE[name].step):
                with clock.step(name):
                    made = step.make(home, read_states(home, PIPELINE.upstream(name)), made_from="")
                with clock.step(f"{name}: commit"):
                    store.write(name, made.frame, inputs="", documents=made.parts)
                rows[name] = made.frame.height
            for check in PIPELINE.gates(name):
                # What the gates state about repeated documents is not inspected.
                with clock.step(f"{name}_{check}"):
                    PIPELINE[name].gates[check](home)
        known["embeddings"] = store.read("embeddings")
        pages = int(store.read(READING)["page_count"].sum())
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return Size(pages, rows[READING], {k: round(v, 3) for k, v in clock.seconds.items()}, rows, peak_mb, True)


def read_states(home: Home, names: Iterable[str]) -> dict[str, TableState]:
    """The states of tables that are there.

    Args:
        home: The home.
        names: Tables.
    """
    found = {name: home.store.state(name) for name in names}
    return {name: state for name, state in found.items() if state is not None}
