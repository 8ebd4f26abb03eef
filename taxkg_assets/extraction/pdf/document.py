"""An open PDF whose bookmarks are not loaded when it is opened."""

from __future__ import annotations

from typing import Any

from taxkg_assets.extraction.pdf.library import pymupdf

_MUPDF: Any = pymupdf


class BoundedDocument(_MUPDF.Document):  # type: ignore[misc]
    """A PyMuPDF document that does not resolve bookmarks, which can take unbounded time.

    `NavigationReader` reads bookmarks and names within limits.
    """

    def _loadOutline(self) -> None:  # noqa: N802 - overrides PyMuPDF's
        return None
