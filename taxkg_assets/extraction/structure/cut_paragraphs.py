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
# The next line of a paragraph begins at the same edge, less than this multiple of the type size below.
_SAME_EDGE_PT = 1.0
_NEXT_LINE_SIZES = 1.6
# A line of running text is longer than this multiple of the type size; names of rows and columns are shorter.
_LINE_EM = 12.0


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


def joins_tags(cut: Passage, block: Block) -> bool:
    """Decide whether a tagged block continues a sentence that the tags cut at the end of a column or of a line.

    Some makers tag the text of each column, or each piece of text that they set, as a paragraph of its own.

    Args:
        cut: Passage before the block, under the same heading.
        block: Block with a tag of its own.

    Returns:
        Whether both are one paragraph.
    """
    last = cut.last
    is_text = cut.block.role in ("BodyText", "Callout") and block.role == "BodyText" and not block.is_indented
    is_alike = abs(block.size - last.size) <= SAME_SIZE_PT and block.is_bold == last.is_bold
    if not is_text or not is_alike or not load_roles().cut_sentences.matches(cut.text[-12:]):
        return False
    starts_low = block.text[:1].islower()
    if place_of(block) == place_of(last):
        above, below = last.lines[-1], block.lines[0]
        is_below = 0 < below.base - above.base < _NEXT_LINE_SIZES * last.size
        return starts_low and is_below and abs(below.x0 - above.x0) < _SAME_EDGE_PT
    is_next = place_of(block) > place_of(last) and block.page - last.page <= MOST_PAGES_BETWEEN
    is_full = _fills_last_line(cut) and last.lines[-1].x1 - last.lines[-1].x0 > _LINE_EM * last.size
    return is_next and (starts_low or (is_full and _is_in_other_part(last, block)))


def _is_in_other_part(last: Block, block: Block) -> bool:
    """Decide whether a block is the first one below a tag of text that the block before it is not in."""
    differing_ix = next(
        (ix for ix, (old, new) in enumerate(zip(last.path, block.path, strict=False)) if old != new), len(block.path)
    )
    rest = block.path[differing_ix + 1 :]
    return bool(rest) and not any(rest)


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
