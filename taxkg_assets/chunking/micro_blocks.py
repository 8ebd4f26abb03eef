"""Sections to micro-blocks: sentences, and lines of their own, which semantic chunks are assembled from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from taxkg_assets.records import PieceRecord, SectionRecord
from taxkg_assets.rules.models.semantic import load_semantic
from taxkg_assets.rules.sentences import find_sentence_parts


@dataclass(frozen=True, slots=True)
class MicroBlock:
    """A sentence or a line of its own, the smallest unit of semantic chunking.

    Attributes:
        element_id: Element that contains it.
        start: First character in the element's text, 0-based.
        end: Exclusive end offset.
        text: The characters from `start` to `end`.
        pieces: Rectangles of its lines: `page`, `x0_pt`, `y0_pt`, `x1_pt`, `y1_pt`, `start`, `end`.
        role: Role of the element; `BodyText` for the later sentences of a list item.
        is_own_line: Whether it is all of one short line.
        begins_line: Whether it begins a segment between short lines; False where it continues a paragraph.
        document_id: Document of the element.
        anchor_id: Anchor that owns the element; None where there is none.
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
    usual = _usual_width(sections)
    return [block for row in sections for block in _cut(row, usual_width=usual)]


def _usual_width(sections: Sequence[SectionRecord]) -> float:
    """Return the width in points of a full line of the document."""
    widths = sorted(_width(piece) for row in sections for piece in row["pieces"])
    quantile: float = load_semantic().micro_blocks.full_line_quantile
    return widths[int(quantile * (len(widths) - 1))] if widths else 0.0


def _cut(section: SectionRecord, *, usual_width: float) -> Iterator[MicroBlock]:
    text = section["text"]
    least_full = load_semantic().micro_blocks.short_line_share * usual_width
    for start, end in _find_segments(section, least_full=least_full):
        for first, last in find_sentence_parts(text[start:end]):
            left, right = start + first, start + last
            pieces = tuple(p for p in section["pieces"] if p["start"] < right and p["end"] > left)
            yield MicroBlock(
                element_id=section["element_id"],
                start=left,
                end=right,
                text=text[left:right],
                pieces=pieces,
                # The mark of a list item precedes its first words; what follows in the element may be anything.
                role=section["role"] if left == 0 or section["role"] != "ListBlock" else "BodyText",
                begins_line=left == start,
                document_id=section["document_id"],
                anchor_id=section["anchor_id"],
                is_own_line=len(pieces) == 1 and _width(pieces[0]) < least_full and _fills(pieces[0], left, right),
            )


def _find_segments(section: SectionRecord, *, least_full: float) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts of a text between the ends of its short lines."""
    text = section["text"]
    begun = 0
    pieces = sorted(section["pieces"], key=lambda piece: piece["start"])
    for piece, following in pairwise(pieces):
        end = following["start"]
        if _width(piece) < least_full and not text[end : end + 1].islower():
            yield begun, end
            begun = end
    yield begun, len(text)


def _width(piece: PieceRecord) -> float:
    return piece["x1_pt"] - piece["x0_pt"]


def _fills(piece: PieceRecord, start: int, end: int) -> bool:
    """Return whether a range covers a line, except for its bullet and the blank at its end."""
    return start - piece["start"] <= 2 and piece["end"] - end <= 1
