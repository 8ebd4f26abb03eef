"""Page rectangles of the pieces of an answer: those of printed lines, not of whole passages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import polars as pl

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.answering.units import Piece, Unit

ReadSections = Callable[[Collection[str]], pl.DataFrame]
"""Reads the rows of `sections` with some element ids."""


def add_rectangles(units: Sequence[Unit], read_sections: ReadSections) -> list[Unit]:
    """Add page rectangles to the pieces of units.

    Args:
        units: Units of an answer.
        read_sections: Reads the rows of `sections` with some element ids.

    Returns:
        Units in the same order; a piece whose element is unknown has no rectangle.
    """
    element_ids = {piece.node_id for unit in units for piece in unit.pieces if piece.node_id}
    if not element_ids:
        return list(units)
    row_by_element = {row["element_id"]: row for row in read_sections(element_ids).iter_rows(named=True)}
    return [
        unit.model_copy(update={"pieces": [_add_piece_rectangles(piece, row_by_element) for piece in unit.pieces]})
        for unit in units
    ]


def _add_piece_rectangles(piece: Piece, rows: Mapping[str, Mapping[str, Any]]) -> Piece:
    """Return a piece with the rectangles of the printed lines that contain its words."""
    row = rows.get(piece.node_id)
    if row is None or piece.role in ("note", "label"):
        return piece
    start, end = locate_quote(piece.text, row["text"])
    lines = [line for line in row["pieces"] if line["start"] < end and line["end"] > start]
    boxes = [BoundingBox.of_row(line) for line in lines]
    return piece.model_copy(update={"bboxes": boxes})


def locate_quote(quote: str, text: str) -> tuple[int, int]:
    """Locate a quote in the text of its element.

    The quote may begin with a run-in heading that the text of the element lacks.

    Args:
        quote: Text of a piece.
        text: Text of its element.

    Returns:
        Half-open range of characters; (0, 0) where the text lacks the quote.
    """
    start = text.find(quote)
    if start >= 0:
        return start, start + len(quote)
    words = quote.split(" ")
    for skipped_count in range(1, len(words)):
        quote_end = " ".join(words[skipped_count:])
        if text.startswith(quote_end):
            return 0, len(quote_end)
    return 0, 0
