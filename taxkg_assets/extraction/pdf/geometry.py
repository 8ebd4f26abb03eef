"""Rectangles of a page, many at a time: their areas, what they share, and which hold which.

A page may have tens of thousands of them, so that pairs are compared in parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Corners = tuple[float, float, float, float]
"""A rectangle: x0, y0, x1, y1 in points. A plain tuple: a page has tens of thousands, and MuPDF and numpy take them."""
Floats = npt.NDArray[np.float64]
# Number of pairs that are compared at once.
CELLS = 200_000


def find_area(box: Sequence[float]) -> float:
    """Compute the area of a rectangle; 0 if its corners are reversed.

    Args:
        box: Rectangle x0, y0, x1, y1, in points.

    Returns:
        Square points.
    """
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def find_intersections(boxes: Floats, others: Floats, may_meet: npt.NDArray[np.bool_]) -> tuple[Any, Any, Floats]:
    """Find the pairs of overlapping rectangles and their shared areas.

    Args:
        boxes: Rectangles, n × 4: x0, y0, x1, y1 in points.
        others: Rectangles, m × 4.
        may_meet: Pairs to compare, n × m.

    Returns:
        Row in `boxes`, row in `others`, and shared area in square points, each of shape (pairs,).
    """
    x0, y0, x1, y1 = others.T
    left, top, right, bottom = boxes.T[:, :, None]
    ours, theirs = np.nonzero(may_meet & (x0 < right) & (left < x1) & (y0 < bottom) & (top < y1))
    one, other = boxes[ours], others[theirs]
    sides = np.minimum(one[:, 2:], other[:, 2:]) - np.maximum(one[:, :2], other[:, :2])
    areas: Floats = sides.prod(axis=1)
    return ours, theirs, areas


def have_centers_inside(boxes: Floats, outer: Sequence[Corners]) -> npt.NDArray[np.bool_]:
    """Return, for each rectangle of `boxes`, whether its center is in any rectangle of `outer`.

    Args:
        boxes: Rectangles, n × 4: x0, y0, x1, y1 in points.
        outer: Rectangles, in points.
    """
    is_inside = np.zeros(len(boxes), dtype=bool)
    if not outer:
        return is_inside
    x0, y0, x1, y1 = boxes.T
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    for some in split_rows(np.array(outer, dtype=float), len(boxes)):
        left, top, right, bottom = some.T[:, :, None]
        is_inside |= ((left <= x) & (x <= right) & (top <= y) & (y <= bottom)).any(axis=0)
    return is_inside


def split_rows(rows: npt.NDArray[Any], count: int) -> Iterator[npt.NDArray[Any]]:
    """Split rows into batches whose comparisons stay within `CELLS` pairs.

    Args:
        rows: Rows to split.
        count: Number of rows that each is compared with.

    Yields:
        Parts in order.
    """
    step = max(1, CELLS // max(1, count))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


def find_areas(boxes: Floats) -> Floats:
    """Compute the area of each rectangle.

    Args:
        boxes: Rectangles, n × 4: x0, y0, x1, y1 in points.

    Returns:
        Square points, n.
    """
    x0, y0, x1, y1 = boxes.T
    areas: Floats = np.maximum(0.0, x1 - x0) * np.maximum(0.0, y1 - y0)
    return areas


def find_shared_areas(boxes: Floats, others: Floats) -> Floats:
    """Compute the area shared by each of the others (rows) with each rectangle (columns).

    Args:
        boxes: Rectangles, n × 4: x0, y0, x1, y1 in points.
        others: Rectangles, m × 4, in points.

    Returns:
        Square points, n × m.
    """
    x0, y0, x1, y1 = boxes.T
    left, top, right, bottom = others.T[:, :, None]
    areas = find_overlaps(x0, x1, left, right)
    areas *= find_overlaps(y0, y1, top, bottom)
    return areas


def find_overlaps(start: Floats, end: Floats, other_start: Floats | float, other_end: Floats | float) -> Floats:
    """Compute the length that ranges share with others; 0 without overlap.

    Args:
        start: Where the ranges start, in points.
        end: Where they end.
        other_start: Where the others start, in a shape that broadcasts with that of the ranges.
        other_end: Where they end.

    Returns:
        Points, of the shape of all pairs.
    """
    # In place: of a page with many rectangles the pairs are many.
    lengths: Floats = np.minimum(end, other_end)
    lengths -= np.maximum(start, other_start)
    return np.maximum(lengths, 0.0, out=lengths)


def holds(outer: Sequence[float], inner: Sequence[float]) -> bool:
    """Return whether the center of a rectangle is in another.

    Args:
        outer: Rectangle x0, y0, x1, y1, in points.
        inner: Rectangle, in points.
    """
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]
