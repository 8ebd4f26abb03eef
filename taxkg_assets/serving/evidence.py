"""The place of a node as a picture: its page with its rectangles marked, so that a reader sees the very words."""

from __future__ import annotations

from typing import Any

import polars as pl

from taxkg_assets.records import DocumentRecord, iter_records
from taxkg_assets.serving.mupdf import MUPDF
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.replies import NodeDetail, NodeEdge, PlacedCorners
from taxkg_assets.serving.show import draw_sheet, opened_page

MARK = (1.0, 0.82, 0.1)
EDGE = (0.85, 0.45, 0.0)
EDGE_PT = 0.8
MARGIN_PT = 1.5


class EvidenceNotFoundError(Exception):
    """No such node, or it is not on the requested page; the message lists its pages."""


HIERARCHY = ("parent_of", "follows")
"""Relations that repeat the order of a document."""


def read_node(released: Released, node_id: str) -> NodeDetail:
    """Read a node in full with its relations to other nodes, for citations.

    Args:
        released: The release to read.
        node_id: Id of the node.

    Returns:
        The node with its edges, except those that only repeat the order of the document (`parent_of`, `follows`).

    Raises:
        EvidenceNotFoundError: The release does not contain the node.
    """
    node = _find_node(released, node_id)
    ends = (("source_id", "target_id", "out"), ("target_id", "source_id", "in"))
    columns = ("relation", "polarity", "confidence", "evidence", "page")
    edges = released.table("edges").filter(~pl.col("relation").is_in(HIERARCHY))
    rows_of_node = pl.concat(
        edges.filter(pl.col(own_column) == node_id).select(
            pl.lit(direction).alias("direction"), pl.col(other_column).alias("other_id"), *columns
        )
        for own_column, other_column, direction in ends
    )
    rows = rows_of_node.sort("direction", "relation", "other_id", descending=[True, False, False])
    return node.model_copy(update={"edges": [NodeEdge(**row) for row in rows.iter_rows(named=True)]})


def draw_evidence(released: Released, node_id: str, *, page: int | None = None, zoom: float = 2.0) -> bytes:
    """Draw a page with the rectangles of a node marked.

    Args:
        released: The release to read.
        node_id: Node whose evidence is drawn.
        page: 1-based page; by default the node's first page.
        zoom: Pixels per point; reduced if the picture would have more than `MOST_PIXELS`.

    Returns:
        PNG image.

    Raises:
        EvidenceNotFoundError: The node is not on this page.
        PageNotFoundError: The file is gone or has changed, or the page cannot be drawn.
    """
    node = _find_node(released, node_id)
    page_number = page or node.page
    boxes = [box for box in node.bboxes or () if box.page == page_number]
    if page_number is None or not boxes:
        pages = sorted({box.page for box in node.bboxes or ()})
        on_pages = f"on page{'s' if len(pages) > 1 else ''} {', '.join(map(str, pages))}"
        actual_pages = f"It is {on_pages}" if pages else "It is not part of a document in the home"
        requested = "a page" if page_number is None else f"page {page_number}"
        raise EvidenceNotFoundError(f"{node_id} is not on {requested}. {actual_pages}.")
    documents = released.table("documents").filter(pl.col("document_id") == node.document_id)
    (document,) = iter_records(documents, DocumentRecord)
    with opened_page(document, page_number) as sheet:
        for box in boxes:
            _mark(sheet, box)
        picture: bytes = draw_sheet(sheet, zoom=zoom).tobytes("png")
    return picture


def _find_node(released: Released, node_id: str) -> NodeDetail:
    """Read the row of a node.

    Raises:
        EvidenceNotFoundError: The release does not contain the node.
    """
    rows = released.table("nodes").filter(pl.col("node_id") == node_id).to_dicts()
    if not rows:
        raise EvidenceNotFoundError(f"The release has no node {node_id!r}. Use the `node_id` of a search result.")
    return NodeDetail(**rows[0])


def _mark(sheet: Any, box: PlacedCorners) -> None:
    """Lay a see-through mark over a rectangle; nothing of the page's words is hidden by it."""
    edges = (box.x0_pt - MARGIN_PT, box.y0_pt - MARGIN_PT, box.x1_pt + MARGIN_PT, box.y1_pt + MARGIN_PT)
    # Rectangles are in the page as it is seen, drawings in the page as it is stored.
    rectangle = MUPDF.Rect(*edges) * sheet.derotation_matrix
    sheet.draw_rect(
        rectangle, color=EDGE, fill=MARK, width=EDGE_PT, fill_opacity=0.30, stroke_opacity=0.8, overlay=True
    )
