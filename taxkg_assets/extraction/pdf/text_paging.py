"""A long text, opened portion by portion: the same pages as of the whole text, in time linear in its length.

MuPDF walks through all lines of a text file for each page that it reads, so that a page of a long statute costs
several times the page of a short one. A page holds a fixed number of printed lines, wherever it begins: a text cut
where a page begins has the same pages. What belongs here: finding such cuts. What does not: reading a page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from taxkg_assets.extraction.pdf.library import pymupdf

# Lines of a portion: some hundred pages, where opening a portion and walking through it cost about the same.
_PORTION_LINES = 3_000
# Pages tried from a portion's end backwards: most pages of a statute begin with a new line within the first few.
_TRIED_PAGES = 20
_MUPDF: Any = pymupdf
_AS_STORED: int = _MUPDF.TEXT_PRESERVE_LIGATURES | _MUPDF.TEXT_PRESERVE_WHITESPACE


def open_text_parts(data: bytes, *, open_text: Callable[[bytes], Any]) -> Iterator[tuple[Any, int]]:
    """Open a long text file in consecutive parts.

    If the end of a part is uncertain, the part contains the rest of the file.

    Args:
        data: The text.
        open_text: Opens bytes as a document.

    Yields:
        Opened portion, and the number of its pages that count.
    """
    lines = _lines(data)
    while len(lines) > _PORTION_LINES:
        document = open_text(b"\n".join(lines[:_PORTION_LINES]))
        cut = _find_cut(document, lines[:_PORTION_LINES])
        if cut is None:
            document.close()
            break
        page_count, line_count = cut
        yield document, page_count
        lines = lines[line_count:]
    document = open_text(b"\n".join(lines))
    yield document, document.page_count


def _lines(data: bytes) -> list[bytes]:
    """Split a text in UTF-8 into lines; other text stays in one piece, as its encoding is detected as a whole."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return [data]
    return data.split(b"\n")


def _find_cut(document: Any, lines: list[bytes]) -> tuple[int, int] | None:
    """Find the last page that begins with a new line of the text: the pages and the lines before it.

    Certain only if the text from that page on is, apart from blanks, exactly the text from that line on, and where
    no empty line on either side could belong to the one page or to the other.
    """
    printed = ""
    line_ix, stored = len(lines), ""
    for page_ix in range(document.page_count - 1, max(0, document.page_count - 1 - _TRIED_PAGES), -1):
        printed = _unspaced(document[page_ix].get_text(flags=_AS_STORED)) + printed
        while line_ix and len(stored) < len(printed):
            line_ix -= 1
            stored = _unspaced(lines[line_ix].decode("utf-8")) + stored
        if stored == printed and printed and line_ix and _is_filled(lines[line_ix - 1]) and _is_filled(lines[line_ix]):
            return page_ix, line_ix
    return None


def _unspaced(text: str) -> str:
    return "".join(text.split())


def _is_filled(line: bytes) -> bool:
    return bool(_unspaced(line.decode("utf-8")))
