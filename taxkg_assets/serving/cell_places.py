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
        answer: Answer whose pieces of text have their rectangles.
        released: Release that it was made from.

    Returns:
        The answer; a piece whose cells cannot be identified keeps no rectangle.
    """
    wanted = {piece.node_id for unit in answer.units for piece in unit.pieces if _is_open(piece)}
    if not wanted:
        return answer
    documents = {row.document for row in answer.results}
    tables = released.read_documents("tables", sorted(documents)).filter(pl.col("table_id").is_in(sorted(wanted)))
    known = {row["table_id"]: row for row in iter_records(tables, TableRecord)}
    units = [unit.model_copy(update={"pieces": list(_place_pieces(unit.pieces, known))}) for unit in answer.units]
    return answer.model_copy(update={"units": units})


def find_quoted_cells(text: str, cells: Sequence[CellRecord]) -> list[CellRecord]:
    """Find the table cells that a piece of an answer quotes.

    Args:
        text: A value after the headers of its row and column, or the cells of one row with their headers.
        cells: Cells of the table.

    Returns:
        Cells of one row: those whose value and headers the text contains; empty if no row is quoted with its headers.
    """
    words = _squeeze(text)
    rows: dict[int, list[tuple[int, CellRecord]]] = {}
    for cell in cells:
        value, row, column = (_squeeze(own or "") for own in (cell["text"], cell["row_path"], cell["col_path"]))
        if value and value in words and row in words and column in words:
            rows.setdefault(cell["row_ix"], []).append((len(value) + len(row) + len(column), cell))
    if not rows:
        return []
    best = max(rows.values(), key=lambda found: sum(length for length, _ in found))
    return [cell for _, cell in best]


def _is_open(piece: Piece) -> bool:
    return piece.role in CELL_ROLES and bool(piece.node_id) and not piece.bboxes


def _place_pieces(pieces: Sequence[Piece], known: Mapping[str, TableRecord]) -> Iterator[Piece]:
    """Yield the pieces of a unit with their rectangles; other cells of the same row may follow its first cell."""
    first = ""
    for piece in pieces:
        yield _place(piece, known.get(piece.node_id), first=first)
        if piece.role in CELL_ROLES:
            first = first or piece.text


def _find_others(text: str, first: str, cells: Sequence[CellRecord]) -> list[CellRecord]:
    """Find the cells that a text quotes by value and column, in the row of a cell that is quoted in full."""
    words, rows = _squeeze(text), {cell["row_ix"] for cell in find_quoted_cells(first, cells)}
    return [
        cell
        for cell in cells
        if cell["row_ix"] in rows
        and (value := _squeeze(cell["text"] or ""))
        and words.endswith(f"{_squeeze(innermost_header(cell['col_path'] or '')).rstrip(': ')}: {value}")
    ]


def _place(piece: Piece, table: TableRecord | None, *, first: str) -> Piece:
    if table is None or not _is_open(piece):
        return piece
    cells = table["cells"] or ()
    quoted = find_quoted_cells(piece.text, cells) or _find_others(piece.text, first, cells)
    boxes = [BoundingBox.of_row(cell["bbox"], page=table["page"]) for cell in quoted]
    return piece.model_copy(update={"bboxes": boxes})


def _squeeze(text: str) -> str:
    return " ".join(text.replace(">", " ").replace("*", " ").split()).casefold()
