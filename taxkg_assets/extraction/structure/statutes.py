"""Codes and statutes: blocks of a document whose outline follows words (§ 11-503 …, Chapter 4: …), not type."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from taxkg_assets.extraction.keys import division_word, find_statute_key, is_division
from taxkg_assets.extraction.layout.lines import Line, cut_line, join_lines
from taxkg_assets.extraction.pdf.model import Source
from taxkg_assets.extraction.structure.blocks import Block
from taxkg_assets.extraction.structure.identity import Identity, is_law_name
from taxkg_assets.extraction.structure.statute_lines import (
    PlacedLine,
    are_marks_flush,
    begins_paragraph,
    find_placed_lines,
    follows_complete_sentence,
)
from taxkg_assets.rules.models.roles import load_roles
from taxkg_assets.rules.models.section_grammar import load_section_grammar

# A document is a code when this many of its lines open a section, and at least this share of its pages does.
_SECTIONS = 5
_HEADING_LINES = 8
_DIVISION_LINES = 3


def is_statute(source: Source, *, identity: Identity, pages_lines: Sequence[Sequence[Line]]) -> bool:
    """Return whether a document is a statute of numbered sections.

    Args:
        source: Pages of the document.
        identity: Form and type of the document.
        pages_lines: Lines of each page, from top to bottom.
    """
    if identity.doc_type == "statute":
        return True
    if identity.doc_type != "other" and not source.is_text_file:
        return False
    placed_lines, _ = find_placed_lines(source, pages_lines=pages_lines)
    return sum(row.opens_section for row in placed_lines) >= _SECTIONS


def find_statute_blocks(source: Source, *, pages_lines: Sequence[Sequence[Line]]) -> list[Block]:
    """Find the blocks of a statute: headings of divisions and sections, paragraphs and subdivisions.

    Args:
        source: The document.
        pages_lines: Lines of each page.

    Returns:
        Blocks in reading order.
    """
    placed_lines, furniture = find_placed_lines(source, pages_lines=pages_lines)
    reader = _Reader(source.document_id, _cut_headings(placed_lines))
    line_ix = 0
    while line_ix < len(reader.placed_lines):
        line_ix = reader.read(line_ix)
    _name_title(reader.blocks)
    for line in furniture:
        reader.add([line], "PageArtifact", is_continued=False)
    return sorted(reader.blocks, key=lambda block: (block.page, block.element_ix))


def _cut_headings(placed_lines: Sequence[PlacedLine]) -> list[PlacedLine]:
    """Cut a line that opens a section where the section's text begins on it."""
    new_lines: list[PlacedLine] = []
    for row in placed_lines:
        text_start = _find_run_on(row.line.text) if row.opens_section else None
        head, rest = cut_line(row.line, text_start) if text_start is not None else ([], [])
        if head and rest:
            new_lines.append(PlacedLine(head[0], row.is_indented, 0.0, row.is_after_gap, row.opens_section))
            new_lines.append(PlacedLine(rest[0], row.is_indented, row.trailing_space_pt, is_after_gap=True))
        else:
            new_lines.append(row)
    return new_lines


def _find_run_on(text: str) -> int | None:
    """Find where the text of a section begins on the line of its heading, after the heading's own full stop."""
    key = find_statute_key(text, is_code=True)
    start = text.find(key.key.removeprefix("sec_")) + len(key.key) if key is not None and key.key else 0
    for rule in load_section_grammar().run_on:
        match = rule.pattern.search(text, start)
        if match is not None:
            return match.end()
    return None


def _name_title(blocks: Sequence[Block]) -> None:
    """Take the one title of a code, above all its chapters, for the document's title, which heads no section."""
    if blocks and blocks[0].role == "BodyText" and is_law_name(blocks[0].text):
        blocks[0].role = "DocTitle"
    headings = [block for block in blocks if block.role == "SectionHeader" and not block.is_continued]
    titles = [block for block in headings if division_word(block.text) == "title"]
    if len(titles) == 1 and titles[0] is headings[0]:
        titles[0].role = "DocTitle"


