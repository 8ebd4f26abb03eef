"""The table `anchors`: every printed heading that owns content, with kind, key and parent."""

from __future__ import annotations

from collections.abc import Sequence

import dataframely as dy

from taxkg_assets.extraction.structure.blocks import Block, build_boxes
from taxkg_assets.extraction.structure.identity import Identity
from taxkg_assets.extraction.structure.outline import Heading, find_outline
from taxkg_assets.rules.confidence import read_confidence
from taxkg_assets.schemas import Anchors, build_frame, validated


def build_anchors(blocks: Sequence[Block], *, identity: Identity, document_id: str) -> dy.DataFrame[Anchors]:
    """Build one row per heading of a document in reading order, with its parent.

    Args:
        blocks: All blocks of the document, from `find_blocks`.
        identity: Form, type and revision of the document.
        document_id: Id of the document.

    Returns:
        Rows of `anchors`; `parent_anchor_id` is null at the top of the outline.
    """
    headings = find_outline(blocks, identity=identity)
    ids = [heading.anchor_id for heading in headings]
    columns = {
        "anchor_id": ids,
        "document_id": [document_id] * len(headings),
        "page": [heading.block.page for heading in headings],
        "kind": [heading.kind for heading in headings],
        "key": [heading.key for heading in headings],
        "heading": [heading.text for heading in headings],
        "parent_anchor_id": [ids[heading.parent] if heading.parent >= 0 else None for heading in headings],
        "form": [heading.form for heading in headings],
        "perspective": [heading.perspective for heading in headings],
        "repeat_ix": [heading.repeat_ix for heading in headings],
        "element_id": [heading.block.element_id for heading in headings],
        "confidence": [read_confidence("anchors", _name_evidence(heading)) for heading in headings],
        "source": [heading.block.source for heading in headings],
        "bbox": build_boxes([heading.block.bbox for heading in headings]),
        "publisher_id": [None] * len(headings),
        "official_url": [None] * len(headings),
    }
    return validated(build_frame(columns, Anchors, sort_by="anchor_id"), Anchors)


def _name_evidence(heading: Heading) -> str:
    """Name the evidence for a heading, as rules/confidence.yaml counts it."""
    evidence = f"{heading.kind} {heading.confidence:.2f}"
    return evidence if heading.block.source == "layout" else f"{evidence} {heading.block.source}"
