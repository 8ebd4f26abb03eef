"""Places of nodes: their order in a document and their rectangles on its pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import polars as pl

from taxkg_assets.records import PlacedBoxRecord


class Piece(NamedTuple):
    """A printed line of a text: its range of characters, half-open, its page, and its rectangle in points."""

    start: int
    end: int
    page: int
    x0_pt: float
    y0_pt: float
    x1_pt: float
    y1_pt: float


def number_nodes(rows: list[dict[str, Any]]) -> None:
    """Number the nodes of each document in reading order, from 0.

    Args:
        rows: Nodes with `document_id`, `order`, `level` and `node_id`; changed in place. Orders are compared as text:
            element ids sort by page and place.
    """
    counts: dict[str, int] = defaultdict(int)
    for row in sorted(rows, key=lambda row: (row["document_id"], row["order"], row["level"], row["node_id"])):
        row["ordinal"] = counts[row["document_id"]]
        counts[row["document_id"]] += 1


def list_pieces(pieces: pl.Series) -> Iterator[list[Piece]]:
    """List the printed lines of each text: polars reads nested structs one by one, and a flat table at once.

    Args:
        pieces: Column `pieces` of sections.

    Yields:
        Lines of each text in reading order.
    """
    flat = pieces.explode(empty_as_null=False, keep_nulls=False).struct.unnest().select(Piece._fields)
    lines = map(Piece._make, flat.iter_rows())
    for count in pieces.list.len().fill_null(0):
        yield list(islice(lines, count))


def merge_pieces(pieces: Iterable[Piece]) -> list[PlacedBoxRecord]:
    """Merge the rectangles of printed lines into one per column and page.

    Args:
        pieces: Lines in reading order.

    Returns:
        Rectangles in the same order.
    """
    boxes: list[PlacedBoxRecord] = []
    last: PlacedBoxRecord | None = None
    for _, _, page, x0, y0, x1, y1 in pieces:
        is_below = last is not None and last["page"] == page and y0 >= last["y0_pt"] - 1
        if last is None or not is_below or x0 > last["x1_pt"] or x1 < last["x0_pt"]:
            last = {"page": page, "x0_pt": x0, "y0_pt": y0, "x1_pt": x1, "y1_pt": y1}
            boxes.append(last)
            continue
        if x0 < last["x0_pt"]:
            last["x0_pt"] = x0
        if x1 > last["x1_pt"]:
            last["x1_pt"] = x1
        if y1 > last["y1_pt"]:
            last["y1_pt"] = y1
    return boxes
