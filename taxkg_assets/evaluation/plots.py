"""Plots as inline SVG: values with their intervals, and curves. The page defines fonts and colors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from textwrap import wrap

WIDTH = 760
LABEL_WIDTH = 250
LABEL_LETTERS = 18
"""Letters of a line of a label: it fits in the larger type of a narrow screen."""
VALUE_WIDTH = 165
ROW_HEIGHT, LINE_HEIGHT = 30, 18
TOP, BOTTOM = 12, 30


@dataclass(frozen=True, slots=True)
class Mark:
    """One row of a plot: a value, its interval if any, and a note."""

    label: str
    value: float
    low: float | None
    high: float | None
    note: str
    is_strong: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """The value range of a plot, with its ticks and the value that means no change (`zero`)."""

    lower: float
    upper: float
    ticks: tuple[float, ...]
    zero: float | None = None

    def place(self, value: float) -> float:
        """Return the horizontal position of a value; a value outside the range is put at its edge.

        Args:
            value: Value to plot.
        """
        share = (min(max(value, self.lower), self.upper) - self.lower) / (self.upper - self.lower)
        return LABEL_WIDTH + share * (WIDTH - LABEL_WIDTH - VALUE_WIDTH)


SHARES = Axis(lower=0.0, upper=1.0, ticks=(0.0, 0.25, 0.5, 0.75, 1.0))


def find_gain_axis(marks: Sequence[Mark]) -> Axis:
    """Choose an axis that is symmetric about 0 and contains every interval, in steps of a tenth.

    Args:
        marks: Gains to plot.

    Returns:
        The axis.
    """
    distances = [abs(end) for mark in marks for end in (mark.value, mark.low, mark.high) if end is not None]
    tenths = math.ceil(round(max(distances, default=0.1), 6) * 10)
    limit = max(0.1, tenths / 10)
    return Axis(lower=-limit, upper=limit, ticks=(-limit, -limit / 2, 0.0, limit / 2, limit), zero=0.0)


def render_intervals(marks: Sequence[Mark], axis: Axis, *, title: str) -> str:
    """Render values with intervals as SVG, one row per value.

    Args:
        marks: Values to plot, from top to bottom.
        axis: Range of values.
        title: Title for screen readers.

    Returns:
        SVG.
    """
    label_lines = max((len(_wrap_label(mark.label)) for mark in marks), default=1)
    row_height = ROW_HEIGHT + LINE_HEIGHT * (label_lines - 1)
    height = TOP + row_height * len(marks) + BOTTOM
    floor = height - BOTTOM
    parts = [
        f'<svg class="plot intervals" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        *(_render_tick(axis, tick, floor=floor) for tick in axis.ticks),
    ]
    if axis.zero is not None:
        x = axis.place(axis.zero)
        parts.append(f'<line class="zero" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{floor}"/>')
    parts += [_render_mark(mark, axis, y=TOP + row_height * (ix + 0.5)) for ix, mark in enumerate(marks)]
    return "\n".join([*parts, "</svg>"])


def _render_tick(axis: Axis, tick: float, *, floor: float) -> str:
    x = axis.place(tick)
    printed = f"{tick:.2f}" if axis.zero is None else f"{tick:+.2f}"
    return (
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{floor}"/>'
        f'<text class="tick" x="{x:.1f}" y="{floor + 18}" text-anchor="middle">{printed}</text>'
    )


def _render_mark(mark: Mark, axis: Axis, *, y: float) -> str:
    tone = "strong" if mark.is_strong else "plain"
    x = axis.place(mark.value)
    parts = [_render_label(mark.label, tone=tone, y=y)]
    if mark.low is not None and mark.high is not None:
        left, right = axis.place(mark.low), axis.place(mark.high)
        parts.append(f'<line class="whisker {tone}" x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts += [
            f'<line class="whisker {tone}" x1="{end:.1f}" x2="{end:.1f}" y1="{y - 4:.1f}" y2="{y + 4:.1f}"/>'
            for end in (left, right)
        ]
    parts.append(f'<circle class="dot {tone}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
    note_x = WIDTH - VALUE_WIDTH + 14
    parts.append(f'<text class="value {tone}" x="{note_x}" y="{y + 4:.1f}">{escape(mark.note)}</text>')
    return "".join(parts)


def _wrap_label(label: str) -> list[str]:
    return wrap(label, LABEL_LETTERS, break_long_words=False, break_on_hyphens=False) or [""]


def _render_label(label: str, *, tone: str, y: float) -> str:
    """Render a label in as many lines as it needs, centered on the height of its row."""
    x, lines = LABEL_WIDTH - 12, _wrap_label(label)
    first_dy = 0.32 - 0.55 * (len(lines) - 1)
    spans = "".join(
        f'<tspan x="{x}" dy="{first_dy if ix == 0 else 1.1:.2f}em">{escape(line)}</tspan>'
        for ix, line in enumerate(lines)
    )
    return f'<text class="label {tone}" x="{x}" y="{y:.1f}" text-anchor="end">{spans}</text>'


@dataclass(frozen=True, slots=True)
class Curve:
    """A labeled curve: points (x, y) in ascending order of x, each value from 0 to 1."""

    label: str
    points: tuple[tuple[float, float], ...]
    is_strong: bool = False


def render_curves(lines: Sequence[Curve], *, title: str, x_label: str, marked_x: float | None = None) -> str:
    """Render labeled curves with both axes from 0 to 1 as SVG.

    Args:
        lines: Curves.
        title: Title for screen readers.
        x_label: Label of the horizontal axis.
        marked_x: Horizontal value to mark with a dashed line; None for none.

    Returns:
        SVG.
    """
    left, right, height = 60, WIDTH - VALUE_WIDTH, 300
    floor = height - BOTTOM - 14

    def place(x: float, y: float) -> tuple[float, float]:
        return left + x * (right - left), floor - y * (floor - TOP)

    parts = [
        f'<svg class="plot" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
    ]
    for tick in SHARES.ticks:
        x, y = place(tick, tick)
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:.2f}</text>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{floor + 16}" text-anchor="middle">{tick:.2f}</text>')
    parts.append(
        f'<text class="tick" x="{(left + right) / 2}" y="{height - 6}" text-anchor="middle">{escape(x_label)}</text>'
    )
    if marked_x is not None:
        x, _ = place(marked_x, 0)
        parts.append(f'<line class="zero" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{floor}"/>')
    ends = _spread([place(*line.points[-1])[1] for line in lines])
    for line, end in zip(lines, ends, strict=True):
        tone = "strong" if line.is_strong else "plain"
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line.points))
        parts.append(f'<polyline class="whisker {tone}" fill="none" points="{path}"/>')
        last = place(*line.points[-1])[0]
        parts.append(f'<text class="value {tone}" x="{last + 8:.1f}" y="{end + 4:.1f}">{escape(line.label)}</text>')
    return "\n".join([*parts, "</svg>"])


def _spread(heights: Sequence[float], *, gap: float = 16.0) -> list[float]:
    """Return heights of labels, moved down where labels would overlap."""
    spread_heights = list(heights)
    for upper_ix, lower_ix in pairwise(sorted(range(len(spread_heights)), key=lambda ix: spread_heights[ix])):
        spread_heights[lower_ix] = max(spread_heights[lower_ix], spread_heights[upper_ix] + gap)
    return spread_heights
