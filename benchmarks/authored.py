"""Authored layer: the layout engine against the structure tags, over every page of a library that is read by its tags.

No labels are needed: each document is read twice, and the reading by tags is what the layout engine should have found.
"""

from __future__ import annotations

import os
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.documents import CorpusError
from benchmarks.results import write_results
from taxkg_assets.extraction.extract import Extraction, extract

WORKERS = 2
NICENESS = 5
SAMPLE = 40
SEED = 7
PARAGRAPH_CHARACTERS = 40
BEGIN_CHARACTERS = 60
PARAGRAPH_ROLES = ("BodyText", "ListBlock", "Callout")
NOT_OWN_LINE = ("runin", "line", "column")
GENRES = {
    "form": "form",
    "filer_instructions": "instructions",
    "recipient_instructions": "instructions",
    "publication": "publication",
}
Items = Counter[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Match:
    """Items of one sort: found by both readings, all of the tags, all of the layout engine.

    tags_found, layout_found: items of each reading that the other has; they differ where items are matched by a begin.
    """

    tags_found: int = 0
    tags: int = 0
    layout_found: int = 0
    layout: int = 0

    def __add__(self, other: Match) -> Match:
        return Match(*(a + b for a, b in zip(self._figures(), other._figures(), strict=True)))

    def _figures(self) -> tuple[int, int, int, int]:
        return self.tags_found, self.tags, self.layout_found, self.layout

    @property
    def recall(self) -> float | None:
        return self.tags_found / self.tags if self.tags else None

    @property
    def precision(self) -> float | None:
        return self.layout_found / self.layout if self.layout else None

    @property
    def f1(self) -> float | None:
        recall, precision = self.recall, self.precision
        if recall is None or precision is None or not recall + precision:
            return None if recall is None or precision is None else 0.0
        return 2 * recall * precision / (recall + precision)


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the two readings of one document say; `sources` and `reasons` count its pages."""

    document_id: str
    genre: str
    matches: dict[str, Match] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    agreed_headings: int = 0
    headings: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What one run saw, document by document."""

    documents: list[Agreement]

    def write(self, folder: Path) -> str:
        """Write `authored.json` and `authored.md`; gives the Markdown."""
        text = render(self.documents)
        return write_results(self, text, folder=folder, name="authored")


def run(*, quick: bool) -> Report:
    """Read the PDFs of TAXKG_TEST_CORPUS (folders `corpus` and `library`) twice each.

    Args:   quick: only 40 of them, drawn with a fixed seed.
    Raises: CorpusError where there are none.
    """
    paths = find_library(Path(os.environ.get("TAXKG_TEST_CORPUS", "../shared")))
    if quick and len(paths) > SAMPLE:
        paths = sorted(random.Random(SEED).sample(paths, SAMPLE))
    pool = ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn"), initializer=os.nice, initargs=(NICENESS,))
    with pool:
        return Report(list(pool.map(read_twice, paths)))


def find_library(root: Path) -> list[Path]:
    """Find the PDFs of a library, by name."""
    found = sorted(path for name in ("corpus", "library") for path in (root / name).glob("*.pdf"))
    if not found:
        raise CorpusError(f"no PDF is in {root}/corpus or {root}/library: name a folder in TAXKG_TEST_CORPUS.")
    return found


def read_twice(path: Path) -> Agreement:
    """Read a document by its tags and by its layout, and compare; one that cannot be read says why."""
    try:
        data = path.read_bytes()
        by_tags = extract(data, document_id=path.stem, use_tags=True)
        by_layout = extract(data, document_id=path.stem, use_tags=False)
    except Exception as failed:  # a document that fails is a finding, and the others are still compared
        return Agreement(path.stem, "other", error=" ".join(f"{type(failed).__name__}: {failed}".split())[:200])
    return compare(path.stem, by_tags, by_layout)


def compare(document_id: str, by_tags: Extraction, by_layout: Extraction) -> Agreement:
    """Compare two readings on the pages that were read by tags."""
    pages = {row.page for row in by_tags.page_sources if row.source == "tags"}
    listed = by_tags.frames["anchors"].filter(pl.col("page").is_in(pages) & ~pl.col("kind").is_in(NOT_OWN_LINE))
    return Agreement(
        document_id=document_id,
        genre=GENRES.get(by_tags.identity.doc_type, "other"),
        matches={name: match(by_tags.frames, by_layout.frames, pages) for name, match in MATCHES.items()},
        sources=dict(Counter(row.source for row in by_tags.page_sources)),
        reasons=dict(Counter(re.sub(r"\d+", "N", row.reason) for row in by_tags.page_sources if row.reason)),
        agreed_headings=listed.filter(pl.col("source") == "both").height,
        headings=listed.height,
    )


def normalize(text: str | None) -> str:
    """Reduce a text to its letters and digits."""
    return re.sub(r"[^a-z0-9$%§]", "", unicodedata.normalize("NFKC", text or "").casefold())


def _on(frame: pl.DataFrame, pages: Iterable[int]) -> pl.DataFrame:
    return frame.filter(pl.col("page").is_in(list(pages)))


def _match(ours: Items, theirs: Items) -> Match:
    """Match equal items, each once; `ours` are the tags'."""
    both = (ours & theirs).total()
    return Match(both, ours.total(), both, theirs.total())


Frames = dict[str, pl.DataFrame]


def find_headings(frames: Frames, pages: Iterable[int], *, is_runin: bool = False) -> Items:
    """Find headings by page and text: those on lines of their own, or those that run in."""
    own = pl.col("kind") == "runin" if is_runin else ~pl.col("kind").is_in(NOT_OWN_LINE)
    rows = _on(frames["anchors"], pages).filter(own).select("page", "heading").rows()
    return Counter((page, normalize(heading)) for page, heading in rows)


def match_headings(tags: Frames, layout: Frames, pages: Iterable[int]) -> Match:
    """Match headings on lines of their own."""
    return _match(find_headings(tags, pages), find_headings(layout, pages))


def match_runins(tags: Frames, layout: Frames, pages: Iterable[int]) -> Match:
    """Match run-in headings."""
    return _match(find_headings(tags, pages, is_runin=True), find_headings(layout, pages, is_runin=True))


def match_keys(tags: Frames, layout: Frames, pages: Iterable[int]) -> Match:
    """Match the keys of headings by page."""
    found = [
        Counter(_on(each["anchors"], pages).filter(pl.col("key").is_not_null()).select("page", "key").rows())
        for each in (tags, layout)
    ]
    return _match(*found)


def match_cells(tags: Frames, layout: Frames, pages: Iterable[int]) -> Match:
    """Match the cells of tables by page, text, row path and column path; cells without text do not count."""
    found: list[Items] = []
    for each in (tags, layout):
        flat = _on(each["tables"], pages).select("page", "cells").explode("cells").drop_nulls("cells").unnest("cells")
        rows = flat.select("page", "text", "row_path", "col_path").rows()
        found.append(
            Counter((page, *map(normalize, (text, row, col))) for page, text, row, col in rows if normalize(text))
        )
    return _match(*found)


def find_paragraphs(frames: Frames, pages: Iterable[int]) -> dict[int, list[str]]:
    """Find the normalized paragraphs that begin on each page."""
    found: dict[int, list[str]] = defaultdict(list)
    rows = _on(frames["sections"], pages).filter(pl.col("role").is_in(PARAGRAPH_ROLES) & pl.col("table_id").is_null())
    for page, text in rows.select("page", "text").rows():
        found[page].append(normalize(text))
    return found


def find_unmatched(ours: dict[int, list[str]], theirs: dict[int, list[str]]) -> tuple[list[tuple[int, str]], int]:
    """Find the paragraphs of one reading whose begin begins none of the other, and how many were inspected."""
    long = [(page, text) for page, texts in ours.items() for text in texts if len(text) >= PARAGRAPH_CHARACTERS]
    begins = {page: {text[:BEGIN_CHARACTERS] for text in texts} for page, texts in theirs.items()}
    lost = []
    for page, text in long:
        begin, other = text[:BEGIN_CHARACTERS], begins.get(page, set())
        if begin not in other and not any(text.startswith(begin) for text in other):
            lost.append((page, text))
    return lost, len(long)


def match_paragraphs(tags: Frames, layout: Frames, pages: Iterable[int]) -> Match:
    """Match paragraphs by how they begin: one that is split or joined begins another way."""
    ours, theirs = find_paragraphs(tags, pages), find_paragraphs(layout, pages)
    lost, inspected = find_unmatched(ours, theirs)
    invented, made = find_unmatched(theirs, ours)
    return Match(inspected - len(lost), inspected, made - len(invented), made)


MATCHES: dict[str, Callable[[Frames, Frames, Iterable[int]], Match]] = {
    "own-line headings": match_headings,
    "run-in headings": match_runins,
    "paragraphs": match_paragraphs,
    "cells": match_cells,
    "keys": match_keys,
}


def total(documents: Iterable[Agreement], name: str) -> Match:
    """Add the items of one sort over documents."""
    return sum((document.matches[name] for document in documents if name in document.matches), Match())


def render(documents: Sequence[Agreement]) -> str:
    """The report as Markdown: figures by genre, how pages were read, and the documents that agree least."""
    genres = sorted({document.genre for document in documents if not document.error})
    groups = {genre: [d for d in documents if d.genre == genre and not d.error] for genre in genres}
    groups["all"] = [d for d in documents if not d.error]
    rows = [
        [name, genre, *(_share(value) for value in (own.precision, own.recall, own.f1)), str(own.tags), str(own.layout)]
        for name in MATCHES
        for genre, group in groups.items()
        if (own := total(group, name)).tags or own.layout
    ]
    failed = [f"{document.document_id}: {document.error}" for document in documents if document.error]
    parts = [
        "# Layout engine against structure tags",
        f"{len(documents)} documents, {len(failed)} of which could not be read.",
        _table(["", "genre", "precision", "recall", "F1", "of the tags", "of the layout"], rows),
        "## How pages were read",
        _table(["genre", "documents", "tags", "template", "layout"], [_pages_row(*group) for group in groups.items()]),
        "## Why tags were not trusted",
        _table(["reason", "pages"], [[reason, str(n)] for reason, n in _count_reasons(documents).most_common()]),
        *failed,
    ]
    return "\n\n".join(parts) + "\n"


def _pages_row(genre: str, group: Sequence[Agreement]) -> list[str]:
    counts = [str(sum(d.sources.get(name, 0) for d in group)) for name in ("tags", "template", "layout")]
    return [genre, str(len(group)), *counts]


def _count_reasons(documents: Iterable[Agreement]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update(document.reasons)
    return counts


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
