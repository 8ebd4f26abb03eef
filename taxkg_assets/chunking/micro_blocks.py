"""Sections to micro-blocks: the sentences, and lines that stand alone, that semantic chunks are put together from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.sentences import find_sentence_parts


@dataclass(frozen=True, slots=True)
class MicroBlock:
    """A sentence or a line of its own: its text, and where it stands in its element and on the page."""

    element_id: str
    start: int
    end: int
    text: str
    pieces: tuple[dict[str, Any], ...]
    role: str
    is_own_line: bool
    begins_line: bool = True
    document_id: str = ""
    anchor_id: str | None = None

    @property
    def words(self) -> int:
        """Words of the text."""
        return len(self.text.split())


def find_micro_blocks(sections: Sequence[dict[str, Any]]) -> list[MicroBlock]:
    """Cut the sections of one document, in reading order, at ends of short lines and at ends of sentences."""
    usual = _usual_width(sections)
    return [block for row in sections for block in _cut(row, usual_width=usual)]


def _usual_width(sections: Sequence[dict[str, Any]]) -> float:
    """Width of a full line of the document."""
    widths = sorted(_width(piece) for row in sections for piece in row["pieces"])
    quantile: float = load_family("semantic")["micro_blocks"]["full_line_quantile"]
    return widths[int(quantile * (len(widths) - 1))] if widths else 0.0


def _cut(section: dict[str, Any], *, usual_width: float) -> Iterator[MicroBlock]:
    text: str = section["text"]
    least_full = load_family("semantic")["micro_blocks"]["short_line_share"] * usual_width
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
                # The mark of a list item stands before its first words; what follows in the element may be anything.
                role=section["role"] if left == 0 or section["role"] != "ListBlock" else "BodyText",
                begins_line=left == start,
                document_id=section["document_id"],
                anchor_id=section["anchor_id"],
                is_own_line=len(pieces) == 1 and _width(pieces[0]) < least_full and _fills(pieces[0], left, right),
            )


def _find_segments(section: dict[str, Any], *, least_full: float) -> Iterator[tuple[int, int]]:
    """Start and end of the parts of a text between the ends of its short lines."""
    text: str = section["text"]
    begun = 0
    pieces = sorted(section["pieces"], key=lambda piece: int(piece["start"]))
    for piece, following in pairwise(pieces):
        end = int(following["start"])
        if _width(piece) < least_full and not text[end : end + 1].islower():
            yield begun, end
            begun = end
    yield begun, len(text)


def _width(piece: dict[str, Any]) -> float:
    return float(piece["x1_pt"] - piece["x0_pt"])


def _fills(piece: dict[str, Any], start: int, end: int) -> bool:
    """Whether a range is all of a line, its bullet and the blank at its end aside."""
    return start - int(piece["start"]) <= 2 and int(piece["end"]) - end <= 1
