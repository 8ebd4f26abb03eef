"""Paragraphs that a table at the foot or the head of a page cuts in two, and the headings that are open around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from taxkg_assets.extraction.layout.lines import Piece
from taxkg_assets.extraction.structure.blocks import Block
from taxkg_assets.rules.models.roles import load_roles

# Type sizes of one paragraph differ by rounding alone.
SAME_SIZE_PT = 0.6
# A table may fill the page between two halves of a paragraph.
MOST_PAGES_BETWEEN = 2
# A line that a word did not fit on ends short of the others by less than this multiple of the type size.
_WORD_EM = 3.0


class Passage(Protocol):
    """Text of one paragraph: all of it, or one block."""

    @property
    def block(self) -> Block:
        """Return the first block."""

    @property
    def last(self) -> Block:
        """Return the last block."""

    @property
    def text(self) -> str:
        """Return the words."""

    @property
    def pieces(self) -> Sequence[Piece]:
        """Return the printed lines."""


@dataclass(frozen=True, slots=True)
class OneBlock:
    """A block as a passage."""

    block: Block

    @property
    def last(self) -> Block:
        """Return the block."""
        return self.block

    @property
    def text(self) -> str:
        """Return the words."""
        return self.block.text

    @property
    def pieces(self) -> Sequence[Piece]:
        """Return the printed lines."""
        return self.block.pieces


def place_of(block: Block) -> tuple[int, int]:
    """Return page and column of a block.

    Args:
        block: Block of a page.
    """
    return block.page, block.column_ix


def is_cut(passage: Passage) -> bool:
    """Return whether a passage of the running text stops in the middle of a sentence.

    Args:
        passage: A paragraph, or a block of one.
    """
    return _is_running(passage.block) and load_roles().cut_sentences.matches(passage.text[-12:])


def opens_section(heading: Block, *, is_before_table: bool) -> bool:
    """Decide whether the text under a heading is that of a section, and not of a table with a title of its own.

    Any heading before a table may be the title of what floats with the table.

    Args:
        heading: Block of the heading.
        is_before_table: Whether no table was between the heading and its text.

    Returns:
        Whether a paragraph that is cut before the heading cannot continue after the text.
    """
    return not heading.heads_table and not is_before_table


def ends_cut(cut: Passage, passage: Passage, *, is_before_table: bool, has_same_owner: bool, is_parted: bool) -> bool:
    """Decide whether a passage shows that a cut paragraph ended before it.

    Items of a list end without a period, so an item continues past other text only if it fills its last line.

    Args:
        cut: Passage that stops in the middle of a sentence.
        passage: Passage after it that does not continue it.
        is_before_table: Whether no table was between both.
        has_same_owner: Whether both are under the same heading.
        is_parted: Whether the passage is under a heading that is not above the cut paragraph and opens a section.

    Returns:
        Whether the cut paragraph ended.
    """
    if cut.block.role == "ListBlock" and not _fills_last_line(cut):
        return True
    return _is_running(passage.block) and (is_parted or (is_before_table and has_same_owner))


def resumes(cut: Passage, block: Block, *, before: Block) -> bool:
    """Decide whether a block at the top of a column continues with a sentence that a table has cut.

    Args:
        cut: Passage that stops in the middle of a sentence.
        block: First block of a passage after a table.
        before: Block before that one.

    Returns:
        Whether the block is the second half of the sentence.
    """
    last = cut.last
    place = place_of(block)
    is_running = block.role == "BodyText" and not block.is_face and block.text[:1].islower()
    is_alike = abs(block.size - last.size) <= SAME_SIZE_PT and block.is_bold == last.is_bold
    is_next = place > place_of(last) and block.page - last.page <= MOST_PAGES_BETWEEN
    return is_running and is_alike and is_next and place != place_of(before)


def _is_running(block: Block) -> bool:
    return block.role in ("BodyText", "ListBlock") and not (block.is_face or block.is_bold)


def _fills_last_line(passage: Passage) -> bool:
    """Decide whether the last of several lines is as long as the others, up to a word."""
    rights = [piece.x1 for piece in passage.pieces]
    return len(rights) > 1 and rights[-1] >= max(rights) - _WORD_EM * passage.block.size


class OpenHeadings:
    """Finds out which headings are open again where a paragraph continues after a table with a heading of its own."""

    def __init__(self) -> None:
        self._cut: OneBlock | None = None
        self._headings: Sequence[int] = ()
        self._has_table = False
        self._previous: Block | None = None

    def read(self, block: Block, headings: Sequence[int], *, innermost: Block | None) -> Sequence[int] | None:
        """Read the next block of text or of a table.

        Args:
            block: The block.
            headings: Numbers of the headings that are open, from the outermost to the innermost.
            innermost: Block of the innermost one; None for none.

        Returns:
            Numbers of the headings that were open around the first half of the paragraph that the block continues;
            None for a block that continues none.
        """
        previous, self._previous = self._previous, block
        if block.table_id is not None:
            self._has_table = True
            return None
        cut = self._cut
        if cut is not None and previous is not None and self._has_table and resumes(cut, block, before=previous):
            self._has_table = False
            self._cut = OneBlock(block) if is_cut(OneBlock(block)) else None
            return self._headings
        passage = OneBlock(block)
        if is_cut(passage):
            self._cut, self._headings, self._has_table = passage, tuple(headings), False
        elif cut is not None and ends_cut(
            cut,
            passage,
            is_before_table=not self._has_table,
            has_same_owner=tuple(headings[-1:]) == tuple(self._headings[-1:]),
            is_parted=innermost is not None
            and headings[-1] not in self._headings
            and opens_section(innermost, is_before_table=not self._has_table),
        ):
            self._cut = None
        return None
