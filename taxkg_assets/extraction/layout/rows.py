"""Lines of a page by the height of their baselines, so that a row is found without trying all lines."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from taxkg_assets.extraction.layout.lines import Line

# A sum or difference of heights is off by less than this, in points.
_ROUNDING_PT = 1e-6


class LinesByBase:
    """Finds lines by their baselines, in the order in which they were given."""

    def __init__(self, lines: Sequence[Line]) -> None:
        """Sort the lines by their baselines.

        Args:
            lines: Lines of one page.
        """
        self._lines = lines
        bases = [line.base for line in lines]
        self._order = sorted(range(len(bases)), key=bases.__getitem__)
        self._bases = [bases[ix] for ix in self._order]

    def find_near(self, base: float, reach_pt: float) -> list[Line]:
        """Return the lines whose baseline is within `reach_pt` of a height.

        Args:
            base: Height, in points.
            reach_pt: Largest distance, in points; lines at just this distance may be left in, too.
        """
        first = bisect_left(self._bases, base - reach_pt - _ROUNDING_PT)
        last = bisect_right(self._bases, base + reach_pt + _ROUNDING_PT)
        return [self._lines[ix] for ix in sorted(self._order[first:last])]
