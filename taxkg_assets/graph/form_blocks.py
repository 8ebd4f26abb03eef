"""Blocks of a form: short pieces printed closely below each other are assembled to one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.records import PieceRecord
from taxkg_assets.rules.models.revisions import load_revisions

Place = PieceRecord
"""The rectangle of a range of the passage's text."""


@dataclass(frozen=True, slots=True)
class Part:
    """A text that is verbatim in a table: a paragraph, a heading or a cell."""

    source_id: str
    text: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A printed part of a page, unit of layout blocks.

    Attributes:
        element_id: Element that contains it.
        part: Its text and lines.
    """

    element_id: str
    part: Part

    @property
    def first(self) -> Place:
        """Return the rectangle of its first line."""
        return self.part.places[0]

    @property
    def last(self) -> Place:
        """Return the rectangle of its last line."""
        return self.part.places[-1]


def find_blocks(fragments: Sequence[Fragment]) -> list[list[Fragment]]:
    """Group printed pieces of one page that are close below each other and overlap horizontally.

    Args:
        fragments: Pieces of one page, in any order.

    Returns:
        Blocks from the top of the page down, each with its pieces in the same order.

    Source:
        `limits.block_gap_pt` in rules/revisions.yaml.
    """
    gap = float(load_revisions().limits.block_gap_pt)
    blocks: list[list[Fragment]] = []
    for fragment in sorted(fragments, key=lambda f: (_middle(f.first), float(f.first["x0_pt"]), f.element_id)):
        for block in blocks:
            above = block[-1].last
            is_below = _middle(fragment.first) >= _middle(above)
            if is_below and float(fragment.first["y0_pt"] - above["y1_pt"]) <= gap and _overlap(above, fragment.first):
                block.append(fragment)
                break
        else:
            blocks.append([fragment])
    return blocks


def _middle(place: Place) -> float:
    return float(place["y0_pt"] + place["y1_pt"]) / 2


def _overlap(a: Place, b: Place) -> bool:
    """Return whether at least half of the narrower one is under or above the other."""
    shared = min(a["x1_pt"], b["x1_pt"]) - max(a["x0_pt"], b["x0_pt"])
    return bool(shared > 0.5 * min(a["x1_pt"] - a["x0_pt"], b["x1_pt"] - b["x0_pt"]))
