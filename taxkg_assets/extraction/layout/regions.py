"""Rectangles of a page that tables and faces occupy: other stages must not read their text as prose.

Plain data only, so that elements, tables and faces can share it without importing each other.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageArea:
    """A rectangle on a page; its values are not validated, because extraction makes thousands of them.

    Attributes:
        page: Number of the page, from 1.
        x0: Left edge, in points from the left of the page.
        y0: Upper edge, in points from the top of the page.
        x1: Right edge.
        y1: Lower edge.
    """

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class TableRegion(PageArea):
    """The rectangle of one table on one page, without its caption.

    Attributes:
        kind: `ruled` for a table with drawn lines, `unruled` for one without, `worksheet` for numbered lines to fill
            in, `inner` for a table inside a worksheet.
        tag_ix: Structure tag of the table, an index into `Page.tags`; −1 for a table found by layout.
    """

    kind: str
    tag_ix: int = -1


@dataclass(frozen=True, slots=True)
class FaceBox:
    """One box on the printed face of an information return, on one page: each copy of the form has its own.

    Attributes:
        page: Number of the page, from 1.
        box_key: Key of the box, such as `box_1a`.
        label: Printed label: "Total ordinary dividends".
        is_unlabelled: Whether no label is printed in the box.
        x0: Left edge, in points.
        y0: Upper edge.
        x1: Right edge.
        y1: Lower edge.
        field_names: PDF names of the form fields in the box.
        confidence: From 0 to 1: higher where the key is bold and the box contains a form field.
    """

    page: int
    box_key: str
    label: str
    is_unlabelled: bool
    x0: float
    y0: float
    x1: float
    y1: float
    field_names: tuple[str, ...]
    confidence: float
