"""Quality: taxkg against pymupdf4llm and plain chunks, on the bundled documents with their labels.

One scorer judges every reader, and one scorer every search. It favors the rivals where the shapes differ: a heading
counts whether it is a run-in or not, and a paragraph's owner may be any of its two innermost headings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import polars as pl

from benchmarks.accuracy import ask_systems
from benchmarks.readers import (
    Reading,
    read_chunks,
    read_markdown_chunks,
    read_with_pymupdf4llm,
    read_with_taxkg,
)
from benchmarks.results import open_home, write_results
from taxkg_assets.defs.wiring.gold import open_labels
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.evaluation.labels import Labels
from taxkg_assets.evaluation.matching import squash
from taxkg_assets.evaluation.naming import is_same_heading, is_same_path
from taxkg_assets.evaluation.page import Block, Cell, Heading, Paragraph, Table, render_html, render_markdown
from taxkg_assets.retrieval.index.fuse import fuse_rankings
from taxkg_assets.serving.released import Released
from taxkg_assets.settings import Settings

Reader = Callable[[Path, Collection[int]], Reading]
READERS: Mapping[str, Reader] = {
    "taxkg": read_with_taxkg,
    "pymupdf4llm": read_with_pymupdf4llm,
}
CHUNKERS: Mapping[str, Callable[[Path], list[tuple[int, str]]]] = {
    "chunks of 1,000 characters": read_chunks,
    "pymupdf4llm, cut at headings": read_markdown_chunks,
}
DEPTH, RESULTS = 100, 50
SEARCH_METRICS = {
    "recall@5": "recall@5",
    "recall@2000tok": "recall within 2,000 tokens",
    "mrr": "MRR",
    "near_miss@1": "near miss first",
    "wrong_document@1": "wrong document first",
}
Figures = dict[str, tuple[float, int]]


@dataclass(frozen=True, slots=True)
class Report:
    """Extraction figures by reader, each with its number of labels; means of search metrics by query set and system."""

    extraction: dict[str, Figures]
    search: dict[str, dict[str, dict[str, float]]]

    def write(self, folder: Path) -> str:
        """Write `quality.json`, `quality.md` and `quality.html`; return the Markdown."""
        blocks = describe(self)
        text = write_results(self, render_markdown(blocks), folder=folder, name="quality")
        (folder / "quality.html").write_text(render_html(blocks, title="taxkg: measured quality"), encoding="utf8")
        return text


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Read the documents of TAXKG_HOME with every reader, and ask every search its labeled questions.

    Args:
        repeat: Not used: nothing is timed.
        rival_repeat: Not used.

    Returns:
        Figures on the labels of `data/eval` and of TAXKG_GOLD, as far as the home has their documents.
    """
    settings = Settings()
    released = open_home(settings.home)
    files = _find_files(released)
    labels = open_labels(Home(home=settings.home)).within(set(files))
    extraction = {name: score_reader(read, files, labels) for name, read in READERS.items()}
    rivals = {name: open_chunks(read, files, released) for name, read in CHUNKERS.items()}
    return Report(extraction, ask_systems(released, settings, rivals=rivals))


def score_reader(read: Reader, files: Mapping[str, Path], labels: Labels) -> Figures:
    """Judge what a reader makes of the labeled documents.

    Args:
        read: Reader of pages of one file.
        files: Labeled documents by id.
        labels: Labels of these documents.

    Returns:
        Share and number of labels by figure; of `heading precision` the number of headings that were read.
    """
    pages: dict[str, set[int]] = {}
    for name, page in _list_pages(labels):
        pages.setdefault(name, set()).add(page)
    readings = {name: read(files[name], own) for name, own in sorted(pages.items())}
    return {
        **_score_headings(readings, labels),
        "paragraphs under their heading": _share(
            [_is_owned(readings[own.document_id], own) for own in labels.ownership]
        ),
        "table cells with both headers": _share([_is_found(readings[own.document_id], own) for own in labels.tables]),
    }


