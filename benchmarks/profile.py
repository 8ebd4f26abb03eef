"""Which stage and which page cost most: stages timed inside a whole run, pages one by one as documents of their own."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import pymupdf

from benchmarks.documents import Document, blank_page, split_pages
from benchmarks.engines import forget_texts
from taxkg_assets.extraction import extract as composition
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.extraction.pdf.reader import read_source

_MUPDF: Any = pymupdf
_STAGE_PREFIXES = ("read_", "find_", "build_")
# How many of a thing are nothing notable on a page that usually has none.
_LEAST = {"spans": 100, "rules": 30, "fills": 30, "fields": 10, "tables": 1, "references": 10}


@dataclass(frozen=True, slots=True)
class PageCost:
    """What a page costs, and what is on it."""

    document_id: str
    page: int
    floor_ms: float
    own_ms: float
    stages_ms: dict[str, float]
    spans: int
    rules: int
    fills: int
    fields: int
    tables: int
    references: int

    @property
    def ratio(self) -> float:
        return self.own_ms / self.floor_ms

    @property
    def kind(self) -> str:
        """A page to be filled in, one with tables or charts, or text."""
        return "form face" if self.fields else "table or chart" if self.tables else "text"

    @property
    def counts(self) -> dict[str, int]:
        return {
            "spans": self.spans,
            "rules": self.rules,
            "fills": self.fills,
            "fields": self.fields,
            "tables": self.tables,
            "references": self.references,
        }


def find_reason(cost: PageCost, pages: Sequence[PageCost]) -> str:
    """Tell what is on a page most often against the usual one: `240 rules (usual: 8)`."""
    usual = {name: statistics.median(page.counts[name] for page in pages) for name in cost.counts}
    name = max(cost.counts, key=lambda name: cost.counts[name] / (usual[name] + _LEAST[name]))
    return f"{cost.counts[name]} {name} (usual: {usual[name]:.0f})"


@contextmanager
def timed_stages(seconds: dict[str, float]) -> Iterator[None]:
    """Add up what each stage that `extract` calls takes, whichever stages it is composed of."""
    stages = {
        name: value
        for name, value in vars(composition).items()
        if isinstance(value, FunctionType)
        and value.__module__ != composition.__name__
        and name.startswith(_STAGE_PREFIXES)
    }
    for name, stage in stages.items():
        setattr(composition, name, _timed(stage, name, seconds))
    try:
        yield
    finally:
        for name, stage in stages.items():
            setattr(composition, name, stage)


def _timed(stage: Callable[..., Any], name: str, seconds: dict[str, float]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        start = time.process_time()
        try:
            return stage(*args, **kwargs)
        finally:
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - start

    return run


def profile_stages(documents: Sequence[Document], *, repeat: int) -> dict[str, dict[str, float]]:
    """Median milliseconds a page of each stage, for each document; `(between stages)` is what no stage accounts for."""
    found: dict[str, dict[str, float]] = {}
    for document in documents:
        runs: dict[str, list[float]] = defaultdict(list)
        for _ in range(repeat):
            stages, total = _run(document.data, document.document_id)
            stages["(between stages)"] = total - sum(stages.values())
            for name, seconds in stages.items():
                runs[name].append(1000 * seconds / document.page_count)
        found[document.document_id] = {name: statistics.median(values) for name, values in runs.items()}
    return found


def profile_pages(documents: Sequence[Document], *, repeat: int) -> list[PageCost]:
    """Every page as a document of its own, dearest first, less what an empty document costs."""
    blank = blank_page()
    empty = min((_run(blank, "blank") for _ in range(3 * repeat)), key=lambda run: run[1])
    costs = [
        _page_cost(data, document.document_id, page=ix + 1, repeat=repeat, empty=empty)
        for document in documents
        for ix, data in enumerate(split_pages(document))
    ]
    return sorted(costs, key=lambda cost: -cost.own_ms)


def _page_cost(
    data: bytes, document_id: str, *, page: int, repeat: int, empty: tuple[dict[str, float], float]
) -> PageCost:
    # The best of the runs: whatever else the machine does can only add to what a single page costs.
    stages, own = min((_run(data, document_id) for _ in range(repeat)), key=lambda run: run[1])
    floor = min(_floor_seconds(data) for _ in range(repeat))
    source = read_source(data, document_id=document_id)
    content: Page = source.pages[0]
    frames = composition.extract(data, document_id=document_id).frames
    return PageCost(
        document_id,
        page,
        floor_ms=1000 * floor,
        own_ms=1000 * (own - empty[1]),
        stages_ms={name: 1000 * (seconds - empty[0].get(name, 0.0)) for name, seconds in stages.items()},
        spans=len(content.spans),
        rules=len(content.rules),
        fills=len(content.fills),
        fields=len(content.widgets),
        tables=frames["tables"].height,
        references=frames["references"].height,
    )


def _run(data: bytes, document_id: str) -> tuple[dict[str, float], float]:
    seconds: dict[str, float] = {}
    forget_texts()
    with timed_stages(seconds):
        start = time.process_time()
        composition.extract(data, document_id=document_id)
        total = time.process_time() - start
    return seconds, total


def _floor_seconds(data: bytes) -> float:
    start = time.process_time()
    with _MUPDF.open(stream=data, filetype="pdf") as document:
        document[0].get_text("dict")
    return time.process_time() - start
