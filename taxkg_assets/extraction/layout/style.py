"""Type of a document: its sizes of plain text, its fonts of headings, and what its heads and feet repeat."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.layout.paragraphs import (
    LONE_MARKS,
    thresholds,
)
from taxkg_assets.extraction.pdf.model import Page, Source

_DIGITS = re.compile(r"\d+|[ivxl]+$")
LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Style:
    """Type sizes of a document, and the headers and footers that it repeats.

    Attributes:
        body_size: Most frequent size of plain text, in points.
        page_sizes: That size by page, for the pages where it differs from that of the document.
        repeated: Texts of headers and footers that several pages have, in lower case with digits masked.
        later_styles: Font and size of the bold lines after the first page.
        title_size: Largest size on the first page.
    """

    body_size: float
    page_sizes: dict[int, float]
    repeated: frozenset[str]
    later_styles: frozenset[tuple[str, float]]
    title_size: float

    def body(self, page: int) -> float:
        """Return the size of body text on a page.

        Args:
            page: 1-based page.

        Returns:
            Size in points; `body_size` where the page has no size of its own.
        """
        return self.page_sizes.get(page, self.body_size)


def find_style(source: Source, pages_lines: Sequence[Sequence[Line]]) -> Style:
    """Measure the type sizes of a document and find its repeated headers and footers.

    Args:
        source: Pages of the document.
        pages_lines: Lines of each page, from top to bottom.

    Returns:
        Sizes in points, and repeated texts.
    """
    document_lengths: Counter[float] = Counter()
    size_by_page: dict[int, float] = {}
    edge_pages: dict[str, set[int]] = defaultdict(set)
    later_styles: set[tuple[str, float]] = set()
    for page, lines in zip(source.pages, pages_lines, strict=True):
        header_bottom, footer_top = find_edges(page)
        lengths: dict[float, int] = {}
        bold_styles: set[tuple[str, float]] = set()
        for line in lines:
            if line.is_bold:
                bold_styles.add((line.first.font, line.size))
            elif len(line.text) >= 25:
                lengths[line.size] = lengths.get(line.size, 0) + len(line.text)
            # The mark of a list at the top of a column has its words below it, and no page's head or foot is a mark.
            if (line.y0 > footer_top or line.y1 < header_bottom) and line.text not in LONE_MARKS:
                edge_pages[mask_digits(line.text)].add(page.page)
        # A page has a few sizes only: they are rounded once each.
        page_lengths: Counter[float] = Counter()
        for size, length in lengths.items():
            page_lengths[round(size, 1)] += length
        if page.page > 1:
            later_styles.update((font, round(size, 1)) for font, size in bold_styles)
        if page_lengths and sum(page_lengths.values()) >= 400:
            size_by_page[page.page] = _mode(page_lengths)
        document_lengths.update(page_lengths)
    body_size = _mode(document_lengths) if document_lengths else 10.0
    # A page of small print among pages of text (a chart) does not turn its labels into headings.
    page_sizes = {
        page: size for page, size in size_by_page.items() if abs(size - body_size) > 0.3 and size > 0.6 * body_size
    }
    first_page_lines = [line for line in pages_lines[0] if len(LETTER.findall(line.text)) >= 5] if pages_lines else []
    limit = thresholds()
    needed_pages = limit.repeat_pages if len(source.pages) >= limit.repeat_pages else 99
    return Style(
        body_size,
        page_sizes,
        frozenset(text for text, pages in edge_pages.items() if len(pages) >= needed_pages),
        frozenset(later_styles),
        max((line.size for line in first_page_lines), default=body_size),
    )


def _mode(counter: Counter[float]) -> float:
    return min(counter.items(), key=lambda kv: (-kv[1], kv[0]))[0]


def mask_digits(text: str) -> str:
    """Return a text in lower case with digits masked, to recognize repeated headers and footers.

    Args:
        text: Text of a line.
    """
    return _DIGITS.sub("#", text.lower())


def find_edges(page: Page) -> tuple[float, float]:
    """Return the bottom of the page's header area and the top of its footer area, in points.

    Args:
        page: Page whose height is used.
    """
    limit = thresholds()
    return limit.head_frac * page.height_pt, limit.foot_frac * page.height_pt
