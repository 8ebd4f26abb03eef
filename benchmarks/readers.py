"""What different readers make of one PDF, in one shape: headings, paragraphs with their heading, and table cells.

taxkg's tables and pymupdf4llm's Markdown are brought into the same shape, so that one scorer judges both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymupdf

from taxkg_assets.extraction.extract import extract

_MUPDF: Any = pymupdf
_HEADING = re.compile(r"^(#{1,6})\s+(.+)$")
_RUN_IN = re.compile(r"^(?:[-*]\s+)?\*\*(.+?)\*\*\s*(.*)$", re.DOTALL)
_MARKS = re.compile(r"[*_`]|<br>")
_RULE = re.compile(r"^\|?[\s:|-]+\|?$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of one page; `is_run_in` where a paragraph follows it on the same line."""

    page: int
    text: str
    is_run_in: bool


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, the nearest heading above it, run-in headings included, and the headings above that."""

    page: int
    text: str
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableCell:
    """A value of a table with what names its row and its column."""

    page: int
    row: str
    column: str
    text: str


@dataclass(slots=True)
class Reading:
    """What a reader made of one document."""

    headings: list[Heading] = field(default_factory=list)
    paragraphs: list[Paragraph] = field(default_factory=list)
    cells: list[TableCell] = field(default_factory=list)


def read_with_taxkg(path: Path, pages: Collection[int]) -> Reading:
    """Read a PDF with the extraction of this package, which always reads all pages.

    Args:
        path: The file.
        pages: Pages with labels; not used.
    """
    frames = extract(path.read_bytes(), document_id=path.stem).frames
    anchors = {row["anchor_id"]: row for row in frames["anchors"].iter_rows(named=True)}

    def list_owners(anchor_id: str | None) -> Iterator[str]:
        while anchor_id in anchors:
            yield anchors[anchor_id]["heading"]
            anchor_id = anchors[anchor_id]["parent_anchor_id"]

    return Reading(
        headings=[Heading(row["page"], row["heading"], row["kind"] == "runin") for row in anchors.values()],
        paragraphs=[
            Paragraph(row["page"], row["text"], tuple(list_owners(row["anchor_id"])))
            for row in frames["sections"].iter_rows(named=True)
        ],
        cells=[
            TableCell(table["page"], cell["row_path"], cell["col_path"], cell["text"])
            for table in frames["tables"].iter_rows(named=True)
            for cell in table["cells"]
        ],
    )


def read_with_pymupdf4llm(path: Path, pages: Collection[int]) -> Reading:
    """Read pages of a PDF with pymupdf4llm's layout model, which takes about a second for each.

    Args:
        path: The file.
        pages: Pages with labels; each is read with the page before it, where its first heading may be.

    Raises:
        ImportError: pymupdf4llm is not installed.
    """
    wanted = sorted({page for own in pages for page in (own - 1, own) if page >= 1})
    read = zip(wanted, _read_pages(path, wanted), strict=True)
    return read_markdown({number: page["text"] for number, page in read})


def read_chunks(path: Path, *, size: int = 1_000, overlap: int = 200) -> list[tuple[int, str]]:
    """Cut a PDF's plain text into chunks of one size, as retrieval tutorials do.

    Args:
        path: The file.
        size: Characters of a chunk.
        overlap: Characters that two neighbors share.

    Returns:
        Page on which a chunk begins, and its text.
    """
    with _MUPDF.open(path) as opened:
        pages = [page.get_text() for page in opened]
    starts = [sum(len(page) for page in pages[:number]) for number in range(len(pages))]
    text = "".join(pages)
    chunks = []
    for first in range(0, max(1, len(text) - overlap), size - overlap):
        page = sum(start <= first for start in starts)
        chunks.append((page, text[first : first + size]))
    return chunks


def read_markdown_chunks(path: Path, *, size: int = 2_000) -> list[tuple[int, str]]:
    """Cut pymupdf4llm's Markdown at its headings, and long sections at `size` characters.

    Args:
        path: The file.
        size: Largest number of characters of a chunk.

    Returns:
        Page and text of each chunk.

    Raises:
        ImportError: pymupdf4llm is not installed.
    """
    chunks = []
    for number, page in enumerate(_read_pages(path, None), start=1):
        for section in re.split(r"^(?=#{1,6}\s)", page["text"], flags=re.MULTILINE):
            chunks += [(number, section[first : first + size]) for first in range(0, len(section), size)]
    return [(number, text) for number, text in chunks if text.strip()]


def read_markdown(pages: Mapping[int, str]) -> Reading:
    """Read headings, paragraphs and tables from Markdown.

    Args:
        pages: Markdown by page, in order.
    """
    found, stack = Reading(), dict[int, str]()
    for number, page in pages.items():
        for block in re.split(r"\n\s*\n|\n(?=#{1,6}\s)|(?<=\n)(?=[-*]\s)", page):
            _read_block(block.strip(), number, found, stack)
    return found


def _read_block(block: str, page: int, found: Reading, stack: dict[int, str]) -> None:
    if heading := _HEADING.match(block.partition("\n")[0]):
        level, text = len(heading[1]), _plain(heading[2])
        for deeper in [own for own in stack if own >= level]:
            del stack[deeper]
        stack[level] = text
        found.headings.append(Heading(page, text, is_run_in=False))
        block = block.partition("\n")[2].strip()
    if not block:
        return
    if block.startswith("|"):
        found.cells += _read_table(block, page)
        return
    owners = [stack[level] for level in sorted(stack, reverse=True)]
    if (run_in := _RUN_IN.match(block)) and run_in[2]:
        found.headings.append(Heading(page, _plain(run_in[1]), is_run_in=True))
        owners.insert(0, _plain(run_in[1]))
    found.paragraphs.append(Paragraph(page, _plain(block), tuple(owners)))


def _read_table(block: str, page: int) -> Iterator[TableCell]:
    rows = [[_plain(cell) for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
    rules = [place for place, line in enumerate(block.splitlines()) if _RULE.match(line.strip())]
    if not rules or not rules[0]:
        return
    head = rows[rules[0] - 1]
    for row in rows[rules[0] + 1 :]:
        for column, text in zip(head[1:], row[1:], strict=False):
            yield TableCell(page, row[0], column, text)


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text).split())


def _read_pages(path: Path, pages: Sequence[int] | None) -> list[dict[str, Any]]:
    import pymupdf4llm

    numbers = None if pages is None else [page - 1 for page in pages]
    with _MUPDF.open(path) as opened:
        read: list[dict[str, Any]] = pymupdf4llm.to_markdown(
            opened, pages=numbers, page_chunks=True, show_progress=False
        )
    return read
