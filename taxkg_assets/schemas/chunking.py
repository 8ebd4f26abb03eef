"""Tables of the chunking: retrieval units and their human reviews."""

from __future__ import annotations

import dataframely as dy

from taxkg_assets.schemas.columns import (
    fraction_column,
    key_column,
    one_of,
    page_column,
    placed_boxes_column,
    strings_column,
    text_column,
)
from taxkg_assets.schemas.values import CHUNK_LEVELS, CHUNK_STATUSES, CREATED_BY, PERSPECTIVES, REVIEW_DECISIONS


class Chunks(dy.Schema):
    """One retrieval unit: verbatim text, its context and its location."""

    chunk_id = key_column("`<level>:<first node id>` with a number where a node is split")
    document_id = text_column("document")
    chunk_ix = dy.Int32(min=0, description="reading order in the document")
    anchor_id = text_column("innermost anchor that owns the text; null before the first heading", nullable=True)
    anchor_key = text_column("key of the innermost keyed anchor, e.g. box_1a", nullable=True)
    heading_path = text_column("document title and headings down to the anchor, joined with ' > '")
    form = text_column("form the text is about: the anchor's, else the document's; may be empty")
    perspective = dy.String(regex=one_of(PERSPECTIVES), description=" | ".join(PERSPECTIVES))
    node_ids = strings_column("nodes whose text the chunk holds, in order")
    parent_id = text_column("larger node that a search returns in place of the chunk, for context", nullable=True)
    level = dy.String(regex=one_of(CHUNK_LEVELS), description=" | ".join(CHUNK_LEVELS))
    text = text_column("verbatim text")
    context = text_column("context prefix: document, form, revision, perspective, heading path")
    token_count = dy.Int32(min=0, description="tokens of the text, estimated from its words and their lengths")
    page = page_column("first page")
    bboxes = placed_boxes_column("rectangles of the text")
    status = dy.String(regex=one_of(CHUNK_STATUSES), description=" | ".join(CHUNK_STATUSES))
    quality = fraction_column("quality score of the chunker")
    reason = text_column("why the chunk is not accepted, or who accepted it; empty for structural units")
    tags = strings_column("topics of a semantic chunk; empty for structural chunks")
    entities = strings_column("boxes, forms, statutes, amounts and dates that a semantic chunk names")
    boundary_confidence = fraction_column("confidence of the boundary that the chunk begins at; 1 for structural units")
    refinements = dy.Int32(
        min=0,
        description="number of refinement rounds of the chunk's document: a second one follows "
        "if few chunks were accepted",
    )
    created_by = dy.String(regex=one_of(CREATED_BY), description=" | ".join(CREATED_BY))


class Reviews(dy.Schema):
    """One reviewer's decision on a chunk that the validation did not accept; valid while the text is the same."""

    chunk_id = key_column("chunk that was decided on")
    text_hash = key_column("SHA-256 of the chunk's text, shortened")
    document_id = text_column("document")
    decision = dy.String(regex=one_of(REVIEW_DECISIONS), description=" | ".join(REVIEW_DECISIONS))
    reason = text_column("in the reviewer's words; may be empty")
    decided_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when the decision was made")
