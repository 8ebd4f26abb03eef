"""Whether the structure tags of a page can be trusted: measured on the page itself."""

from __future__ import annotations

from taxkg_assets.extraction.pdf.model import Page


def find_distrust(page: Page) -> str:
    """Decide why a page must not be read by its structure tags; "" where it can."""
    if len(page.widgets) >= 2:
        return "form face"
    return ""
