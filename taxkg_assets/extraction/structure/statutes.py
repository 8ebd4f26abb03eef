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
        identity: What the document is.
        pages_lines: Lines of each page, from top to bottom.
    """
    if identity.doc_type == "statute":
        return True
    if identity.doc_type != "other" and not source.is_text_file:
        return False
    placed, _ = find_placed_lines(source, pages_lines=pages_lines)
    return sum(row.opens_section for row in placed) >= _SECTIONS


def find_statute_blocks(source: Source, *, pages_lines: Sequence[Sequence[Line]]) -> list[Block]:
    """Find the blocks of a statute: headings of divisions and sections, paragraphs and subdivisions.

    Args:
        source: The document.
        pages_lines: Lines of each page.

    Returns:
        Blocks in reading order.
    """
    placed, furniture = find_placed_lines(source, pages_lines=pages_lines)
    reader = _Reader(source.document_id, _cut_headings(placed))
    at = 0
    while at < len(reader.placed):
        at = reader.read(at)
    _name_title(reader.blocks)
    for line in furniture:
        reader.add([line], "PageArtifact", is_continued=False)
    return sorted(reader.blocks, key=lambda block: (block.page, block.element_ix))


def _cut_headings(placed: Sequence[PlacedLine]) -> list[PlacedLine]:
    """Cut a line that opens a section where the section's text begins on it."""
    whole: list[PlacedLine] = []
    for row in placed:
        run_on = _find_run_on(row.line.text) if row.opens_section else None
        head, rest = cut_line(row.line, run_on) if run_on is not None else ([], [])
        if head and rest:
            whole.append(PlacedLine(head[0], row.is_indented, 0.0, row.is_after_gap, row.opens_section))
            whole.append(PlacedLine(rest[0], row.is_indented, row.trailing_space_pt, is_after_gap=True))
        else:
            whole.append(row)
    return whole


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

    def __init__(self, document_id: str, placed: Sequence[PlacedLine]) -> None:
        self.document_id = document_id
        self.placed = placed
        self.marks_are_flush = are_marks_flush(placed)
        self.blocks: list[Block] = []
        self._on_page: dict[int, int] = {}

    def read(self, at: int) -> int:
        """Read the block that begins at a line, and return the index of the next line."""
        placed, line = self.placed, self.placed[at].line
        if placed[at].opens_section:
            stop, role = _section_end(placed, at), "SectionHeader"
        elif _heads_division(placed, at):
            stop, role = _division_end(placed, at), "SectionHeader"
        else:
            stop = _paragraph_end(placed, at, marks_are_flush=self.marks_are_flush)
            role = "ListBlock" if load_roles().lists.matches(line.text) else "BodyText"
        lines = [row.line for row in placed[at:stop]]
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


def _heads_division(placed: Sequence[PlacedLine], at: int) -> bool:
    """Decide whether a line heads a division: after a whole sentence or a gap, or right before another heading."""
    if not _is_at_heading_place(placed[at]) or not is_division(placed[at].line.text):
        return False
    if follows_complete_sentence(placed, at):
        return True
    return any(_opens(placed[after]) for after in range(at + 1, min(len(placed), at + 1 + _DIVISION_LINES)))


def _section_end(placed: Sequence[PlacedLine], at: int) -> int:
    """Find where a section's heading ends: at its full stop, or where a gap, a list or indented text begins."""
    stop = at + 1
    while stop < min(len(placed), at + _HEADING_LINES) and not _ends_heading(placed[stop - 1].line.text):
        row = placed[stop]
        if row.is_indented or row.is_after_gap or _opens(row) or load_roles().lists.matches(row.line.text):
            break
        stop += 1
    return stop


def _division_end(placed: Sequence[PlacedLine], at: int) -> int:
    """Find where a division's heading ends: it continues where only its own lines part it from the next heading."""
    for stop in range(at + 1, min(len(placed), at + _DIVISION_LINES + 1)):
        if _opens(placed[stop]):
            return stop
        if not _is_at_heading_place(placed[stop]) or not _same_type(placed[at].line, placed[stop].line):
            break
    return at + 1


def _same_type(line: Line, other: Line) -> bool:
    return abs(line.size - other.size) < 0.3 and line.is_bold == other.is_bold


def _paragraph_end(placed: Sequence[PlacedLine], at: int, *, marks_are_flush: bool) -> int:
    """Find where a paragraph ends: before the next paragraph, list item or heading."""
    stop = at + 1
    while stop < len(placed) and not begins_paragraph(placed, stop, marks_are_flush=marks_are_flush):
        if placed[stop].opens_section or _heads_division(placed, stop):
            break
        stop += 1
    return stop
