"""PyMuPDF for pictures of pages, loaded when the first page is drawn: it takes a second, and servers start without."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _Library:
    """The library's names, which carry no complete type annotations."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("taxkg_assets.extraction.pdf.library").pymupdf, name)


MUPDF: Any = _Library()
