"""Tagged tables that continue on further pages, where the header is printed again without a tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from taxkg_assets.extraction.pdf.model import Page, Span
from taxkg_assets.extraction.tables.cells import FoundTable

# The printed lines of a header follow each other without a gap of more than this many type sizes.
_GAP_SIZES = 1.5
_EDGE_PT = 6.0


class ContinuedTables:
    """Tracks the headers of tagged tables across the pages of a document."""

    def __init__(self) -> None:
        self.headers: dict[tuple[int, ...], tuple[str, ...]] = {}

    def add(self, page: Page, tables: Sequence[FoundTable]) -> list[FoundTable]:
        """Record the headers of a page's tables, and extend continued ones to their repeated header.

        Args:
            page: The page.
            tables: Tables of the page.

        Returns:
            The tables; the region of a continued one includes the header that is printed above it.
        """
        extended = [self._extend(page, table) for table in tables]
        for table in tables:
            if table.path and table.has_header_tags and any(table.headers):
                self.headers.setdefault(table.path, table.headers)
        return extended

    def _extend(self, page: Page, table: FoundTable) -> FoundTable:
        words = set(" ".join(self.headers.get(table.path, ())).split())
        region = table.region
        if not words:
            return table
        top = region.y0
        for span in sorted(_find_untagged(page, table), key=lambda span: -span.y1):
            if top - span.y1 > _GAP_SIZES * span.size_pt or not set(span.text.split()) <= words:
                break
            top = min(top, span.y0)
        return replace(table, region=replace(region, y0=top)) if top < region.y0 else table


def _find_untagged(page: Page, table: FoundTable) -> list[Span]:
    """Find the untagged words above a table, between its edges."""
    region = table.region
    return [
        span
        for span in page.spans
        if span.tag_ix < 0
        and span.text.strip()
        and span.y1 <= region.y0 + 2
        and region.x0 - _EDGE_PT <= (span.x0 + span.x1) / 2 <= region.x1 + _EDGE_PT
    ]
