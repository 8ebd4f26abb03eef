"""Documents of running text: filer instructions, the recipient's page of a form, a statute."""

from __future__ import annotations

from collections.abc import Callable

import pymupdf

from .compose import set_block
from .manuscript import Block
from .typeset import BLACK, PAGE_HEIGHT, PAGE_WIDTH, Color, Line, Measure, draw_line, draw_text, width_of

SAMPLE = "SAMPLE – not an IRS document"
Furnish = Callable[[pymupdf.Shape, int], float]


def draw_centered(
    shape: pymupdf.Shape, y: float, *, text: str, style: str = "bold", size_pt: float = 9.0, color: Color = BLACK
) -> None:
    """One line in the middle of the page."""
    draw_text(
        shape,
        ((PAGE_WIDTH - width_of(text, style, size_pt)) / 2, y),
        text=text,
        style=style,
        size_pt=size_pt,
        color=color,
    )


def draw_right(
    shape: pymupdf.Shape, right: float, y: float, *, text: str, style: str = "bold", size_pt: float = 9.0
) -> None:
    """One line that ends at `right`."""
    draw_text(shape, (right - width_of(text, style, size_pt), y), text=text, style=style, size_pt=size_pt)


class Setter:
    """Fills columns and pages with lines; `furnish(shape, page)` draws its furniture and returns where text begins."""

    def __init__(self, pdf: pymupdf.Document, measure: Measure, furnish: Furnish) -> None:
        self.pdf, self.measure, self.furnish = pdf, measure, furnish
        self.first_page = len(pdf) + 1
        self.waiting: list[Block] = []
        self._open_page()

    @property
    def page(self) -> int:
        return len(self.pdf)

    def _open_page(self) -> None:
        self.shape = self.pdf.new_page(width=PAGE_WIDTH, height=PAGE_HEIGHT).new_shape()
        self.top = self.furnish(self.shape, self.page)
        self.column, self.is_at_top = 0, True
        for block in self.waiting:
            block.page = self.page
            x0, x1 = self.measure.columns[0][0], self.measure.columns[-1][1]
            for line in set_block(block, self.measure, width=x1 - x0, is_first=True):
                draw_line(self.shape, line, x=x0, y=self.top + line.gap)
                self.top += line.gap + line.height
            self.top += 6.0
        self.waiting = []
        self.y = self.top

    def close(self) -> None:
        """Write the open page."""
        self.shape.commit()

    def _break(self) -> None:
        if self.column + 1 < len(self.measure.columns):
            self.column, self.y, self.is_at_top = self.column + 1, self.top, True
            return
        self.close()
        self._open_page()

    def _place(self, group: list[Line]) -> None:
        needed = sum(line.height + line.gap for line in group)
        if self.y + needed > self.measure.bottom and not self.is_at_top:
            self._break()
        for line in group:
            if self.is_at_top and not line.runs:
                continue
            self.y += 0.0 if self.is_at_top else line.gap
            draw_line(self.shape, line, x=self.measure.columns[self.column][0], y=self.y)
            self.y += line.height
            self.is_at_top = False

    def add(self, blocks: list[Block]) -> None:
        """Set the blocks in order; a heading stays with the first lines of what follows it."""
        carried: list[tuple[Block, Line]] = []
        heads = set(self.measure.headings_pt)
        for ix, block in enumerate(blocks):
            if block.is_wide:
                self.waiting.append(block)
                continue
            left, right = self.measure.columns[self.column]
            is_first = ix == 0 or blocks[ix - 1].kind in heads
            for line in set_block(block, self.measure, width=right - left, is_first=is_first):
                carried.append((block, line))
                if not line.keeps_next:
                    self._place([kept for _, kept in carried])
                    for owner, _ in carried:
                        owner.page = owner.page or self.page
                    carried = []


def _draw_masthead(shape: pymupdf.Shape) -> float:
    draw_text(shape, (42, 62), text="Instructions for Form", style="bold", size_pt=25)
    draw_text(shape, (42, 89), text="1099-DIV", style="bold", size_pt=25)
    draw_text(shape, (42, 108), text="(Rev. January 2024)", style="regular", size_pt=17)
    draw_text(shape, (42, 123), text="Dividends and Distributions", style="bold", size_pt=12)
    draw_right(shape, 568, 48, text=SAMPLE, size_pt=12)
    draw_right(shape, 568, 61, text="Bundled with taxkg for tests", style="regular", size_pt=10)
    shape.draw_line((42, 129), (568, 129))
    shape.finish(color=BLACK, width=1.8)
    return 138.0


def furnish_filer(shape: pymupdf.Shape, page: int) -> float:
    """Masthead on the first page, running footer with the page number on the others."""
    draw_text(shape, (42, 762), text=SAMPLE, style="bold", size_pt=9)
    if page == 1:
        draw_right(shape, 568, 762, text="Typeset from a manuscript", style="regular")
        return _draw_masthead(shape)
    draw_centered(shape, 762, text=f"-{page}-", size_pt=10)
    draw_right(shape, 568, 762, text="Instructions for Form 1099-DIV (Rev. 01-2024)")
    return 44.0


def furnish_statute(shape: pymupdf.Shape, page: int) -> float:
    """Sample mark and page number on every page, the title on the first."""
    draw_centered(shape, 40, text=f"{SAMPLE} and not a law in force")
    draw_centered(shape, 762, text=str(page), style="regular")
    if page > 1:
        return 60.0
    draw_text(shape, (72, 84), text="Title 8: Procedure", style="bold", size_pt=18)
    draw_text(shape, (72, 100), text="Town code of Lindmere (invented)", style="regular", size_pt=11)
    return 118.0


def set_booklet(pdf: pymupdf.Document, blocks: list[Block], *, measure: Measure, furnish: Furnish) -> None:
    """Append the blocks to the document as pages."""
    setter = Setter(pdf, measure, furnish)
    setter.add(blocks)
    setter.close()
