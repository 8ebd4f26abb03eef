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


_LEAST_PAGE_CHARS = 400
"""Characters of plain text from which a page has a size of its own."""
_LONG_LINE_CHARS = 25
"""Characters from which a line is text, and no label."""
_TITLE_LETTERS = 5
_USUAL_SIZE_PT = 10.0


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
    document_chars: Counter[float] = Counter()
    size_by_page: dict[int, float] = {}
    pages_by_edge_text: dict[str, set[int]] = defaultdict(set)
    later_styles: set[tuple[str, float]] = set()
    for page, lines in zip(source.pages, pages_lines, strict=True):
        for text in _list_edge_texts(page, lines):
            pages_by_edge_text[text].add(page.page)
        page_chars = _count_plain_chars(lines)
        document_chars.update(page_chars)
        if page.page > 1:
            bold_styles = {(line.first.font, line.size) for line in lines if line.is_bold}
            later_styles.update((font, round(size, 1)) for font, size in bold_styles)
        if page_chars and sum(page_chars.values()) >= _LEAST_PAGE_CHARS:
            size_by_page[page.page] = _most_frequent(page_chars)
    body_size = _most_frequent(document_chars) if document_chars else _USUAL_SIZE_PT
    min_pages = thresholds().repeat_pages
    is_long = len(source.pages) >= min_pages
    repeated = [text for text, pages in pages_by_edge_text.items() if is_long and len(pages) >= min_pages]
    return Style(
        body_size=body_size,
        page_sizes={page: size for page, size in size_by_page.items() if _is_own_size(size, body_size)},
        repeated=frozenset(repeated),
        later_styles=frozenset(later_styles),
        title_size=_find_title_size(pages_lines[0], body_size) if pages_lines else body_size,
    )


def _list_edge_texts(page: Page, lines: Sequence[Line]) -> list[str]:
    """Return the lines in the head and foot of a page, with digits masked."""
    header_bottom, footer_top = find_edges(page)
    at_edge = [line for line in lines if line.y0 > footer_top or line.y1 < header_bottom]
    # The mark of a list at the top of a column has its words below it, and no page's head or foot is a mark.
    return [mask_digits(line.text) for line in at_edge if line.text not in LONE_MARKS]


def _count_plain_chars(lines: Sequence[Line]) -> Counter[float]:
    """Count the characters of plain text in long lines, by type size."""
    chars_by_exact_size: dict[float, int] = {}
    for line in lines:
        if not line.is_bold and len(line.text) >= _LONG_LINE_CHARS:
            chars_by_exact_size[line.size] = chars_by_exact_size.get(line.size, 0) + len(line.text)
    # A page has a few sizes only: they are rounded once each.
    chars: Counter[float] = Counter()
    for size, count in chars_by_exact_size.items():
        chars[round(size, 1)] += count
    return chars


def _is_own_size(size: float, body_size: float) -> bool:
    """Decide whether the size of a page's text differs from that of the document.

    A page of small print among pages of text (a chart) does not turn its labels into headings.
    """
    return abs(size - body_size) > 0.3 and size > 0.6 * body_size


def _find_title_size(first_page_lines: Sequence[Line], body_size: float) -> float:
    """Return the largest size of a line with some letters on the first page."""
    sizes = [line.size for line in first_page_lines if len(LETTER.findall(line.text)) >= _TITLE_LETTERS]
    return max(sizes, default=body_size)


def _most_frequent(chars_by_size: Counter[float]) -> float:
    """Return the size with most characters; of several, the smallest."""
    return min(chars_by_size, key=lambda size: (-chars_by_size[size], size))


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
