"""Pieces printed on a form put together as blocks: what a copy tells its reader is stacked in short pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from taxkg_assets.rules.loader import load_family

if TYPE_CHECKING:
    from taxkg_assets.graph.passages import Part


@dataclass(frozen=True, slots=True)
class Fragment:
    """One printed piece."""

    element_id: str
    part: Part

    @property
    def first(self) -> Mapping[str, Any]:
        """Rectangle of its first line."""
        return self.part.places[0]

    @property
    def last(self) -> Mapping[str, Any]:
        """Rectangle of its last line."""
        return self.part.places[-1]


def find_blocks(fragments: Sequence[Fragment]) -> list[list[Fragment]]:
    """Put together pieces of one page that stand closely one below the other and overlap sideways."""
    gap = float(load_family("revisions")["limits"]["block_gap_pt"])
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


def _middle(place: Mapping[str, Any]) -> float:
    return float(place["y0_pt"] + place["y1_pt"]) / 2


def _overlap(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Whether at least half of the narrower one lies under or above the other."""
    shared = min(a["x1_pt"], b["x1_pt"]) - max(a["x0_pt"], b["x0_pt"])
    return bool(shared > 0.5 * min(a["x1_pt"] - a["x0_pt"], b["x1_pt"] - b["x0_pt"]))
