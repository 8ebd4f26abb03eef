"""Drawn segments to whole lines: producers cut one printed line into many strokes.

Shared by faces and tables; knows nothing of text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from taxkg_assets.extraction.pdf.model import Rule
from taxkg_assets.rules.models.tables import load_tables

_AT = attrgetter("at")
# Pages whose lines are kept.
_KEPT_PAGES = 64


@dataclass(frozen=True, slots=True)
class RuledLine:
    """One straight line, drawn from left to right or from top to bottom.

    Attributes:
        at: Height of a horizontal line, or horizontal place of a vertical one, in points.
        start: Left end of a horizontal line, or upper end of a vertical one.
        end: Right or lower end.
    """

    at: float
    start: float
    end: float

    @property
    def length(self) -> float:
        """Return the length of the line, in points."""
        return self.end - self.start

    def covers(self, value: float, slack: float = 1.0) -> bool:
        """Return whether the line extends over a coordinate.

        Args:
            value: Coordinate along the line, in points.
            slack: Points by which the line may end before the coordinate.
        """
        return self.start - slack <= value <= self.end + slack


@dataclass(frozen=True, slots=True)
class Ruling:
    """The drawn lines of a page or of a part of it.

    Attributes:
        horizontals: Horizontal lines, from top to bottom.
        verticals: Vertical lines, from left to right.
    """

    horizontals: tuple[RuledLine, ...]
    verticals: tuple[RuledLine, ...]

    def above(self, x: float, y: float) -> RuledLine | None:
        """Find the nearest horizontal line at or above y that crosses x.

        Args:
            x: Horizontal position in points.
            y: Vertical position in points.

        Returns:
            The line; None where there is none.
        """
        return _find_before(self.horizontals, y, x)

    def below(self, x: float, y: float) -> RuledLine | None:
        """Find the nearest horizontal line at or below y that crosses x.

        Args:
            x: Horizontal position in points.
            y: Vertical position in points.

        Returns:
            The line; None where there is none.
        """
        return _find_after(self.horizontals, y, x)

    def left(self, x: float, y: float) -> RuledLine | None:
        """Find the nearest vertical line at or left of x that crosses y.

        Args:
            x: Horizontal position in points.
            y: Vertical position in points.

        Returns:
            The line; None where there is none.
        """
        return _find_before(self.verticals, x, y)

    def right(self, x: float, y: float) -> RuledLine | None:
        """Find the nearest vertical line at or right of x that crosses y.

        Args:
            x: Horizontal position in points.
            y: Vertical position in points.

        Returns:
            The line; None where there is none.
        """
        return _find_after(self.verticals, x, y)

    def between(self, top: float, bottom: float) -> tuple[RuledLine, ...]:
        """Find the horizontal lines between two heights, both included.

        Args:
            top: Upper height, in points from the top of the page.
            bottom: Lower height.

        Returns:
            The lines, from top to bottom.
        """
        lines = self.horizontals
        return lines[_left(lines, top) : _right(lines, bottom)]


def merge_rules(rules: Iterable[Rule]) -> Ruling:
    """Merge strokes into whole lines, and drop the frames of check boxes.

    Args:
        rules: Drawn strokes of a page.

    Returns:
        Horizontal and vertical lines.
    """
    strokes = tuple(rules)
    known_ruling = _rulings.get(id(strokes))
    if known_ruling is not None and known_ruling[0] is strokes:
        return known_ruling[1]
    ruling = _merge_all(strokes)
    if len(_rulings) >= _KEPT_PAGES:
        _rulings.clear()
    _rulings[id(strokes)] = strokes, ruling
    return ruling


# Faces, tables and elements need the lines of a page one after the other. By identity: a page has hundreds of strokes,
# and comparing all of them takes as long as merging them.
_rulings: dict[int, tuple[tuple[Rule, ...], Ruling]] = {}


def _merge_all(rules: tuple[Rule, ...]) -> Ruling:
    horizontals, verticals = [], []
    for rule in rules:
        if rule.is_horizontal:
            horizontals.append((rule.y0, rule.x0, rule.x1))
        else:
            verticals.append((rule.x0, rule.y0, rule.y1))
    return _without_check_boxes(Ruling(_merge(horizontals), _merge(verticals)))


def _merge(strokes: list[tuple[float, float, float]]) -> tuple[RuledLine, ...]:
    """Group strokes of one height (or one horizontal place), then join those of a group that touch or overlap."""
    settings = load_tables().ruling
    same_line_pt, gap_pt = settings.stroke_gap_pt, settings.gap_pt
    strokes.sort()
    merged_lines: list[RuledLine] = []
    first_ix = 0
    while first_ix < len(strokes):
        last_ix = first_ix
        while last_ix + 1 < len(strokes) and strokes[last_ix + 1][0] - strokes[first_ix][0] <= same_line_pt:
            last_ix += 1
        group = sorted(strokes[first_ix : last_ix + 1], key=lambda stroke: stroke[1])
        start, end, ats = group[0][1], group[0][2], [group[0][0]]
        for at, low, high in group[1:]:
            if low <= end + gap_pt:
                end = max(end, high)
                ats.append(at)
            else:
                merged_lines.append(RuledLine(sum(ats) / len(ats), start, end))
                start, end, ats = low, high, [at]
        merged_lines.append(RuledLine(sum(ats) / len(ats), start, end))
        first_ix = last_ix + 1
    return tuple(sorted(merged_lines, key=lambda line: (line.at, line.start)))


def _without_check_boxes(ruling: Ruling) -> Ruling:
    """Drop small squares: their sides would pass for cell borders."""
    side_pt = load_tables().ruling.check_box_pt
    tops = [line for line in ruling.horizontals if line.length <= side_pt]
    sides = [line for line in ruling.verticals if line.length <= side_pt]
    if not tops or not sides:
        return ruling
    # Few sides stand at the ends of a top; they are sorted by where they stand.
    side_places = [line.at for line in sides]
    dropped_lines: set[RuledLine] = set()
    for top in tops:
        near_sides = sides[bisect_left(side_places, top.start - 2.0) : bisect_right(side_places, top.end + 2.0)]
        end_sides = [
            line
            for line in near_sides
            if line.covers(top.at) and min(abs(line.at - top.start), abs(line.at - top.end)) <= 1.0
        ]
        if len(end_sides) >= 2:
            dropped_lines.add(top)
            dropped_lines.update(end_sides)
    if not dropped_lines:
        return ruling
    return Ruling(
        tuple(line for line in ruling.horizontals if line not in dropped_lines),
        tuple(line for line in ruling.verticals if line not in dropped_lines),
    )


def _find_before(lines: tuple[RuledLine, ...], at: float, along: float) -> RuledLine | None:
    """Return the last line at or before a coordinate that passes the other one."""
    for ix in range(_right(lines, at) - 1, -1, -1):
        if lines[ix].covers(along):
            return lines[ix]
    return None


def _find_after(lines: tuple[RuledLine, ...], at: float, along: float) -> RuledLine | None:
    """Return the first line at or after a coordinate that passes the other one."""
    for ix in range(_left(lines, at), len(lines)):
        if lines[ix].covers(along):
            return lines[ix]
    return None


def _left(lines: tuple[RuledLine, ...], value: float) -> int:
    return bisect_left(lines, value, key=_AT)


def _right(lines: tuple[RuledLine, ...], value: float) -> int:
    return bisect_right(lines, value, key=_AT)
