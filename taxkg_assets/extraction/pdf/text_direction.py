"""Direction in which the text of a page runs, by its parsed lines; rotation.py rotates the pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taxkg_assets.rules.models.roles import load_roles

UPSIDE_DOWN = 2
"""Direction of text that runs from right to left, on its head."""


def find_sideways(blocks: Sequence[dict[str, Any]], matrix: Any | None) -> int:
    """Determine whether most of a page's text runs sideways or upside down, by the length of its lines.

    Args:
        blocks: Text of the page as parsed.
        matrix: Rotation of the page; None for none.

    Returns:
        1 for upward, −1 for downward, `UPSIDE_DOWN`, 0 for upright.
    """
    # A page has lines in one or two directions.
    directions = {line["dir"] for block in blocks for line in block["lines"]}
    if matrix is None and all(_find_way(*direction) == 0 for direction in directions):
        return 0
    lines = [line for block in blocks for line in block["lines"]]
    lengths = dict.fromkeys((-1, 0, 1, UPSIDE_DOWN), 0.0)
    for line in lines:
        dx, dy = line["dir"]
        if matrix is not None:
            dx, dy = dx * matrix.a + dy * matrix.c, dx * matrix.b + dy * matrix.d
        x0, y0, x1, y1 = line["bbox"]
        lengths[_find_way(dx, dy)] += max(x1 - x0, y1 - y0)
    longest_side = max((-1, 1, UPSIDE_DOWN), key=lambda way: lengths[way])
    least_frac: float = load_roles().thresholds.sideways_frac
    return longest_side if lengths[longest_side] > least_frac * sum(lengths.values()) else 0


def _find_way(dx: float, dy: float) -> int:
    """Return 1 for a direction upward, −1 for downward, `UPSIDE_DOWN` or 0 for along the page; y grows downward."""
    if abs(dx) >= abs(dy):
        return 0 if dx >= 0 else UPSIDE_DOWN
    return 1 if dy < 0 else -1
