"""Edges over revisions: a section or a numbered line to what it was in the next older revision."""

from __future__ import annotations

from collections.abc import Container, Iterator

import polars as pl

from taxkg_assets.digests import digest, frame_digest
from taxkg_assets.graph.alignment import Link
from taxkg_assets.graph.line_history import name_of
from taxkg_assets.graph.line_nodes import node_of
from taxkg_assets.graph.memory import Memory, split_by_document
from taxkg_assets.graph.revisions import find_consecutive
from taxkg_assets.graph.section_alignment import RENAMED, SPLIT, Section, align_sections, build_sections
from taxkg_assets.records import LineRecord, iter_records

_SURE = 0.95
_NEAR = 0.8


def find_revision_links(
    documents: pl.DataFrame,
    anchors: pl.DataFrame,
    *,
    sections: pl.DataFrame,
    lines: pl.DataFrame,
    node_ids: Container[str],
    memory: Memory,
) -> Iterator[Link]:
    """Link the sections and lines of each document to those that they continue from the previous revision.

    Args:
        documents: Rows of `documents`.
        anchors: Rows of `anchors`.
        sections: Rows of `sections`.
        lines: Rows of `lines`.
        node_ids: Nodes of the graph; boxes without a node have no relation.
        memory: Links of pairs of revisions from earlier runs.

    Returns:
        `same_section_other_revision` between headings and `same_field_other_revision` between lines, from the newer to
        the older one.
    """
    yield from _section_links(find_consecutive(documents), anchors, sections, memory)
    for link in _line_links(documents, lines):
        if link.source_id in node_ids and link.target_id in node_ids:
            yield link


def _section_links(
    pairs: list[tuple[str, str]], anchors: pl.DataFrame, sections: pl.DataFrame, memory: Memory
) -> Iterator[Link]:
    headings = split_by_document(anchors)
    texts = split_by_document(sections)
    nothing = sections.clear()
    digests: dict[str, str] = {}
    sections_by_document: dict[str, list[Section]] = {}
    for pair in pairs:
        if not all(name in headings for name in pair):
            continue
        for name in pair:
            if name not in digests:
                inputs = (headings[name], texts.get(name, nothing))
                digests[name] = digest(*map(frame_digest, inputs))
        key = digest(*(digests[name] for name in pair))
        links = memory.recall(key)
        if links is None:
            for name in pair:
                if name not in sections_by_document:
                    sections_by_document[name] = build_sections(headings[name], texts.get(name, nothing))
            links = list(_continue_sections(*(sections_by_document[name] for name in pair)))
            memory.remember(key, links)
        for source_id, target_id, confidence in links:
            yield Link(source_id, target_id, "same_section_other_revision", confidence)


def _continue_sections(older: list[Section], newer: list[Section]) -> Iterator[tuple[str, str, float]]:
    """Find the newer heading, the older one and the confidence of each section that continues."""
    for continuation in align_sections(older, newer):
        confidence = _NEAR if {RENAMED, SPLIT} & set(continuation.changes) else _SURE
        for anchor_id in continuation.after:
            yield anchor_id, continuation.before, confidence


def _line_links(documents: pl.DataFrame, lines: pl.DataFrame) -> Iterator[Link]:
    """Join each line to its last older revision; of several builds of that revision, to the first."""
    drafts = set(documents.filter(pl.col("is_draft"))["document_id"])
    rows = list(iter_records(lines.sort("document_id", "part", "key"), LineRecord))
    nodes: dict[str, str] = {}
    for row in rows:
        if row["document_id"] not in drafts:
            nodes.setdefault(name_of(row), node_of(row))
    for row in rows:
        if row["history"] and row["history"][0] in nodes:
            yield Link(node_of(row), nodes[row["history"][0]], "same_field_other_revision", _SURE)
