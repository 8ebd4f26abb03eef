"""The table `anchors`: every printed heading that owns content, with kind, key and parent."""

from __future__ import annotations

from collections.abc import Sequence

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.blocks import Block
from taxkg_assets.extraction.identity import Identity
from taxkg_assets.extraction.outline import find_outline
from taxkg_assets.schemas import Anchors

_CORNERS = ("x0_pt", "y0_pt", "x1_pt", "y1_pt")


def build_anchors(blocks: Sequence[Block], *, identity: Identity, document_id: str) -> dy.DataFrame[Anchors]:
    """Build one row per heading of a document, in reading order.

    Args:     blocks: all blocks of the document (find_blocks). identity: what the document says it is.
    Returns:  the outline as a tree: `parent_anchor_id` is null at the top.
    """
    headings = find_outline(blocks, identity=identity)
    frame = pl.DataFrame(
        {
            "anchor_id": pl.Series([heading.anchor_id for heading in headings], dtype=pl.String),
            "document_id": pl.Series([document_id] * len(headings), dtype=pl.String),
            "page": pl.Series([heading.block.page for heading in headings], dtype=pl.Int32),
            "kind": pl.Series([heading.kind for heading in headings], dtype=pl.String),
            "key": pl.Series([heading.key for heading in headings], dtype=pl.String),
            "heading": pl.Series([heading.text for heading in headings], dtype=pl.String),
            "parent_anchor_id": pl.Series(
                [headings[heading.parent].anchor_id if heading.parent >= 0 else None for heading in headings],
                dtype=pl.String,
            ),
            "form": pl.Series([heading.form for heading in headings], dtype=pl.String),
            "perspective": pl.Series([heading.perspective for heading in headings], dtype=pl.String),
            "repeat_ix": pl.Series([heading.repeat_ix for heading in headings], dtype=pl.Int32),
            "element_id": pl.Series([heading.block.element_id for heading in headings], dtype=pl.String),
            "confidence": pl.Series([heading.confidence for heading in headings], dtype=pl.Float64),
            "bbox": pl.Series(
                [dict(zip(_CORNERS, heading.block.bbox, strict=True)) for heading in headings],
                dtype=pl.Struct(dict.fromkeys(_CORNERS, pl.Float64)),
            ),
        }
    )
    return Anchors.validate(frame.sort("anchor_id"), cast=True)
