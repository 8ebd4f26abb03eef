"""The content stream of a page without the instructions that the reader of drawings does not need: this saves time.

Most instructions write text and draw nothing, and many mark a place in the document's structure, which the parser looks
up each time. If a content stream contains anything that may not be of this kind, nothing is removed.
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
# Signs of remaining text, and of a comment, which may contain anything.
_TEXT_SIGNS = (b"Tj", b"TJ", b"'", b'"', b"%")
# The parser looks up a place in the document's structure by this number, and nothing by its replacement.
_MCID, _NO_MCID = b"/MCID", b"/None"
_MCID_IN_STRING = re.compile(rb"\((?:[^()\\/]++|\\.|/(?!MCID))*+/MCID", re.DOTALL)


@contextmanager
def with_content_stream(page: Any, content: bytes) -> Iterator[bytes]:
    """Replace the content stream of a page while the context is open.

    Args:
        page: Open page of PyMuPDF.
        content: New content stream; empty to leave the page as it is.

    Yields:
        The new content stream.
    """
    if not content:
        yield content
        return
    low_page = low_level_page(page)
    page_object, document = low_page.obj(), low_page.doc()
    old_contents = _MUPDF.pdf_dict_gets(page_object, "Contents")
    buffer = _MUPDF.fz_new_buffer_from_copied_data(content)
    new_contents = _MUPDF.pdf_add_stream(document, buffer, _MUPDF.PdfObj(), 0)
    _MUPDF.pdf_dict_puts(page_object, "Contents", new_contents)
    try:
        yield content
    finally:
        _MUPDF.pdf_dict_puts(page_object, "Contents", old_contents)
        _MUPDF.pdf_delete_object(document, _MUPDF.pdf_to_num(new_contents))


def strip_mcids(content: bytes) -> bytes:
    """Remove marked-content ids from a content stream, unless a string in it looks like such an id.

    Args:
        content: The page's content stream, decoded.

    Returns:
        The content stream without these ids; unchanged if one of its strings looks like an id.
    """
    if _MCID_IN_STRING.search(content):
        return content
    return content.replace(_MCID, _NO_MCID)


def strip_text_objects(content: bytes) -> bytes | None:
    """Remove the text from a content stream.

    Args:
        content: The page's content stream, decoded.

    Returns:
        The content stream without text; None where text would remain, or where the page contains a picture.
    """
    # The replacement has line ends, so that the instructions before and after stay separate.
    wordless_content = _TEXT.sub(_EMPTY, content)
    if any(sign in wordless_content for sign in _TEXT_SIGNS) or PICTURE.search(wordless_content):
        return None
    return wordless_content
