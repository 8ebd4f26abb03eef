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
    """Type sizes of a document, per page and overall, and its repeated header and footer lines."""

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
            Size in points; the document's own where the page has none.
        """
        return self.page_sizes.get(page, self.body_size)


def find_style(source: Source, pages_lines: Sequence[Sequence[Line]]) -> Style:
    """Measure the most frequent size of body text, per page and overall.

    Args:
        source: Pages of the document.
        pages_lines: Lines of each page, from top to bottom.

    Returns:
        Sizes in points.
    """
    in_all: Counter[float] = Counter()
    by_page: dict[int, float] = {}
    edges: dict[str, set[int]] = defaultdict(set)
    later: set[tuple[str, float]] = set()
    for page, lines in zip(source.pages, pages_lines, strict=True):
        head, foot = find_edges(page)
        lengths: dict[float, int] = {}
        bold: set[tuple[str, float]] = set()
        for line in lines:
            if line.is_bold:
                bold.add((line.first.font, line.size))
            elif len(line.text) >= 25:
                lengths[line.size] = lengths.get(line.size, 0) + len(line.text)
            # The mark of a list at the top of a column has its words below it, and no page's head or foot is a mark.
            if (line.y0 > foot or line.y1 < head) and line.text not in LONE_MARKS:
                edges[mask_digits(line.text)].add(page.page)
        # A page has a few sizes only: they are rounded once each.
        here: Counter[float] = Counter()
        for size, length in lengths.items():
            here[round(size, 1)] += length
        if page.page > 1:
            later.update((font, round(size, 1)) for font, size in bold)
        if here and sum(here.values()) >= 400:
            by_page[page.page] = _mode(here)
        in_all.update(here)
    body = _mode(in_all) if in_all else 10.0
    # A page of small print among pages of text (a chart) does not turn its labels into headings.
    kept = {page: size for page, size in by_page.items() if abs(size - body) > 0.3 and size > 0.6 * body}
    first = [line for line in pages_lines[0] if len(LETTER.findall(line.text)) >= 5] if pages_lines else []
    limit = thresholds()
    needed = limit.repeat_pages if len(source.pages) >= limit.repeat_pages else 99
    return Style(
        body,
        kept,
        frozenset(text for text, pages in edges.items() if len(pages) >= needed),
        frozenset(later),
        max((line.size for line in first), default=body),
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
        page: The page.
    """
    limit = thresholds()
    return limit.head_frac * page.height_pt, limit.foot_frac * page.height_pt
