"""The printed lines of a document with its type: read once, used by tables, faces and elements alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.layout.lines import Line, find_lines
from taxkg_assets.extraction.layout.paragraphs import search_for
from taxkg_assets.extraction.layout.roles import find_address_lines, find_artifact_test
from taxkg_assets.extraction.layout.style import Style, find_style
from taxkg_assets.extraction.pdf.model import Page, Source
from taxkg_assets.rules.models.roles import load_roles


@dataclass(frozen=True, slots=True)
class PrintedText:
    """The printed lines of a document and its type sizes.

    Attributes:
        lines: Lines of each page in stored order, by page from 1.
        style: Type sizes of the document, and the headers and footers that it repeats.
    """

    lines: dict[int, list[Line]]
    style: Style

    def find_furniture(self, page: Page) -> frozenset[int]:
        """Return the spans of a page's running header, footer and icons, which tags do not separate from the text.

        Args:
            page: Page with its spans.

        Returns:
            Numbers of the spans on the page, 0-based.
        """
        lines = self.lines[page.page]
        address_line_ids = find_address_lines(page, lines, self.style)
        is_icon = search_for(load_roles().icons)
        is_furniture = find_artifact_test(page, self.style)
        furniture_lines = [
            line
            for line in lines
            if is_icon(line.text) is not None or (is_furniture(line) and id(line) not in address_line_ids)
        ]
        return frozenset(span.span_ix for line in furniture_lines for span in line.spans)


def read_printed_text(source: Source) -> PrintedText:
    """Collect the lines of every page and measure the document's type sizes.

    Args:
        source: Pages of the document.

    Returns:
        Lines by page, and the type sizes of the document.
    """
    pages_lines: list[list[Line]] = [find_lines(page) for page in source.pages]
    lines_by_page: Sequence[tuple[Page, list[Line]]] = list(zip(source.pages, pages_lines, strict=True))
    return PrintedText({page.page: page_lines for page, page_lines in lines_by_page}, find_style(source, pages_lines))
