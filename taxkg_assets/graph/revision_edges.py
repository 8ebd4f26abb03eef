"""Edges over revisions: a section or a numbered line to what it was in the next older revision."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

import polars as pl

from taxkg_assets.graph.alignment import Link
from taxkg_assets.graph.line_history import name_of
from taxkg_assets.graph.line_nodes import node_of
from taxkg_assets.graph.revisions import find_consecutive
from taxkg_assets.graph.section_alignment import RENAMED, SPLIT, Section, align_sections, build_sections

_SURE = 0.95
_NEAR = 0.8


def find_revision_links(
    documents: pl.DataFrame,
    anchors: pl.DataFrame,
    *,
    sections: pl.DataFrame,
    lines: pl.DataFrame,
    node_ids: Container[str],
) -> Iterator[Link]:
    """Join the sections and lines of each document to those that they continue.

    Args:
        documents: Rows of `documents`.
        anchors: Rows of `anchors`.
        sections: Rows of `sections`.
        lines: Rows of `lines`.
        node_ids: Nodes of the graph; boxes without a node have no relation.

    Returns:
        `same_section_other_revision` between headings and `same_field_other_revision` between lines, from the newer to
        the older one.
    """
    yield from _section_links(find_consecutive(documents), anchors, sections)
    for link in _line_links(documents, lines):
        if link.source_id in node_ids and link.target_id in node_ids:
            yield link


def _section_links(pairs: list[tuple[str, str]], anchors: pl.DataFrame, sections: pl.DataFrame) -> Iterator[Link]:
    headings = _split_by_document(anchors)
    texts = _split_by_document(sections)
    nothing = sections.clear()
    read: dict[str, list[Section]] = {}
    for pair in pairs:
        for name in pair:
            if name in headings and name not in read:
                read[name] = build_sections(headings[name], texts.get(name, nothing))
        older, newer = pair
        if older in read and newer in read:
            for found in align_sections(read[older], read[newer]):
                confidence = _NEAR if {RENAMED, SPLIT} & set(found.changes) else _SURE
                for anchor_id in found.after:
                    yield Link(anchor_id, found.before, "same_section_other_revision", confidence)


def _split_by_document(frame: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
    return {str(name): own for (name,), own in frame.partition_by("document_id", as_dict=True).items()}


def _line_links(documents: pl.DataFrame, lines: pl.DataFrame) -> Iterator[Link]:
    """Join each line to its last older revision; of several builds of that revision, to the first."""
    drafts = set(documents.filter(pl.col("is_draft"))["document_id"])
    rows = lines.sort("document_id", "part", "key").to_dicts()
    nodes: dict[str, str] = {}
    for row in rows:
        if row["document_id"] not in drafts:
            nodes.setdefault(name_of(row), node_of(row))
    for row in rows:
        if row["history"] and row["history"][0] in nodes:
            yield Link(node_of(row), nodes[row["history"][0]], "same_field_other_revision", _SURE)
