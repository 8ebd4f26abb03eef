"""Documents without their layout: the same words in the same order, in one font, one size and one column."""

from __future__ import annotations

import textwrap
from typing import Any

import polars as pl
import pymupdf

from taxkg_assets.extraction.extract import extract

WIDTH, LINES, SIZE, LEADING = 105, 58, 10, 12
"""Characters of a line, lines of a page, type size and distance of lines in points."""
_MUPDF: Any = pymupdf


def flatten(data: bytes, *, document_id: str) -> bytes:
    """Set a PDF again: what it says in reading order, page furniture left out, each block on a line of its own."""
    elements = extract(data, document_id=document_id).frames["elements"]
    elements = elements.filter(pl.col("role") != "PageArtifact").sort("page", "element_ix")
    with _MUPDF.open() as flat:
        for _, rows in elements.group_by("page", maintain_order=True):
            lines = [line for text in rows["text"] for line in textwrap.wrap(text, WIDTH)]
            for first in range(0, len(lines), LINES):
                page = flat.new_page(width=612, height=792)
                for number, line in enumerate(lines[first : first + LINES]):
                    page.insert_text((45, 50 + LEADING * number), line, fontsize=SIZE, fontname="helv")
        found: bytes = flat.tobytes(no_new_id=True)
    return found
