"""Codes and statutes: blocks of a document whose outline is told by words (§ 11-503 …, Chapter 4: …), not by type."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from taxkg_assets.extraction.blocks import Block
from taxkg_assets.extraction.columns import Item, find_columns
from taxkg_assets.extraction.identity import Identity
from taxkg_assets.extraction.keys import division_word, find_statute_key, is_division
from taxkg_assets.extraction.lines import Line, join_lines, merge_lines
from taxkg_assets.extraction.pages import Source
from taxkg_assets.extraction.paragraphs import matches
from taxkg_assets.rules.loader import load_rules

# A document is a code when this many of its lines open a section, and at least this share of its pages does.
_SECTIONS = 5
_HEADING_LINES = 8
_DIVISION_LINES = 3
_INDENT_PT = 4.0


def is_statute(source: Source, *, identity: Identity, pages_lines: Sequence[Sequence[Line]]) -> bool:
    """Decide whether a document is a code of numbered sections."""
    if identity.doc_type == "statute":
        return True
    if identity.doc_type != "other" and not source.is_text_file:
        return False
    opened = sum(find_statute_key(line.text) is not None for lines in pages_lines for line in lines)
    return opened >= _SECTIONS


def find_statute_blocks(source: Source, *, pages_lines: Sequence[Sequence[Line]]) -> list[Block]:
    """Find the blocks of a code: headings of divisions and sections, paragraphs and subdivisions."""
    placed: list[tuple[Line, bool]] = []
    for page, lines in zip(source.pages, pages_lines, strict=True):
        if source.is_text_file:
            columns = [list(lines)]
        else:
            shown = [line for line in lines if not _is_furniture(line, page.height_pt)]
            items = [Item(line.x0, line.y0, line.x1, line.y1, line) for line in shown]
            columns = [merge_lines([item.line for item in run.items if item.line]) for run in find_columns(items)]
        for column in columns:
            margin = min((line.x0 for line in column), default=0.0)
            placed += [(line, line.x0 > margin + _INDENT_PT) for line in column]
    reader = _Reader(source.document_id)
    at = 0
    while at < len(placed):
        at = reader.read(placed, at)
    _name_title(reader.blocks)
    return reader.blocks


def _name_title(blocks: Sequence[Block]) -> None:
    """Take the one title of a code, above all its chapters, for the document's title, which heads no section."""
    headings = [block for block in blocks if block.role == "SectionHeader" and not block.is_continued]
    titles = [block for block in headings if division_word(block.text) == "title"]
    if len(titles) == 1 and titles[0] is headings[0]:
        titles[0].role = "DocTitle"


def _is_furniture(line: Line, height: float) -> bool:
    return (line.y0 > 0.93 * height or line.y1 < 0.07 * height) and (
        len(line.text) < 12 or matches("artifacts", line.text)
    )


def _ends_heading(text: str) -> bool:
    return any(rule.pattern.search(text) for rule in load_rules("section_grammar", "heading_end"))


class _Reader:
    """Reads lines in order into blocks; headings and paragraphs run over page breaks."""

    def __init__(self, document_id: str) -> None:
        self.document_id = document_id
        self.blocks: list[Block] = []
        self._on_page: dict[int, int] = {}

    def read(self, placed: Sequence[tuple[Line, bool]], at: int) -> int:
        """Read the block that begins at a line; gives the index of the line after it."""
        line, is_indented = placed[at]
        if not is_indented and find_statute_key(line.text) is not None:
            stop, role = _section_end(placed, at), "SectionHeader"
        elif _heads_division(placed, at):
            stop, role = _division_end(placed, at), "SectionHeader"
        else:
            stop = _paragraph_end(placed, at)
            role = "ListBlock" if matches("lists", line.text) else "BodyText"
        lines = [line for line, _ in placed[at:stop]]
        for ix, (_, run) in enumerate(groupby(lines, key=lambda line: line.page)):
            self._add(list(run), role, is_continued=ix > 0)
        return stop

    def _add(self, lines: list[Line], role: str, *, is_continued: bool) -> None:
        page = lines[0].page
        ix = self._on_page.get(page, 0)
        self._on_page[page] = ix + 1
        text, pieces = join_lines(lines, words=set())
        self.blocks.append(
            Block(
                page=page,
                element_ix=ix,
                element_id=f"{self.document_id}:p{page:04d}:e{ix:04d}",
                column_ix=0,
                role=role,
                confidence=0.95,
                lines=lines,
                text=text,
                pieces=pieces,
                size=lines[0].size,
                is_bold=all(line.is_bold for line in lines),
                is_italic=False,
                is_code=True,
                is_continued=is_continued,
            )
        )


def _opens(line: Line, is_indented: bool) -> bool:
    return not is_indented and (find_statute_key(line.text) is not None or is_division(line.text))


def _heads_division(placed: Sequence[tuple[Line, bool]], at: int) -> bool:
    """Decide whether a line heads a division: after a whole sentence, or right before another heading."""
    line, is_indented = placed[at]
    if is_indented or not is_division(line.text):
        return False
    if at == 0 or matches("sentence_ends", placed[at - 1][0].text):
        return True
    return any(_opens(*placed[after]) for after in range(at + 1, min(len(placed), at + 1 + _DIVISION_LINES)))


def _section_end(placed: Sequence[tuple[Line, bool]], at: int) -> int:
    """Find where a section's heading ends: at its full stop, or where indented text begins."""
    stop = at + 1
    while stop < min(len(placed), at + _HEADING_LINES) and not _ends_heading(placed[stop - 1][0].text):
        if placed[stop][1] or _opens(*placed[stop]):
            break
        stop += 1
    return stop


def _division_end(placed: Sequence[tuple[Line, bool]], at: int) -> int:
    """Find where a division's heading ends: it goes on where only its own lines part it from the next heading."""
    for stop in range(at + 1, min(len(placed), at + _DIVISION_LINES + 1)):
        if _opens(*placed[stop]):
            return stop
        if placed[stop][1] or not _same_type(placed[at][0], placed[stop][0]):
            break
    return at + 1


def _same_type(line: Line, other: Line) -> bool:
    return abs(line.size - other.size) < 0.3 and line.is_bold == other.is_bold


def _paragraph_end(placed: Sequence[tuple[Line, bool]], at: int) -> int:
    """Find where a paragraph ends: before the next indented line or heading."""
    stop = at + 1
    while stop < len(placed) and not placed[stop][1]:
        line = placed[stop][0]
        if find_statute_key(line.text) is not None:
            break
        if is_division(line.text) and _heads_division(placed, stop):
            break
        stop += 1
    return stop
