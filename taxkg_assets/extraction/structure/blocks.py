"""A block: what one element of a page is inside the extraction, with its lines and its place in the reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from taxkg_assets.extraction.keys import Key
from taxkg_assets.extraction.layout.lines import Line, Piece
from taxkg_assets.extraction.pdf.geometry import Corners

CONTENT_ROLES = ("BodyText", "ListBlock", "Callout", "FormField", "TableBlock")
HEADER_ROLES = ("SectionHeader", "SubsectionHeader", "BoxHeader")


@dataclass(slots=True)
class Block:
    """One element of a page in reading order; a run-in heading and the text after it are two blocks."""

    page: int
    element_ix: int
    element_id: str
    column_ix: int
    role: str
    confidence: float
    lines: list[Line]
    text: str
    pieces: list[Piece]
    size: float
    is_bold: bool
    is_italic: bool
    is_run_in: bool = False
    region_ix: int = -1
    table_id: str | None = None
    is_indented: bool = False
    is_listed: bool = False
    is_below_rule: bool = False
    is_centered: bool = False
    is_face: bool = False
    is_code: bool = False
    is_in_contents: bool = False
    is_continued: bool = False
    # A numbered line of a form is content and heads itself: what it is named, and by which of its words.
    named: Key | None = None
    heading: str = ""
    is_part_of_line: bool = False
    # On a face: set apart from all lines above, or set as far left as their numbers.
    is_apart: bool = False
    # Below the rule that ends a list of names under a ruled heading: the heading before that one continues.
    is_after_list: bool = False
    # The title of a table: it owns the table, what is between them, and nothing after it.
    heads_table: bool = False
    is_under_title: bool = False
    # The numbered caption of a table, or what is set with it.
    is_caption: bool = False
    is_outdented: bool = False
    # On a page that is one picture: what it prints floats, and the text around it continues.
    is_pictured: bool = False
    # What the structure tags say: a heading's level (0 for other text, −1 where layout decides), the tag's path.
    level: int = -1
    path: tuple[int, ...] = ()
    # Who says that the block is what it is: the structure tags, the layout, or both.
    source: str = "layout"

    @property
    def is_heading(self) -> bool:
        """Return whether the block is a heading: by its role, or as a numbered line of a form."""
        return self.role in HEADER_ROLES or self.named is not None

    @property
    def bbox(self) -> Corners:
        """Return the bounding box of all lines: left, top, right and bottom in points."""
        first = self.lines[0]
        x0, y0, x1, y1 = first.x0, first.y0, first.x1, first.y1
        for line in self.lines[1:]:
            # Faster than the least and the greatest of two.
            x0 = line.x0 if line.x0 < x0 else x0
            y0 = line.y0 if line.y0 < y0 else y0
            x1 = line.x1 if line.x1 > x1 else x1
            y1 = line.y1 if line.y1 > y1 else y1
        return x0, y0, x1, y1


def build_boxes(boxes: Sequence[Corners]) -> pl.Series:
    """Build the column of rectangles for a table, much faster than from dictionaries.

    Args:
        boxes: Rectangles x0, y0, x1, y1, in points.

    Returns:
        Struct column with `x0_pt`, `y0_pt`, `x1_pt` and `y1_pt`.
    """
    corners = dict.fromkeys(("x0_pt", "y0_pt", "x1_pt", "y1_pt"), pl.Float64)
    return pl.DataFrame(boxes, schema=corners, orient="row").to_struct("bbox")
