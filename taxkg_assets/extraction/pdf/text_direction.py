"""Which way the text of a page runs, as its parsed lines tell it; a page is turned in sideways.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taxkg_assets.rules.models.roles import load_roles

# The way of nearly all lines, which need no more than this comparison.
_UPRIGHT = (1.0, 0.0)


def find_sideways(blocks: Sequence[dict[str, Any]], matrix: Any | None) -> int:
    """Determine whether most of a page's text runs sideways, by the length of its lines.

    Args:
        blocks: Text of the page as parsed.
        matrix: Rotation of the page; None for none.

    Returns:
        1 for upward, −1 for downward, 0 for upright.
    """
    ways = [line["dir"] for block in blocks for line in block["lines"] if line["dir"] != _UPRIGHT]
    if matrix is None and all(abs(across) >= abs(down) for across, down in ways):
        return 0
    lengths = {-1: 0.0, 0: 0.0, 1: 0.0}
    for block in blocks:
        for line in block["lines"]:
            across, down = line["dir"]
            if matrix is not None:
                across, down = across * matrix.a + down * matrix.c, across * matrix.b + down * matrix.d
            x0, y0, x1, y1 = line["bbox"]
            lengths[0 if abs(across) >= abs(down) else 1 if down < 0 else -1] += max(x1 - x0, y1 - y0)
    side = max((-1, 1), key=lambda way: lengths[way])
    least: float = load_roles().thresholds.sideways_frac
    return side if lengths[side] > least * sum(lengths.values()) else 0
