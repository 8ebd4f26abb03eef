"""The instructions of a page, shortened to what is read of them: that takes a fraction of the time.

Most of them write text, of which nothing is drawn, and many mark a place in the document's structure, which the parser
looks up each time. Whatever is not surely of this kind is kept, and with it the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from taxkg_assets.extraction.pdf.library import pymupdf
from taxkg_assets.extraction.pdf.render_fast_path import PICTURE, low_level_page

_MUPDF: Any = pymupdf.mupdf
_STRING = rb"\((?:[^()\\]++|\\.)*+\)"
# A text object of numbers, strings, fonts and instructions that no drawing depends on: no color, no clip to glyphs.
# Digits and blanks are spelled out: a class of single bytes is one table, which takes half the time of `[\d\s]`.
_TEXT = re.compile(
    rb"BT(?=\s)(?:[0-9A-F \t\n\r\f\v.<>\[\]+-]++|T[dfmjcwzsJLD*]|/\w++|" + _STRING + rb")*+T(?<=\sET)(?!\S)", re.DOTALL
)
_EMPTY = b"\nBT ET\n"
# Text that is left, and a comment, which may hold what is none.
_LEFT = (b"Tj", b"TJ", b"'", b'"', b"%")
# By this number a mark's place in the document's structure is looked up; nothing is looked up by its stand-in.
_NUMBER, _NO_NUMBER = b"/MCID", b"/None"
_NUMBER_IN_STRING = re.compile(rb"\((?:[^()\\/]++|\\.|/(?!MCID))*+/MCID", re.DOTALL)


@contextmanager
def with_content_stream(page: Any, content: bytes) -> Iterator[bytes]:
    """Replace the content stream of a page while the context is open.

    Args:
        page: Open page of PyMuPDF.
        content: The instructions; empty to leave the page as it is.

    Yields:
        The instructions of the page.
    """
    if not content:
        yield content
        return
    inside = low_level_page(page)
    described, document = inside.obj(), inside.doc()
    contents = _MUPDF.pdf_dict_gets(described, "Contents")
    buffer = _MUPDF.fz_new_buffer_from_copied_data(content)
    other = _MUPDF.pdf_add_stream(document, buffer, _MUPDF.PdfObj(), 0)
    _MUPDF.pdf_dict_puts(described, "Contents", other)
    try:
        yield content
    finally:
        _MUPDF.pdf_dict_puts(described, "Contents", contents)
        _MUPDF.pdf_delete_object(document, _MUPDF.pdf_to_num(other))


def strip_mcids(content: bytes) -> bytes:
    """Remove marked-content ids from a content stream, unless a string in it looks like such an id.

    Args:
        content: The page's content stream, decoded.

    Returns:
        The content stream without these ids; unchanged if one of its strings looks like an id.
    """
    if _NUMBER_IN_STRING.search(content):
        return content
    return content.replace(_NUMBER, _NO_NUMBER)


def strip_text_objects(content: bytes) -> bytes | None:
    """Remove the text from a content stream; None if this is uncertain or there is no text.

    Args:
        content: The page's content stream, decoded.

    Returns:
        The instructions without text, or None.
    """
    # On lines of their own, so that what is before and after stays apart.
    emptied = _TEXT.sub(_EMPTY, content)
    if any(sign in emptied for sign in _LEFT) or PICTURE.search(emptied):
        return None
    return emptied
