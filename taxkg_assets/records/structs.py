"""Records that are values of other records: rectangles, cells, ranges."""

from __future__ import annotations

from typing import TypedDict


class CornersRecord(TypedDict):
    """A rectangle in PDF points with the origin at the top left of the page."""

    x0_pt: float
    y0_pt: float
    x1_pt: float
    y1_pt: float


class PlacedBoxRecord(CornersRecord):
    """A rectangle with its 1-based page."""

    page: int


class PieceRecord(PlacedBoxRecord):
    """The rectangle of a range of `sections.text`: one printed line."""

    start: int
    end: int


class HiddenTextRecord(PlacedBoxRecord):
    """Invisible text of a page, or a suspected prompt injection."""

    kind: str
    text: str
    is_order: bool


class PageSourceRecord(TypedDict):
    """How a page was read."""

    page: int
    source: str
    reason: str


class CellRecord(TypedDict):
    """One body cell of a row of `tables`."""

    row_ix: int
    col_ix: int
    row_path: str
    col_path: str
    text: str
    bbox: CornersRecord


class ChangedWordsRecord(TypedDict):
    """A range of words in which the two texts of a row of `revisions` differ."""

    before_start: int
    before_end: int
    after_start: int
    after_end: int
    nature: str


def copy_place(record: PlacedBoxRecord) -> PlacedBoxRecord:
    """Return only the page and corners of a record.

    Args:
        record: Rectangle, or a record with further columns.
    """
    return {
        "page": record["page"],
        "x0_pt": record["x0_pt"],
        "y0_pt": record["y0_pt"],
        "x1_pt": record["x1_pt"],
        "y1_pt": record["y1_pt"],
    }
