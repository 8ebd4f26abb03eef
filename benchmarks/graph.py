"""The graph of a corpus that grows: processor time a document at 1, 3 and 10 times as many documents.

The documents are the real ones under new names, all tables read once beforehand; only the builders are timed.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import dataframely as dy
import polars as pl

from benchmarks.documents import Document, load_documents
from benchmarks.results import write_results
from taxkg_assets import schemas
from taxkg_assets.extraction.extract import Extraction, extract
from taxkg_assets.graph.edges import build_edges
from taxkg_assets.graph.nodes import build_nodes
from taxkg_assets.graph.registry import build_registry

Own = TypeVar("Own", bound=dy.Schema)
SIZES = (1, 3, 10)
TABLES = ("documents", "elements", "tables", "anchors", "faces", "sections", "references", "links")
_IDS = ("document_id", "element_id", "anchor_id", "table_id", "parent_anchor_id")
_OWN_NAME = r"^([^:#]+)"


@dataclass(frozen=True, slots=True)
class Growth:
    """One size of the corpus: what was built, and the processor time of each builder in each repetition."""

    documents: int
    nodes: int
    edges: int
    cpu_s: dict[str, list[float]]

    def ms_a_document(self) -> float:
        """Median over the repetitions of all builders together."""
        return 1000 * statistics.median(map(sum, zip(*self.cpu_s.values(), strict=True))) / self.documents


@dataclass(frozen=True, slots=True)
class Report:
    """Every size, smallest first."""

    growth: list[Growth]

    def write(self, folder: Path) -> str:
        """Write `graph.json` and `graph.md`; gives the Markdown."""
        return write_results(self, render(self), folder=folder, name="graph")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Build the graph of each size; there is no rival to repeat."""
    del rival_repeat
    frames = _read_frames()
    return Report([_grow(frames, times, repeat=repeat) for times in SIZES])


def _read_frames() -> dict[str, pl.DataFrame]:
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
    for document in load_documents():
        read = extract(document.data, document_id=document.document_id)
        parts["documents"].append(admit(document, read))
        for name in TABLES[1:]:
            parts[name].append(read.frames[name])
    return {name: pl.concat(frames) for name, frames in parts.items()}


def admit(document: Document, read: Extraction) -> dy.DataFrame[schemas.Documents]:
    """The row of a document in `documents`; what no builder of the graph reads is drawn."""
    reported = {"document_id": document.document_id, "page_count": read.page_count, "sha256": "0" * 64}
    nothing: dict[str, list[str]] = {"warnings": [], "image_only_pages": [], "hidden_texts": [], "page_sources": []}
    return schemas.Documents.sample(overrides=[{**asdict(read.identity), **reported, **nothing}])


def rename(frame: pl.DataFrame, number: int) -> pl.DataFrame:
    """Give all rows of a copy its own document names."""
    name = rf"${{1}}~{number}"
    ids = [pl.col(column).str.replace(_OWN_NAME, name) for column in frame.columns if column in _IDS]
    inner = pl.element().str.replace(_OWN_NAME, name)
    lists = [pl.col(column).list.eval(inner) for column in frame.columns if column == "element_ids"]
    return frame.with_columns(*ids, *lists)


def _grow(frames: dict[str, pl.DataFrame], times: int, *, repeat: int) -> Growth:
    def repeat_rows(schema: type[Own]) -> dy.DataFrame[Own]:
        rows = [rename(frames[schema.__name__.lower()], number) for number in range(times)]
        return schema.validate(pl.concat(rows).sort(schema.primary_key()))

    documents, sections = repeat_rows(schemas.Documents), repeat_rows(schemas.Sections)
    anchors, faces = repeat_rows(schemas.Anchors), repeat_rows(schemas.Faces)
    elements, tables = repeat_rows(schemas.Elements), repeat_rows(schemas.Tables)
    references, links = repeat_rows(schemas.References), repeat_rows(schemas.Links)
    cpu_s: dict[str, list[float]] = {"registry": [], "nodes": [], "edges": []}
    for _ in range(repeat):
        begin = time.process_time()
        registry = build_registry(faces, anchors, documents=documents, sections=sections)
        cpu_s["registry"].append(time.process_time() - begin)
        begin = time.process_time()
        nodes = build_nodes(
            documents,
            anchors,
            elements=elements,
            sections=sections,
            tables=tables,
            references=references,
            registry=registry,
            faces=faces,
            links=links,
        )
        cpu_s["nodes"].append(time.process_time() - begin)
        begin = time.process_time()
        edges = build_edges(
            nodes,
            anchors,
            documents=documents,
            sections=sections,
            references=references,
            links=links,
            registry=registry,
            lines=schemas.Lines.create_empty(),
            flows=schemas.Flows.create_empty(),
        )
        cpu_s["edges"].append(time.process_time() - begin)
    return Growth(documents.height, nodes.height, edges.height, cpu_s)


def render(report: Report) -> str:
    """The report as Markdown: time a document at each size, and its ratio to the smallest."""
    base = report.growth[0].ms_a_document()
    lines = ["# Graph", "", "| documents | nodes | edges | ms a document | to the smallest |", "|---|---|---|---|---|"]
    for growth in report.growth:
        cost = growth.ms_a_document()
        lines.append(f"| {growth.documents} | {growth.nodes} | {growth.edges} | {cost:.1f} | {cost / base:.2f} |")
    return "\n".join(lines) + "\n"
