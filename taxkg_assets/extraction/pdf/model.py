"""A document as data: its pages with spans, rules, fills and form fields.

A `Page` is plain data: the later stages are pure functions of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from taxkg_assets.extraction.pdf.hidden_text import HiddenText
from taxkg_assets.extraction.pdf.navigation import Navigation
from taxkg_assets.extraction.pdf.tags import Tag


# Not frozen: a page has hundreds of spans, and a frozen one takes three times as long to make.
@dataclass(slots=True)
class Span:
    """A run of text in one font; coordinates are points from the top left of the page, y downwards.

    Attributes:
        span_ix: Number of the span on the page, from 0.
        block_ix: Number of the block of text that MuPDF found.
        line_ix: Number of the line in that block.
        text: The text.
        font: Name of the font.
        size_pt: Type size.
        is_bold: Whether the font is bold.
        is_italic: Whether the font is italic.
        color: Color as 0xRRGGBB.
        x0: Left edge.
        y0: Upper edge.
        x1: Right edge.
        y1: Lower edge.
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
    """A drawn horizontal or vertical line, or a thin filled rectangle; coordinates as in `Span`."""

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
    """A filled rectangle, such as the shading of a cell; coordinates and color as in `Span`."""

    x0: float
    y0: float
    x1: float
    y1: float
    color: int


@dataclass(frozen=True, slots=True)
class Widget:
    """A form field of a PDF page (AcroForm); coordinates as in `Span`.

    Attributes:
        name: Full name of the field in the PDF.
        label: Spoken text of the field, for screen readers (`TU`).
        kind: Kind in MuPDF's words, such as `Text` or `CheckBox`.
        value: Value that is filled in.
        x0: Left edge.
        y0: Upper edge.
        x1: Right edge.
        y1: Lower edge.
    """

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
    """One page as data.

    Attributes:
        page: Number of the page, from 1.
        width_pt: Width.
        height_pt: Height.
        spans: Visible text, in the order of the file.
        rules: Drawn lines.
        fills: Filled rectangles.
        widgets: Form fields.
        image_count: Number of images.
        sideways: Direction of the text: 1 upwards, −1 downwards, 2 upside down, 0 from left to right.
        tags: Structure tags that the page is read by, parents before children; empty without reliable tags.
        distrust: Why a tagged page is read without its tags; "" for other pages.
        is_garbled: Whether the fonts of some text do not state which letters they print, so that it was left out.
        text_with_comments: All text of a page with comments or stamps, which are not in `spans`; "" for other pages.
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
    is_garbled: bool = False
    text_with_comments: str = ""

    @property
    def has_text(self) -> bool:
        """Return whether there is a visible character that is no blank."""
        return any(not span.text.isspace() for span in self.spans if span.text)


@dataclass(frozen=True, slots=True)
class Source:
    """A document as read from its file.

    Attributes:
        document_id: Id of the document.
        pages: Pages, in order.
        metadata: Metadata of the PDF, such as `title` and `creationDate`.
        warnings: What was repaired, left out as invisible, or contains no text.
        is_text_file: Whether the file is plain text and no PDF.
        hidden_texts: Invisible texts, and texts that instruct a program.
        template: XML of the form template (XFA), not parsed; empty for none.
        navigation: Links, named destinations and bookmarks.
    """

    document_id: str
    pages: tuple[Page, ...]
    metadata: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    is_text_file: bool = False
    hidden_texts: tuple[HiddenText, ...] = ()
    template: bytes = b""
    navigation: Navigation = field(default_factory=Navigation)

    @property
    def unreadable_pages(self) -> tuple[int, ...]:
        """Return the pages that need OCR: only images, or text whose fonts do not state the letters."""
        return tuple(page.page for page in self.pages if page.is_garbled or (page.image_count and not page.has_text))
