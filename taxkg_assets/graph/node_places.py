"""Places of nodes: their order in a document and their rectangles on its pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from taxkg_assets.records import PlacedBoxRecord, copy_place


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


def merge_pieces(pieces: Iterable[PlacedBoxRecord]) -> list[PlacedBoxRecord]:
    """Merge the rectangles of printed lines into one per column and page.

    Args:
        pieces: Rectangles in reading order.

    Returns:
        Rectangles in the same order.
    """
    boxes: list[PlacedBoxRecord] = []
    for piece in pieces:
        last = boxes[-1] if boxes else None
        is_below = last is not None and last["page"] == piece["page"] and piece["y0_pt"] >= last["y0_pt"] - 1
        if last is None or not is_below or piece["x0_pt"] > last["x1_pt"] or piece["x1_pt"] < last["x0_pt"]:
            boxes.append(copy_place(piece))
            continue
        last["x0_pt"] = min(last["x0_pt"], piece["x0_pt"])
        last["x1_pt"] = max(last["x1_pt"], piece["x1_pt"])
        last["y1_pt"] = max(last["y1_pt"], piece["y1_pt"])
    return boxes