def _ends_heading(text: str) -> bool:
    return load_section_grammar().heading_end.matches(text)


class _Reader:
    """Reads lines in order into blocks; headings and paragraphs run over page breaks."""

    def __init__(self, document_id: str, placed_lines: Sequence[PlacedLine]) -> None:
        self.document_id = document_id
        self.placed_lines = placed_lines
        self.marks_are_flush = are_marks_flush(placed_lines)
        self.blocks: list[Block] = []
        self._on_page: dict[int, int] = {}

    def read(self, line_ix: int) -> int:
        """Read the block that begins at a line, and return the index of the next line."""
        placed_lines, line = self.placed_lines, self.placed_lines[line_ix].line
        if placed_lines[line_ix].opens_section:
            stop, role = _section_end(placed_lines, line_ix), "SectionHeader"
        elif _heads_division(placed_lines, line_ix):
            stop, role = _division_end(placed_lines, line_ix), "SectionHeader"
        else:
            stop = _paragraph_end(placed_lines, line_ix, marks_are_flush=self.marks_are_flush)
            role = "ListBlock" if load_roles().lists.matches(line.text) else "BodyText"
        lines = [row.line for row in placed_lines[line_ix:stop]]
        for ix, (_, run) in enumerate(groupby(lines, key=lambda line: line.page)):
            self.add(list(run), role, is_continued=ix > 0)
        return stop

    def add(self, lines: list[Line], role: str, *, is_continued: bool) -> None:
        """Append one block of lines of one page."""
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


def _opens(row: PlacedLine) -> bool:
    return row.opens_section or (_is_at_heading_place(row) and is_division(row.line.text))


def _is_at_heading_place(row: PlacedLine) -> bool:
    """Decide whether a line is where a division's heading may: at the margin, or in the middle."""
    return row.is_centered or not row.is_indented


def _heads_division(placed_lines: Sequence[PlacedLine], line_ix: int) -> bool:
    """Decide whether a line heads a division: after a whole sentence or a gap, or right before another heading."""
    if not _is_at_heading_place(placed_lines[line_ix]) or not is_division(placed_lines[line_ix].line.text):
        return False
    if follows_complete_sentence(placed_lines, line_ix):
        return True
    return any(
        _opens(placed_lines[after])
        for after in range(line_ix + 1, min(len(placed_lines), line_ix + 1 + _DIVISION_LINES))
    )


def _section_end(placed_lines: Sequence[PlacedLine], line_ix: int) -> int:
    """Find where a section's heading ends: at its full stop, or where a gap, a list or indented text begins."""
    stop = line_ix + 1
    while stop < min(len(placed_lines), line_ix + _HEADING_LINES) and not _ends_heading(
        placed_lines[stop - 1].line.text
    ):
        row = placed_lines[stop]
        if row.is_indented or row.is_after_gap or _opens(row) or load_roles().lists.matches(row.line.text):
            break
        stop += 1
    return stop


def _division_end(placed_lines: Sequence[PlacedLine], line_ix: int) -> int:
    """Find where a division's heading ends: it continues where only its own lines part it from the next heading."""
    for stop in range(line_ix + 1, min(len(placed_lines), line_ix + _DIVISION_LINES + 1)):
        if _opens(placed_lines[stop]):
            return stop
        if not _is_at_heading_place(placed_lines[stop]) or not _same_type(
            placed_lines[line_ix].line, placed_lines[stop].line
        ):
            break
    return line_ix + 1


def _same_type(line: Line, other: Line) -> bool:
    return abs(line.size - other.size) < 0.3 and line.is_bold == other.is_bold


def _paragraph_end(placed_lines: Sequence[PlacedLine], line_ix: int, *, marks_are_flush: bool) -> int:
    """Find where a paragraph ends: before the next paragraph, list item or heading."""
    stop = line_ix + 1
    while stop < len(placed_lines) and not begins_paragraph(placed_lines, stop, marks_are_flush=marks_are_flush):
        if placed_lines[stop].opens_section or _heads_division(placed_lines, stop):
            break
        stop += 1
    return stop
