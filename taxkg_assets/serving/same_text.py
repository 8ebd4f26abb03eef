"""Other revisions of a document that say the same: a passage counts once, and names the years it is the same in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.results import Result, SameText
from taxkg_assets.serving.released import Released

SHORTEST = 40
"""Characters from which the same words are the same statement, not the same heading."""

_COLUMNS = ("document_id", "text", "page", "bboxes", "irs_name", "revision")


def note_same_text(results: Sequence[Result], released: Released) -> list[Result]:
    """Add to each passage the other revisions of its document that print the same paragraph.

    Args:
        results: Passages of one question.
        released: Release that they come from.

    Returns:
        The passages in the same order. `via.same_in` of each lists the equal paragraphs of other revisions, newest
        first, with document, revision, page and rectangles.
    """
    nodes = released.table("nodes")
    nodes_of_results = nodes.filter(pl.col("node_id").is_in([row.node_id for row in results]))
    texts = nodes_of_results.filter(pl.col("text").str.len_chars() >= SHORTEST)["text"].unique()
    if texts.is_empty():
        return list(results)
    documents = (
        released.table("documents").filter(pl.col("irs_name") != "").select("document_id", "irs_name", "revision")
    )
    equal_nodes = nodes.filter(pl.col("text").is_in(texts.implode()), pl.col("page").is_not_null())
    equal_nodes = equal_nodes.join(documents, on="document_id").unique(
        ["document_id", "text"], keep="first", maintain_order=True
    )
    rows = equal_nodes.select(_COLUMNS).sort("revision", "document_id", descending=True).to_dicts()
    text_of = dict(nodes_of_results.select("node_id", "text").iter_rows())
    product_of = dict(documents.select("document_id", "irs_name").iter_rows())
    return [_note(row, text_of.get(row.node_id), product_of.get(row.document), rows) for row in results]


def _note(result: Result, text: str | None, product: str | None, rows: Sequence[dict[str, Any]]) -> Result:
    equal_paragraphs = [
        SameText(
            document=row["document_id"],
            revision=row["revision"],
            page=row["page"],
            bboxes=[BoundingBox.of_row(box) for box in row["bboxes"]],
        )
        for row in rows
        if row["text"] == text and row["irs_name"] == product and row["document_id"] != result.document
    ]
    return (
        result.model_copy(update={"via": result.via.model_copy(update={"same_in": equal_paragraphs})})
        if equal_paragraphs
        else result
    )
