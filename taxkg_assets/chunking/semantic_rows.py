"""Semantic units as rows of `chunks`, with structural chunks for text that no accepted unit contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from taxkg_assets.chunking.coverage import is_covered
from taxkg_assets.chunking.micro_blocks import MicroBlock
from taxkg_assets.chunking.reviews import REVIEWED, hash_text
from taxkg_assets.chunking.rows import Owners, begins_with_heading, heading_separator, make_row, merge_line_boxes
from taxkg_assets.chunking.semantic import SemanticUnit
from taxkg_assets.records import PlacedBoxRecord, ReviewRecord, SectionRecord

Decisions = Mapping[tuple[str, str], ReviewRecord]


def prefer_semantic(
    structural: Sequence[dict[str, Any]],
    units: Sequence[SemanticUnit],
    prose: Sequence[SectionRecord],
    *,
    owners: Owners,
    decisions: Decisions,
) -> list[dict[str, Any]]:
    """Combine semantic chunks for prose with structural chunks for everything else.

    Args:
        structural: Structural rows of `chunks` of one document.
        units: Semantic units of the document.
        prose: Rows of `sections` that the units were made from, in reading order.
        owners: Values that chunks inherit from documents and headings.
        decisions: Rows of `reviews` by `chunk_id` and `text_hash`.

    Returns:
        Rows of `chunks` by page and reading order, numbered in `chunk_ix`. Structural rows are kept for tables and for
        each section that no accepted unit fully contains.
    """
    texts = {row["element_id"]: row["text"] for row in prose}
    headed_anchors: set[str | None] = {None}
    rows = [_make_row(unit, owners, texts=texts, headed_anchors=headed_anchors, decisions=decisions) for unit in units]
    accepted_texts: dict[str, list[str]] = {}
    for row in rows:
        for node_id in row["node_ids"] if row["status"] == "accepted" else ():
            accepted_texts.setdefault(node_id, []).append(row["text"])
    covered_ids = {element_id for element_id, text in texts.items() if is_covered(text, accepted_texts.get(element_id))}
    structural_rows = [row for row in structural if not covered_ids.issuperset(row["node_ids"])]
    order = {row["element_id"]: number for number, row in enumerate(prose)}
    ordered_rows = sorted([*rows, *structural_rows], key=lambda row: (row["page"], order.get(row["node_ids"][0], 0)))
    return [{**row, "chunk_ix": number} for number, row in enumerate(ordered_rows)]


def _make_row(
    unit: SemanticUnit,
    owners: Owners,
    *,
    texts: Mapping[str, str],
    headed_anchors: set[str | None],
    decisions: Decisions,
) -> dict[str, Any]:
    """Return a semantic unit as a row of `chunks`; a review overrides the status of the unit."""
    first_block = unit.blocks[0]
    owner = owners.find(first_block.document_id, first_block.anchor_id)
    block_runs = [list(group) for _, group in groupby(unit.blocks, key=lambda block: block.element_id)]
    parts: list[str] = []
    boxes: list[PlacedBoxRecord] = []
    for run in block_runs:
        text = texts[run[0].element_id][run[0].start : run[-1].end]
        heading, heading_box = _find_heading(run[0], owners, text=text, headed_anchors=headed_anchors)
        parts.append(f"{heading}{text}")
        boxes += heading_box
    text = "\n".join(parts)
    pieces = [piece for block in unit.blocks for piece in block.pieces]
    boxes += {(p["page"], p["y0_pt"], p["x0_pt"]): p for p in pieces}.values()
    chunk_id = f"paragraph:{first_block.element_id}@{first_block.start}"
    decision = decisions.get((chunk_id, hash_text(text)))
    status, reason = unit.status, unit.reason
    if decision is not None:
        status = decision["decision"]
        reason = f"{REVIEWED}: {decision['reason']}".rstrip(": ")
    return make_row(
        replace(owner, headings=(*owner.headings, unit.title) if unit.title else owner.headings),
        chunk_id=chunk_id,
        level="paragraph",
        node_ids=[run[0].element_id for run in block_runs],
        text=text,
        page=first_block.pieces[0]["page"] if first_block.pieces else 1,
        bboxes=merge_line_boxes(boxes),
        status=status,
        quality=unit.quality,
        reason=reason,
        tags=list(unit.tags),
        entities=list(unit.entities),
        boundary_confidence=unit.boundary_confidence,
        refinements=unit.refinements,
        created_by=unit.created_by,
    )


def _find_heading(
    block: MicroBlock, owners: Owners, *, text: str, headed_anchors: set[str | None]
) -> tuple[str, list[PlacedBoxRecord]]:
    """Return text and rectangle of the heading above a block.

    Both are empty unless the block is the first one under its heading and its text lacks the heading.
    """
    anchor = owners.find(block.document_id, block.anchor_id).anchor
    if anchor is None or block.anchor_id in headed_anchors:
        return "", []
    headed_anchors.add(block.anchor_id)
    if begins_with_heading(text, anchor):
        return "", []
    return f"{anchor['heading']}{heading_separator(anchor)}", [{"page": anchor["page"], **anchor["bbox"]}]
