"""Sections and tables to chunks: the search finds chunks, and a language model receives them as context.

A chunk consists of whole paragraphs under one heading, or of rows of one table with the repeated header.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.chunking.coverage import split_sentences
from taxkg_assets.chunking.micro_blocks import find_micro_blocks
from taxkg_assets.chunking.rows import Owner, Owners, begins_with_heading, heading_separator, make_row, merge_line_boxes
from taxkg_assets.chunking.semantic import Encode, find_semantic_units, find_weak_layouts
from taxkg_assets.chunking.semantic_rows import prefer_semantic
from taxkg_assets.chunking.table_units import split_table
from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.records import (
    AnchorRecord,
    DocumentRecord,
    PieceRecord,
    ReviewRecord,
    SectionRecord,
    TableRecord,
    iter_records,
)
from taxkg_assets.rules.models.chunking import load_chunking
from taxkg_assets.settings import Settings


@dataclass(frozen=True, slots=True)
class _Part:
    """A paragraph, or some sentences of a long paragraph.

    Attributes:
        element_id: Element that contains the text.
        text: Text of the part.
        pieces: Rectangles of its lines.
        split_ix: Number of the part in its paragraph, from 0.
        words: Number of words.
    """

    element_id: str
    text: str
    pieces: tuple[PieceRecord, ...]
    split_ix: int
    words: int


# arguments: one per upstream table, as the wiring reads their names
def build_chunks(
    *,
    documents: dy.DataFrame[schemas.Documents],
    sections: dy.DataFrame[schemas.Sections],
    tables: dy.DataFrame[schemas.Tables],
    anchors: dy.DataFrame[schemas.Anchors],
    reviews: dy.DataFrame[schemas.Reviews],
    settings: Settings,
    proposer: Proposer,
    encode: Encode,
) -> dy.DataFrame[schemas.Chunks]:
    """Pack paragraphs by heading, and tables by row, into retrieval chunks of about a hundred words.

    Documents with a weak layout, or all documents if `settings.chunker` is `semantic`, are split by meaning instead. A
    semantic chunk that is not accepted stays as a row that needs review, and structural chunks cover its text.

    Args:
        documents: One row per document; must cover all documents of the other frames.
        sections: Content elements in reading order; their text is what the chunks cover.
        tables: Extracted tables, whose Markdown is cut into groups of rows.
        anchors: Headings with their parents, the source of heading paths, keys and perspectives.
        reviews: Human decisions by `chunk_id` and `text_hash`, which override the validation of a semantic unit.
        settings: `chunker` is `auto`, `semantic` or `structural`; `context` is `three_tier` or the shorter default.
        proposer: Decides on boundaries, quality and metadata of semantic units; called for weak layouts only.
        encode: Texts to unit vectors, one row per text; called for weak layouts only.

    Returns:
        One row per unit, sorted by `chunk_id`; each row of `sections` is covered by at least one accepted unit.

    Raises:
        KeyError: A section belongs to a document that `documents` lacks, or to an anchor that `anchors` lacks.
        ProposerError: No model can be called.

    Source:
        Sizes in rules/chunking.yaml, routing in rules/semantic.yaml.
    """
    has_tiers = settings.context == "three_tier"
    owners = Owners(iter_records(documents, DocumentRecord), iter_records(anchors, AnchorRecord), has_tiers=has_tiers)
    table_rows = {row["table_id"]: row for row in iter_records(tables, TableRecord)}
    semantic_ids = _find_semantic_ids(sections, anchors, chunker=settings.chunker)
    decisions = {(row["chunk_id"], row["text_hash"]): row for row in iter_records(reviews, ReviewRecord)}
    rows: list[dict[str, Any]] = []
    ordered_sections = iter_records(sections.sort("document_id", "paragraph_ix"), SectionRecord)
    for document_id, group in groupby(ordered_sections, key=lambda row: row["document_id"]):
        document_sections = list(group)
        document_rows = _chunk_document(document_sections, owners, document_id=document_id, tables=table_rows)
        if document_id in semantic_ids:
            title = owners.find(document_id, None).document["title"]
            prose = [row for row in document_sections if row["table_id"] not in table_rows]
            units = find_semantic_units(find_micro_blocks(prose), title=title, proposer=proposer, encode=encode)
            document_rows = prefer_semantic(document_rows, units, prose, owners=owners, decisions=decisions)
        rows += document_rows
    frame = pl.DataFrame(rows, schema=schemas.Chunks.create_empty().schema)
    return schemas.Chunks.validate(frame.sort("chunk_id"))


def _find_semantic_ids(
    sections: dy.DataFrame[schemas.Sections], anchors: dy.DataFrame[schemas.Anchors], *, chunker: str
) -> set[str]:
    """Return the documents to split by meaning: all, none, or those with a weak layout."""
    if chunker == "auto":
        return find_weak_layouts(sections, anchors)
    return set(sections["document_id"]) if chunker == "semantic" else set()


def _chunk_document(
    sections: Sequence[SectionRecord], owners: Owners, *, document_id: str, tables: Mapping[str, TableRecord]
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    headed_anchors: set[str | None] = set()
    for (anchor_id, table_id), group in groupby(sections, key=lambda row: (row["anchor_id"], row["table_id"])):
        owner = owners.find(document_id, anchor_id)
        table = tables.get(table_id) if table_id else None
        if table is not None:
            owner_rows = _table_rows(list(group), table, owner=owner)
        else:
            owner_rows = list(_paragraph_rows(list(group), owner, with_heading=anchor_id not in headed_anchors))
            headed_anchors.add(anchor_id)
        for row in owner_rows:
            rows.append({**row, "chunk_ix": len(rows)})
    return rows


def _paragraph_rows(sections: Sequence[SectionRecord], owner: Owner, *, with_heading: bool) -> Iterator[dict[str, Any]]:
    for number, unit in enumerate(_pack(part for row in sections for part in _split_paragraph(row))):
        text = "\n".join(part.text for part in unit)
        boxes = merge_line_boxes(piece for part in unit for piece in part.pieces)
        anchor = owner.anchor
        if number == 0 and with_heading and anchor is not None and not begins_with_heading(text, anchor):
            text = f"{anchor['heading']}{heading_separator(anchor)}{text}"
            boxes = merge_line_boxes([{**anchor["bbox"], "page": anchor["page"]}]) + boxes
        first_part = unit[0]
        yield make_row(
            owner,
            chunk_id=f"paragraph:{first_part.element_id}" + (f".{first_part.split_ix}" if first_part.split_ix else ""),
            level="paragraph",
            node_ids=list(dict.fromkeys(part.element_id for part in unit)),
            text=text,
            page=first_part.pieces[0]["page"] if first_part.pieces else sections[0]["page"],
            bboxes=boxes,
        )


def _pack(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """Pack adjacent parts into units up to the target size; a very short unit may exceed it by one part."""
    sizes = load_chunking().sizes
    unit: list[_Part] = []
    words = 0
    for part in parts:
        max_words = sizes.target_words if words >= sizes.short_words else sizes.max_words
        if unit and words + part.words > max_words:
            yield unit
            unit, words = [], 0
        unit.append(part)
        words += part.words
    if unit:
        yield unit


def _split_paragraph(section: SectionRecord) -> list[_Part]:
    """Split a long paragraph at sentence ends into parts of about equal size."""
    text = section["text"]
    whole_part = _Part(section["element_id"], text, tuple(section["pieces"]), 0, len(text.split()))
    sizes = load_chunking().sizes
    if whole_part.words <= sizes.max_words:
        return [whole_part]
    target_words = whole_part.words / math.ceil(whole_part.words / sizes.target_words)
    parts: list[_Part] = []
    start, words, position = 0, 0, 0
    for sentence in split_sentences(text):
        sentence_start = text.index(sentence, position)
        position = sentence_start + len(sentence)
        words += len(sentence.split())
        if words >= target_words:
            parts.append(_slice_part(whole_part, start, position, split_ix=len(parts)))
            start, words = position, 0
    if text[start:].strip():
        parts.append(_slice_part(whole_part, start, len(text), split_ix=len(parts)))
    return parts


def _slice_part(whole_part: _Part, start: int, end: int, *, split_ix: int) -> _Part:
    pieces = tuple(piece for piece in whole_part.pieces if piece["start"] < end and piece["end"] > start)
    text = whole_part.text[start:end].strip()
    return replace(
        whole_part, text=text, pieces=pieces or whole_part.pieces, split_ix=split_ix, words=len(text.split())
    )


def _table_rows(sections: Sequence[SectionRecord], table: TableRecord, *, owner: Owner) -> list[dict[str, Any]]:
    """Return one chunk per group of table rows, each with the caption, the column headers and the rows' text."""
    limit = load_chunking().sizes.table_words
    caption = "\n".join(dict.fromkeys(text for row in sections if (text := row["text"])))
    return [
        make_row(
            owner,
            chunk_id=f"table:{table['table_id']}" + (f".{number}" if number else ""),
            level="table",
            node_ids=[table["table_id"], *dict.fromkeys(row["element_id"] for row in sections)],
            text="\n".join(line for line in (caption, *unit.lines) if line),
            page=table["page"],
            bboxes=merge_line_boxes([{"page": table["page"], **unit.box}]),
        )
        for number, unit in enumerate(split_table(table, head_words=len(caption.split()), limit=limit))
    ]
