"""Interface of the decision which pages are read by their structure tags; the package `authored` decides."""

from __future__ import annotations

from typing import Protocol

from taxkg_assets.extraction.pdf.model import Page


class TagPolicy(Protocol):
    """Interface of the decision which pages are read by their structure tags; see `authored.trust`."""

    def wants_tags(self, *, widget_count: int) -> bool:
        """Return whether the tags of a page should be read.

        Args:
            widget_count: Number of form fields on the page.
        """

    def find_distrust(self, page: Page) -> str:
        """Return the reason why a page's tags are unreliable; empty if they are reliable.

        Args:
            page: Page with its spans and tags.

        Returns:
            Reason in words; empty for none.
        """
