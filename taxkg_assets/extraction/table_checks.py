"""Document checks on tables: each row is printed inside its own table, and in no other one."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.rules.models.document_checks import load_document_checks
from taxkg_assets.schemas import Tables

_CORNERS = ("x0_pt", "y0_pt", "x1_pt", "y1_pt")
_ROW = ["document_id", "page", "table_id", "row_ix"]


def find_foreign_rows(tables: dy.DataFrame[Tables]) -> pl.DataFrame:
    """Find table rows that another table also contains, or that are outside the rectangle of their table.

    Such rows show that two tables were read as one: the words of their cells are right, only their position is wrong.

    Args:
        tables: Tables of one or more documents.

    Returns:
        One row per table row: `document_id`, `page`, `table_id`, `row_ix`, the `text` of its cells, and the `other`
        table that contains it; `other` is empty if the row is outside its own table.
    """
    cells = _place_cells(tables)
    foreign_rows = pl.concat([_find_outside(cells, tables), _find_shared(cells, tables)])
    texts = cells.group_by(_ROW, maintain_order=True).agg(pl.col("text").str.join(" | "))
    other_tables = foreign_rows.group_by(_ROW).agg(pl.col("other").max())
    return other_tables.join(texts, on=_ROW).select(*_ROW, "text", "other").sort(_ROW)


def _place_cells(tables: pl.DataFrame) -> pl.DataFrame:
    """Return each cell of the tables with its rectangle, in points."""
    cells = tables.select("document_id", "page", "table_id", "cells").explode("cells").drop_nulls("cells")
    return cells.unnest("cells").select(*_ROW, "text", pl.col("bbox").struct.unnest())


def _find_outside(cells: pl.DataFrame, tables: pl.DataFrame) -> pl.DataFrame:
    """Find rows with a cell whose middle is beyond an edge of its table."""
    edges = tables.select("table_id", *(pl.col("bbox").struct.field(name).alias(f"own_{name}") for name in _CORNERS))
    slack_pt = load_document_checks().table_rows_are_their_own.slack_pt
    x, y = (pl.col("x0_pt") + pl.col("x1_pt")) / 2, (pl.col("y0_pt") + pl.col("y1_pt")) / 2
    is_inside = x.is_between(pl.col("own_x0_pt") - slack_pt, pl.col("own_x1_pt") + slack_pt) & y.is_between(
        pl.col("own_y0_pt") - slack_pt, pl.col("own_y1_pt") + slack_pt
    )
    outside = cells.join(edges, on="table_id").filter(~is_inside)
    return outside.select(_ROW).unique().with_columns(other=pl.lit(""))


def _find_shared(cells: pl.DataFrame, tables: pl.DataFrame) -> pl.DataFrame:
    """Find rows most of whose cells are where a table before them on the page has cells."""
    boxes = tables.select("document_id", "page", "table_id", pl.col("bbox").struct.unnest())
    pairs = boxes.join(boxes, on=["document_id", "page"], suffix="_other").filter(
        (pl.col("table_id_other") < pl.col("table_id")) & (_find_overlap("x") > 0) & (_find_overlap("y") > 0)
    )
    if pairs.is_empty():
        return cells.clear().select(_ROW).with_columns(other=pl.lit("", pl.String))
    limits = load_document_checks().table_rows_are_their_own
    cell_pairs = (
        pairs.select("table_id", "table_id_other")
        .join(cells.with_row_index("cell_ix"), on="table_id")
        .join(
            cells.select("table_id", "text", *_CORNERS), left_on="table_id_other", right_on="table_id", suffix="_other"
        )
    )
    area = (pl.col("x1_pt") - pl.col("x0_pt")) * (pl.col("y1_pt") - pl.col("y0_pt"))
    shared_cells = cell_pairs.filter((_find_overlap("x") > 0) & (_find_overlap("y") > 0)).filter(
        (_find_overlap("x") * _find_overlap("y") >= limits.shared_frac * area) & _prints_same_words()
    )
    counts = shared_cells.group_by(*_ROW, "table_id_other").agg(pl.col("cell_ix").n_unique().alias("shared"))
    lengths = cells.group_by(_ROW).len("length")
    shared_rows = counts.join(lengths, on=_ROW).filter(pl.col("shared") >= limits.cells_frac * pl.col("length"))
    return shared_rows.group_by(_ROW).agg(pl.col("table_id_other").first().alias("other"))


def _prints_same_words() -> pl.Expr:
    """Decide whether one of two cells has the words of the other: a cell over two columns encloses other cells."""
    text, other_text = pl.col("text"), pl.col("text_other")
    is_printed = (text != "") & (other_text != "")
    return is_printed & (other_text.str.contains(text, literal=True) | text.str.contains(other_text, literal=True))


def _find_overlap(axis: str) -> pl.Expr:
    """Compute how far two rectangles overlap along an axis, in points; negative where they do not."""
    high = pl.min_horizontal(f"{axis}1_pt", f"{axis}1_pt_other")
    return high - pl.max_horizontal(f"{axis}0_pt", f"{axis}0_pt_other")
