"""How each page of a document was read: by its structure tags, by the form template or by its layout."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from taxkg_assets.extraction.pdf.model import Page, Source


@dataclass(frozen=True, slots=True)
class PageSource:
    """How one page was read.

    Attributes:
        source: `tags`, `template` or `layout`.
        reason: Why the tags of a tagged page were rejected, in one sentence; otherwise empty.
    """

    page: int
    source: str
    reason: str = ""


def find_page_sources(source: Source, *, template_pages: Collection[int]) -> tuple[PageSource, ...]:
    """List how each page of a document was read.

    Args:
        source: The document as read.
        template_pages: Numbers of the pages on which a reliable template states the keys of fields.

    Returns:
        One entry per page, in order.
    """
    return tuple(PageSource(page.page, _name_source(page, template_pages), page.distrust) for page in source.pages)


def _name_source(page: Page, template_pages: Collection[int]) -> str:
    if page.tags:
        return "tags"
    return "template" if page.page in template_pages else "layout"
