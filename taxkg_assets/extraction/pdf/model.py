"""A document as data: its pages with spans, rules, fills and form fields.

A `Page` is plain data, so that the stages after the reading are pure functions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from taxkg_assets.extraction.pdf.hidden_text import HiddenText
from taxkg_assets.extraction.pdf.navigation import Navigation
from taxkg_assets.extraction.pdf.tags import Tag


# Not frozen: a page has hundreds of them, and a frozen one takes three times as long to make.
@dataclass(slots=True)
class Span:
    """A run of text in one font; coordinates are points from the top left of the page, y downwards.

    Attributes:
        tag_ix: Innermost structure tag of the text, an index into `Page.tags`; −1 for none.
    """

    span_ix: int
    block_ix: int
    line_ix: int
    text: str
    font: str
    size_pt: float
    is_bold: bool
    is_italic: bool
    color: int
    x0: float
    y0: float
    x1: float
    y1: float
    tag_ix: int = -1


@dataclass(frozen=True, slots=True)
class Rule:
    """A drawn horizontal or vertical line, or one edge of a thin filled rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def is_horizontal(self) -> bool:
        """Return whether the line is at least as wide as it is high."""
        return abs(self.y1 - self.y0) <= abs(self.x1 - self.x0)


@dataclass(frozen=True, slots=True)
class Fill:
    """A filled rectangle (cell shading, callout background)."""

    x0: float
    y0: float
    x1: float
    y1: float
    color: int


@dataclass(frozen=True, slots=True)
class Widget:
    """A field of the classic AcroForm; `label` is what it states about itself to be spoken (TU)."""

    name: str
    label: str
    kind: str
    value: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page as data; `rules`, `fills` and `widgets` may be empty.

    Attributes:
        sideways: Direction of its text: 1 upwards, −1 downwards, 0 from left to right.
        tags: Structure tags that the page is read by, parents before children; empty without trusted tags.
        distrust: Why a tagged page is read without its tags; otherwise empty.
    """

    page: int
    width_pt: float
    height_pt: float
    spans: tuple[Span, ...]
    rules: tuple[Rule, ...] = ()
    fills: tuple[Fill, ...] = ()
    widgets: tuple[Widget, ...] = ()
    image_count: int = 0
    sideways: int = 0
    tags: tuple[Tag, ...] = ()
    distrust: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A document as read: its pages, the PDF's metadata, and warnings on repairs."""

    document_id: str
    pages: tuple[Page, ...]
    metadata: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    is_text_file: bool = False
    hidden_texts: tuple[HiddenText, ...] = ()
    # The XML of the form template (XFA) as stored, unread; empty for none.
    template: bytes = b""
    navigation: Navigation = field(default_factory=Navigation)

    @property
    def image_only_pages(self) -> tuple[int, ...]:
        """Return the pages that show an image and contain no text, so that they need OCR."""
        return tuple(page.page for page in self.pages if not page.spans and page.image_count)
