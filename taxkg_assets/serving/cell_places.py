"""Rectangles of the table cells that an answer quotes: of the cell itself, not of its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.records import CellRecord, TableRecord, iter_records
from taxkg_assets.retrieval.answering.answer import Answer
from taxkg_assets.retrieval.answering.units import Piece
from taxkg_assets.retrieval.tables.table_headers import innermost_header
from taxkg_assets.serving.released import Released

CELL_ROLES = ("cell", "row")


def place_cells(answer: Answer, released: Released) -> Answer:
    """Add page rectangles to the pieces of an answer that quote table cells.

    Args:
        answer: Answer; its pieces of running text already have rectangles.
        released: Release that answered.

    Returns:
        The answer; a piece whose cells cannot be identified keeps no rectangle.
    """
    table_ids = {piece.node_id for unit in answer.units for piece in unit.pieces if _lacks_rectangles(piece)}
    if not table_ids:
        return answer
    documents = {row.document for row in answer.results}
    tables = released.read_documents("tables", sorted(documents)).filter(pl.col("table_id").is_in(sorted(table_ids)))
    tables_by_id = {row["table_id"]: row for row in iter_records(tables, TableRecord)}
    units = [
        unit.model_copy(update={"pieces": list(_place_pieces(unit.pieces, tables_by_id))}) for unit in answer.units
    ]
    return answer.model_copy(update={"units": units})


def find_quoted_cells(text: str, cells: Sequence[CellRecord]) -> list[CellRecord]:
    """Find the table cells that a piece of an answer quotes.

    Args:
        text: Words of the piece: a cell's value after its row and column headers (`Single: Standard deduction: 900`),
            or several cells of one row.
        cells: Cells of the table.

    Returns:
        Cells of one row of which the text contains value, row header and column header; empty if there is none. Of
        several such rows, the one with the longest quoted words.
    """
    words = _squeeze(text)
    rows: dict[int, list[tuple[int, CellRecord]]] = {}
    for cell in cells:
        value, row, column = (
            _squeeze(printed_text or "") for printed_text in (cell["text"], cell["row_path"], cell["col_path"])
        )
        if value and value in words and row in words and column in words:
            rows.setdefault(cell["row_ix"], []).append((len(value) + len(row) + len(column), cell))
    if not rows:
        return []
    longest_row = max(rows.values(), key=lambda quoted_cells: sum(length for length, _ in quoted_cells))
    return [cell for _, cell in longest_row]


def _lacks_rectangles(piece: Piece) -> bool:
    return piece.role in CELL_ROLES and bool(piece.node_id) and not piece.bboxes


def _place_pieces(pieces: Sequence[Piece], tables_by_id: Mapping[str, TableRecord]) -> Iterator[Piece]:
    """Yield the pieces of a unit with their rectangles; other cells of the same row may follow its first cell."""
    first_cell = ""
    for piece in pieces:
        yield _place(piece, tables_by_id.get(piece.node_id), first_cell=first_cell)
        if piece.role in CELL_ROLES:
            first_cell = first_cell or piece.text


def _find_cells_of_row(text: str, first_cell: str, cells: Sequence[CellRecord]) -> list[CellRecord]:
    """Find the cells that a text quotes by value and column, in the row of a cell that is quoted in full."""
    words = _squeeze(text)
    rows = {cell["row_ix"] for cell in find_quoted_cells(first_cell, cells)}
    quoted_cells = []
    for cell in cells:
        if cell["row_ix"] not in rows:
            continue
        value = _squeeze(cell["text"] or "")
        header = _squeeze(innermost_header(cell["col_path"] or "")).rstrip(": ")
        if value and words.endswith(f"{header}: {value}"):
            quoted_cells.append(cell)
    return quoted_cells


def _place(piece: Piece, table: TableRecord | None, *, first_cell: str) -> Piece:
    if table is None or not _lacks_rectangles(piece):
        return piece
    cells = table["cells"] or ()
    quoted_cells = find_quoted_cells(piece.text, cells) or _find_cells_of_row(piece.text, first_cell, cells)
    boxes = [BoundingBox.of_row(cell["bbox"], page=table["page"]) for cell in quoted_cells]
    return piece.model_copy(update={"bboxes": boxes})


def _squeeze(text: str) -> str:
    return " ".join(text.replace(">", " ").replace("*", " ").split()).casefold()
