"""Printed pieces of a form put together as blocks."""

from __future__ import annotations

from taxkg_assets.graph.form_blocks import Fragment, find_blocks
from taxkg_assets.graph.passages import Part


def piece(text: str, x: float, y: float, width: float = 40.0) -> Fragment:
    box = {"page": 1, "x0_pt": x, "y0_pt": y, "x1_pt": x + width, "y1_pt": y + 8.0}
    return Fragment(f"{y:05.0f}{x:05.0f}", Part("e", text, ({"start": 0, "end": len(text), **box},)))


def test_pieces_stacked_closely_are_one_block() -> None:
    stacked = [piece("Copy B", 100, 10), piece("For the captain", 90, 20, 60), piece("Far below", 100, 90)]
    found = find_blocks([*stacked, piece("Elsewhere", 300, 12)])
    assert [[f.part.text for f in block] for block in found] == [
        ["Copy B", "For the captain"],
        ["Elsewhere"],
        ["Far below"],
    ]
