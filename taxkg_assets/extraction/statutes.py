"""Codes and statutes: blocks of a document whose outline is told by words (§ 11-503 …, Chapter 4: …), not by type."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.extraction.blocks import Block
from taxkg_assets.extraction.identity import Identity
from taxkg_assets.extraction.keys import find_statute_key, is_division
from taxkg_assets.extraction.lines import Line, join_lines, merge_lines
from taxkg_assets.extraction.pages import Source
from taxkg_assets.extraction.paragraphs import matches
from taxkg_assets.rules.loader import load_rules

# A document is a code when this many of its lines open a section, and at least this share of its pages does.
_SECTIONS = 5
_HEADING_LINES = 8
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
    reader = _Reader(source.document_id)
    for page, lines in zip(source.pages, pages_lines, strict=True):
        kept = [line for line in lines if source.is_text_file or not _is_furniture(line, page.height_pt)]
        reader.read_page(page.page, kept if source.is_text_file else merge_lines(kept))
    reader.close()
    return reader.blocks


def _is_furniture(line: Line, height: float) -> bool:
    return (line.y0 > 0.93 * height or line.y1 < 0.07 * height) and (
        len(line.text) < 12 or matches("artifacts", line.text)
    )


def _ends_heading(text: str) -> bool:
    return any(rule.pattern.search(text) for rule in load_rules("section_grammar", "heading_end"))


class _Reader:
    """Reads lines in order and closes a block where the next one opens; paragraphs run over page breaks."""

    def __init__(self, document_id: str) -> None:
        self.document_id = document_id
        self.blocks: list[Block] = []
        self._open: list[Line] = []
        self._role = "BodyText"
        self._page_counts: dict[int, int] = {}

    def read_page(self, page: int, lines: Sequence[Line]) -> None:
        margin = min((line.x0 for line in lines), default=0.0)
        for line in lines:
            indented = line.x0 > margin + _INDENT_PT
            opens = find_statute_key(line.text) is not None or (is_division(line.text) and self._may_head())
            if opens and not indented:
                self._start("SectionHeader", line)
            elif self._role == "SectionHeader" and self._open and not indented and self._goes_on():
                self._open.append(line)
            elif self._role == "SectionHeader" or indented or not self._open:
                is_item = matches("lists", line.text)
                self._start("ListBlock" if is_item else "BodyText", line)
            else:
                self._open.append(line)

    def _may_head(self) -> bool:
        """Decide whether a division may be headed here: not in the middle of a sentence."""
        return not self._open or self._role == "SectionHeader" or matches("sentence_ends", self._open[-1].text)

    def _goes_on(self) -> bool:
        """Decide whether a heading goes on in the next line."""
        text = " ".join(line.text for line in self._open)
        if is_division(text) and find_statute_key(text) is None:
            return False
        return len(self._open) < _HEADING_LINES and not _ends_heading(self._open[-1].text)

    def _start(self, role: str, line: Line) -> None:
        self.close()
        self._role = role
        self._open = [line]

    def close(self) -> None:
        """Close the open block, cut at page ends: an element stands on one page."""
        run: list[Line] = []
        for line in self._open:
            if run and run[-1].page != line.page:
                self._add(run)
                run = []
            run.append(line)
        if run:
            self._add(run)
        self._open = []

    def _add(self, lines: list[Line]) -> None:
        page = lines[0].page
        ix = self._page_counts.get(page, 0)
        self._page_counts[page] = ix + 1
        is_rest = lines[0] is not self._open[0]
        text, pieces = join_lines(lines, words=set())
        self.blocks.append(
            Block(
                page=page,
                element_ix=ix,
                element_id=f"{self.document_id}:p{page:04d}:e{ix:04d}",
                column_ix=0,
                role=self._role,
                confidence=0.95,
                lines=lines,
                text=text,
                pieces=pieces,
                size=lines[0].size,
                is_bold=all(line.is_bold for line in lines),
                is_italic=False,
                is_continued=is_rest,
            )
        )
