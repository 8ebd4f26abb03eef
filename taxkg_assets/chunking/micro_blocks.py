"""Sections to micro-blocks: sentences and short lines, from which semantic chunks are assembled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from taxkg_assets.records import PieceRecord, SectionRecord
from taxkg_assets.rules.models.semantic import load_semantic
from taxkg_assets.rules.sentences import find_sentence_parts


@dataclass(frozen=True, slots=True)
class MicroBlock:
    """A sentence or a short line, the smallest unit of semantic chunking.

    Attributes:
        element_id: Element that contains the micro-block.
        start: First character in the element's text, 0-based.
        end: Exclusive end offset.
        text: The characters from `start` to `end`.
        pieces: Rectangles of its lines: `page`, `x0_pt`, `y0_pt`, `x1_pt`, `y1_pt`, `start`, `end`.
        role: Role of the element; `BodyText` for the later sentences of a list item.
        is_own_line: Whether the micro-block is a whole short line.
        begins_line: Whether the micro-block follows the end of a short line; False if it continues a paragraph.
        document_id: Document of the element.
        anchor_id: Heading of the element; None if the element is under no heading.
    """

    element_id: str
    start: int
    end: int
    text: str
    pieces: tuple[PieceRecord, ...]
    role: str
    is_own_line: bool
    begins_line: bool = True
    document_id: str = ""
    anchor_id: str | None = None

    @property
    def words(self) -> int:
        """Return the number of words."""
        return len(self.text.split())


def find_micro_blocks(sections: Sequence[SectionRecord]) -> list[MicroBlock]:
    """Split the sections of one document at the ends of short lines and of sentences.

    Args:
        sections: Rows of `sections` of one document, in reading order.

    Returns:
        Micro-blocks in reading order, without surrounding blanks.

    Source:
        Widths of short lines in rules/semantic.yaml, `micro_blocks`.
    """
    usual_width = _find_usual_width(sections)
    return [block for row in sections for block in _split_section(row, usual_width=usual_width)]


def _find_usual_width(sections: Sequence[SectionRecord]) -> float:
    """Return the width in points of a full line of the document."""
    widths = sorted(_width(piece) for row in sections for piece in row["pieces"])
    quantile: float = load_semantic().micro_blocks.full_line_quantile
    return widths[int(quantile * (len(widths) - 1))] if widths else 0.0


def _split_section(section: SectionRecord, *, usual_width: float) -> Iterator[MicroBlock]:
    text = section["text"]
    least_full_width = load_semantic().micro_blocks.short_line_share * usual_width
    for start, end in _find_segments(section, least_full_width=least_full_width):
        for sentence_start, sentence_end in find_sentence_parts(text[start:end]):
            block_start, block_end = start + sentence_start, start + sentence_end
            pieces = tuple(p for p in section["pieces"] if p["start"] < block_end and p["end"] > block_start)
            yield MicroBlock(
                element_id=section["element_id"],
                start=block_start,
                end=block_end,
                text=text[block_start:block_end],
                pieces=pieces,
                # Only the first sentence follows the mark of the list item.
                role=section["role"] if block_start == 0 or section["role"] != "ListBlock" else "BodyText",
                begins_line=block_start == start,
                document_id=section["document_id"],
                anchor_id=section["anchor_id"],
                is_own_line=len(pieces) == 1
                and _width(pieces[0]) < least_full_width
                and _covers_line(pieces[0], block_start, block_end),
            )


def _find_segments(section: SectionRecord, *, least_full_width: float) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts of a text between the ends of its short lines."""
    text = section["text"]
    segment_start = 0
    pieces = sorted(section["pieces"], key=lambda piece: piece["start"])
    for piece, next_piece in pairwise(pieces):
        end = next_piece["start"]
        if _width(piece) < least_full_width and not text[end : end + 1].islower():
            yield segment_start, end
            segment_start = end
    yield segment_start, len(text)


def _width(piece: PieceRecord) -> float:
    return piece["x1_pt"] - piece["x0_pt"]


def _covers_line(piece: PieceRecord, start: int, end: int) -> bool:
    """Return whether a range covers a line, except for its bullet and the blank at its end."""
    return start - piece["start"] <= 2 and piece["end"] - end <= 1
