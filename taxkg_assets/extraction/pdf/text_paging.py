"""A long text file, opened in parts: the pages are the same as those of the whole file, and reading is faster.

For each page of a text file, MuPDF reads all lines before that page, so that a page of a long statute takes much longer
than one of a short file. Every page has the same number of printed lines: a text that is cut where a page begins has
the same pages. This module finds such cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from taxkg_assets.extraction.pdf.library import pymupdf

# Lines of a part: some hundred pages, for which opening the part and reading its lines take about the same time.
_PORTION_LINES = 3_000
# Pages to try from the end of a part backwards: one of the last few pages usually begins with a new line.
_TRIED_PAGES = 20
_MUPDF: Any = pymupdf
_AS_STORED: int = _MUPDF.TEXT_PRESERVE_LIGATURES | _MUPDF.TEXT_PRESERVE_WHITESPACE


def open_text_parts(data: bytes, *, open_text: Callable[[bytes], Any]) -> Iterator[tuple[Any, int]]:
    """Open a long text file in consecutive parts.

    If the end of a part is uncertain, the part contains the rest of the file.

    Args:
        data: Bytes of the text file.
        open_text: Opens bytes as a document of PyMuPDF.

    Yields:
        Open part, and how many of its first pages belong to it; the other pages are in the next part, too.
    """
    lines = _lines(data)
    while len(lines) > _PORTION_LINES:
        document = open_text(b"\n".join(lines[:_PORTION_LINES]))
        cut_counts = _find_cut(document, lines[:_PORTION_LINES])
        if cut_counts is None:
            document.close()
            break
        page_count, line_count = cut_counts
        yield document, page_count
        lines = lines[line_count:]
    document = open_text(b"\n".join(lines))
    yield document, document.page_count


def _lines(data: bytes) -> list[bytes]:
    """Split a text in UTF-8 into lines; a text in another encoding stays whole, because MuPDF detects its encoding."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return [data]
    return data.split(b"\n")


def _find_cut(document: Any, lines: list[bytes]) -> tuple[int, int] | None:
    """Find the last page that begins with a new line of the text; return the number of pages and lines before it.

    The text from that page on must equal the text from that line on, apart from blanks, and the lines before and after
    the cut must not be empty: an empty line could belong to either page.
    """
    page_text = ""
    line_ix, line_text = len(lines), ""
    for page_ix in range(document.page_count - 1, max(0, document.page_count - 1 - _TRIED_PAGES), -1):
        page_text = _unspaced(document[page_ix].get_text(flags=_AS_STORED)) + page_text
        while line_ix and len(line_text) < len(page_text):
            line_ix -= 1
            line_text = _unspaced(lines[line_ix].decode("utf-8")) + line_text
        if (
            line_text == page_text
            and page_text
            and line_ix
            and _is_filled(lines[line_ix - 1])
            and _is_filled(lines[line_ix])
        ):
            return page_ix, line_ix
    return None


def _unspaced(text: str) -> str:
    return "".join(text.split())


def _is_filled(line: bytes) -> bool:
    return bool(_unspaced(line.decode("utf-8")))
