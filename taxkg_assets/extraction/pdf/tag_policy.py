"""Which pages are read by their structure tags: what the reader asks, and the authored layer answers."""

from __future__ import annotations

from typing import Protocol

from taxkg_assets.extraction.pdf.model import Page


class TagPolicy(Protocol):
    """Decides which pages are read by their structure tags; see `authored.trust`."""

    def wants_tags(self, *, widget_count: int) -> bool:
        """Return whether the tags of a page are worth reading.

        Args:
            widget_count: Number of form fields on the page.
        """

    def find_distrust(self, page: Page) -> str:
        """Decide why a page must not be read by its tags; "" where it can.

        Args:
            page: Page with its spans and tags.

        Returns:
            Reason in words; empty for none.
        """
