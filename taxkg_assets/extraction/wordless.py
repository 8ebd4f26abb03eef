"""The instructions of a page without those that write text: what it draws is read of these in a quarter of the time.

Most of a page's instructions write text. Whatever is not surely nothing but text is kept, and with it the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pymupdf

from taxkg_assets.extraction.plain_pages import PICTURE, inside_of

_MUPDF: Any = pymupdf.mupdf
# A text object of numbers, strings, fonts and instructions that no drawing depends on: no colour, no clip to glyphs.
_TEXT = re.compile(
    rb"BT(?=\s)(?:[\dA-F\s.<>\[\]+-]++|T[dfmjcwzsJLD*]|/\w++|\((?:[^()\\]++|\\.)*+\))*+T(?<=\sET)(?!\S)", re.DOTALL
)
_EMPTY = b"\nBT ET\n"
# Text that is left, and a comment, which may hold what is none.
_LEFT = (b"Tj", b"TJ", b"'", b'"', b"%")


def find_wordless(content: bytes) -> bytes | None:
    """Empty the text objects among a page's instructions; None where text may be left or may be none."""
    # On lines of their own, so that what stands before and after stays apart.
    emptied = _TEXT.sub(_EMPTY, content)
    if any(sign in emptied for sign in _LEFT) or PICTURE.search(emptied):
        return None
    return emptied


@contextmanager
def written_as(page: Any, content: bytes) -> Iterator[None]:
    """Give a page other instructions for a while."""
    inside = inside_of(page)
    described, document = inside.obj(), inside.doc()
    own = _MUPDF.pdf_dict_gets(described, "Contents")
    held = _MUPDF.fz_new_buffer_from_copied_data(content)
    other = _MUPDF.pdf_add_stream(document, held, _MUPDF.PdfObj(), 0)
    _MUPDF.pdf_dict_puts(described, "Contents", other)
    try:
        yield
    finally:
        _MUPDF.pdf_dict_puts(described, "Contents", own)
        _MUPDF.pdf_delete_object(document, _MUPDF.pdf_to_num(other))
