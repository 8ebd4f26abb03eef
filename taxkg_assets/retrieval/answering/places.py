"""Places of a unit's words on the page: rectangles of lines, not of whole passages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import polars as pl

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.answering.units import Piece, Unit

ReadSections = Callable[[Collection[str]], pl.DataFrame]
"""Rows of `sections` by their element ids."""


def place_units(units: Sequence[Unit], read: ReadSections) -> list[Unit]:
    """Add page rectangles to the pieces of each unit.

    Args:
        units: Units of an answer.
        read: Reads rows of `sections` by element ids.

    Returns:
        Units in the same order; a piece of an unknown element has no rectangle.
    """
    nodes = {piece.node_id for unit in units for piece in unit.pieces if piece.node_id}
    if not nodes:
        return list(units)
    rows = {row["element_id"]: row for row in read(nodes).iter_rows(named=True)}
    return [unit.model_copy(update={"pieces": [_place(piece, rows) for piece in unit.pieces]}) for unit in units]


def _place(piece: Piece, rows: Mapping[str, Mapping[str, Any]]) -> Piece:
    row = rows.get(piece.node_id)
    if row is None or piece.role in ("note", "label"):
        return piece
    start, end = find_range(piece.text, row["text"])
    lines = [own for own in row["pieces"] if own["start"] < end and own["end"] > start]
    boxes = [BoundingBox.of_row(line) for line in lines]
    return piece.model_copy(update={"bboxes": boxes})


def find_range(quote: str, text: str) -> tuple[int, int]:
    """Locate a quote in the text of its element.

    The quote may begin with a run-in heading that the element's text lacks.

    Args:
        quote: Words of a piece.
        text: Text of its element.

    Returns:
        Half-open range of characters; (0, 0) where the text lacks the quote.
    """
    start = text.find(quote)
    if start >= 0:
        return start, start + len(quote)
    words = quote.split(" ")
    for number in range(1, len(words)):
        rest = " ".join(words[number:])
        if text.startswith(rest):
            return 0, len(rest)
    return 0, 0