def open_chunks(
    read: Callable[[Path], list[tuple[int, str]]], files: Mapping[str, Path], released: Released
) -> Callable[[str], list[dict[str, Any]]]:
    """Build a hybrid search as tutorials do: BM25 and the home's encoder over chunks, reciprocal rank fusion.

    Args:
        read: Chunker of one file: pages and texts.
        files: Documents by id.
        released: Release whose encoder is used, so that systems differ by their texts and their search only.

    Returns:
        Search from a question to result rows, best first.
    """
    rows = [(name, page, text) for name, path in sorted(files.items()) for page, text in read(path)]
    encoder = released.searcher.encoder
    vectors = np.asarray(encoder.encode_passages([text for _, _, text in rows]))
    terms = bm25s.BM25()
    terms.index(bm25s.tokenize([text for _, _, text in rows], show_progress=False), show_progress=False)
    depth = min(DEPTH, len(rows))

    def search(question: str) -> list[dict[str, Any]]:
        found, _ = terms.retrieve(bm25s.tokenize(question, show_progress=False), k=depth, show_progress=False)
        near = np.argsort(-(vectors @ np.asarray(encoder.encode_query(question))), kind="stable")[:depth]
        fused = fuse_rankings([[int(row) for row in found[0]], [int(row) for row in near]])
        ranked = sorted(fused.items(), key=lambda item: (-item[1], item[0]))[:RESULTS]
        return [
            {"document": rows[row][0], "page": rows[row][1], "chunk_id": str(row), "text": rows[row][2], "score": score}
            for row, score in ranked
        ]

    return search


def describe(report: Report) -> list[Block]:
    """Describe the figures as a report.

    Args:
        report: Figures.

    Returns:
        Blocks of a page.
    """
    names = list(next(iter(report.extraction.values())))
    blocks: list[Block] = [
        Heading("Measured quality", 1),
        Paragraph(
            "Labels and questions of the documents of one home; the bundled ones are in data/eval. Repeat it with "
            "`python -m benchmarks quality`. The best figure of a row is strong."
        ),
        Heading("Extraction"),
        Table(
            ("share of labels", *report.extraction),
            tuple(_row(name, [own[name] for own in report.extraction.values()]) for name in names),
        ),
        Heading("Search"),
        Paragraph("All systems use the encoder of the home; the two rivals add BM25 by reciprocal rank fusion."),
    ]
    for query_set, systems in sorted(report.search.items()):
        rows = []
        for metric, shown in SEARCH_METRICS.items():
            values = [own[metric] for own in systems.values()]
            best = min(values) if metric.endswith("@1") else max(values)
            cells = [Cell(f"{value:.3f}", is_strong=value == best) for value in values]
            rows.append((Cell(shown, is_words=True), *cells))
        blocks += [Heading(f"Questions: {query_set}", 3), Table(("", *systems), tuple(rows))]
    return blocks


def _list_pages(labels: Labels) -> Iterator[tuple[str, int]]:
    yield from ((own.document_id, own.page) for own in labels.anchors)
    yield from ((own.document_id, own.page) for own in labels.ownership)
    yield from ((own.document_id, own.page) for own in labels.tables)


def _score_headings(readings: Mapping[str, Reading], labels: Labels) -> Figures:
    """Return recall and precision of headings on the pages that have labels; each reading is matched once."""
    pages = {(own.document_id, own.page) for own in labels.anchors}
    left = {place: [own.text for own in readings[place[0]].headings if own.page == place[1]] for place in sorted(pages)}
    count, hits, matched = sum(map(len, left.values())), [], 0
    for own in labels.anchors:
        here = left[own.document_id, own.page]
        hit = next((text for text in here if is_same_heading(text, own.heading)), None)
        if hit is not None:
            here.remove(hit)
            matched += 1
        if not own.is_optional:
            hits.append(hit is not None)
    return {"headings found": _share(hits), "heading precision": (matched / count if count else 0.0, count)}


def _is_owned(reading: Reading, label: Any) -> bool:
    quote = squash(label.quote)
    found = [own for own in reading.paragraphs if quote in squash(own.text)]
    here = [own for own in found if own.page == label.page] or found
    return bool(here) and any(is_same_heading(own, label.owner) for own in here[0].owners[:2])


def _is_found(reading: Reading, label: Any) -> bool:
    return any(
        own.page == label.page
        and squash(own.text) == squash(label.value)
        and is_same_path(label.row, own.row, title=None)
        and is_same_path(label.column, own.column, title=None)
        for own in reading.cells
    )


def _share(hits: Sequence[bool]) -> tuple[float, int]:
    return (sum(hits) / len(hits) if hits else 0.0, len(hits))


def _row(name: str, values: Sequence[tuple[float, int]]) -> tuple[Cell, ...]:
    best = max(value for value, _ in values)
    cells = [Cell(f"{value:.3f}", f"of {count}", is_strong=value == best) for value, count in values]
    return (Cell(name, is_words=True), *cells)


def _find_files(released: Released) -> dict[str, Path]:
    documents = released.table("documents").filter(pl.col("source_uri").str.ends_with(".pdf"))
    paths = {row["document_id"]: Path(row["source_uri"].removeprefix("file://")) for row in documents.to_dicts()}
    return {name: path for name, path in paths.items() if path.exists()}
