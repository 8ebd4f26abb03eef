"""What tables and faces claim of a page: the rectangles that other stages must not read as prose.

Plain data only, so that elements, tables and faces can share it without importing each other.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageArea:
    """A rectangle on a page, in points from the top left; unchecked, as extraction makes them by the thousand."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class TableRegion(PageArea):
    """The rectangle of one table on one page, without its caption.

    Attributes:
        kind: `ruled`, `unruled` or `worksheet`.
        tag_ix: Structure tag of the table, an index into `Page.tags`; −1 for a table found by layout.
    """

    kind: str
    tag_ix: int = -1


@dataclass(frozen=True, slots=True)
class FaceBox:
    """One keyed box of an information return's printed face on one page (every copy has its own)."""

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
