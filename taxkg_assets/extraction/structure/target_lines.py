"""Printed lines of headings and texts by page and height, as points of a document name them."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl


class TargetLine(NamedTuple):
    """A printed line of a heading or text, as `collect_lines` lists it; sizes and positions in points."""

    page: int
    y0: float
    x0: float
    x1: float
    size: float
    anchor_id: str
    element_id: str
    table_id: str | None
    is_heading: bool
    is_start: bool
    y1: float
    start: int
    end: int


def collect_lines(anchors: pl.DataFrame, *, sections: pl.DataFrame, elements: pl.DataFrame) -> pl.DataFrame:
    """Return the first line of each heading and all lines of each text, by page and height.

    Args:
        anchors: Headings of the document.
        sections: Content elements of the document.
        elements: Layout elements of the document.

    Returns:
        Columns of `TargetLine`, in their order.
    """
    columns = ["page", "y0_pt", "x0_pt", "x1_pt", "anchor_id", "element_id", "table_id", "is_heading", "is_start"]
    columns += ["y1_pt", "start", "end"]
    headings = anchors.select(
        "page",
        "anchor_id",
        "element_id",
        pl.col("bbox").struct.unnest(),
        table_id=pl.lit(None, pl.String),
        is_heading=pl.lit(True),
        is_start=pl.lit(True),
        start=pl.lit(-1, pl.Int32),
        end=pl.lit(-1, pl.Int32),
    ).select(columns)
    texts = (
        sections.select("element_id", "anchor_id", "table_id", "pieces")
        .explode("pieces")
        .unnest("pieces")
        .with_columns(is_heading=pl.lit(False), is_start=pl.col("start") == 0)
        .select(columns)
    )
    sizes = elements.select("element_id", "size_pt")
    lines = pl.concat([headings, texts]).join(sizes, on="element_id", how="left")
    order = ["page", "y0_pt", "x0_pt", "element_id", "is_heading"]
    return lines.sort(order).select(*columns[:4], "size_pt", *columns[4:])
