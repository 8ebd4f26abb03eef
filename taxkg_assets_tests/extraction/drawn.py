"""Small drawn pages for tests: text at a place, lines, cells. One line of text is one span of one PDF line."""

from __future__ import annotations

from dataclasses import dataclass, field

from taxkg_assets.extraction.pdf.model import Fill, Page, Rule, Source, Span, Widget

WIDTH, HEIGHT = 612.0, 792.0


@dataclass
class Canvas:
    """A page under construction; y is the top of the text."""

    number: int = 1
    spans: list[Span] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    fills: list[Fill] = field(default_factory=list)
    widgets: list[Widget] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, *, bold: bool = False, size: float = 8.0, block: int = 0) -> None:
        """Set one span; its width is half its type size for each character."""
        i = len(self.spans)
        x, y, width = float(x), float(y), 0.5 * size * len(text)
        self.spans.append(Span(i, block, i, text, "Sans", size, bold, False, 0, x, y, x + width, y + 1.2 * size))

    def right(self, x: float, y: float, text: str, *, bold: bool = False, size: float = 8.0) -> None:
        """Set one span that ends at x."""
        self.text(x - 0.5 * size * len(text), y, text, bold=bold, size=size)

    def leader(self, x0: float, x1: float, y: float) -> None:
        """Set a dotted leader."""
        self.text(x0, y, "." * int((x1 - x0) / 4))

    def line(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self.rules.append(Rule(x0, y0, x1, y1))

    def cell(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Draw the four sides of a cell."""
        self.line(x0, y0, x1, y0)
        self.line(x0, y1, x1, y1)
        self.line(x0, y0, x0, y1)
        self.line(x1, y0, x1, y1)

    def grid(self, xs: list[float], ys: list[float]) -> None:
        """Draw all lines of a grid."""
        for y in ys:
            self.line(xs[0], y, xs[-1], y)
        for x in xs:
            self.line(x, ys[0], x, ys[-1])

    def page(self) -> Page:
        return Page(
            self.number, WIDTH, HEIGHT, tuple(self.spans), tuple(self.rules), tuple(self.fills), tuple(self.widgets)
        )


def source_of(*canvases: Canvas, document_id: str = "sample") -> Source:
    """Bind pages to a document."""
    return Source(document_id, tuple(canvas.page() for canvas in canvases))
