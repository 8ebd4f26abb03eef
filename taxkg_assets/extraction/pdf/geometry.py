"""Rectangles of a page, many at a time: their areas, the areas that they share, and which contain which.

A page may have tens of thousands of rectangles: their pairs are compared in batches.
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
        Row in `boxes` and row in `others` of each pair, and the area shared, in square points; each of shape
        (pairs,).
    """
    x0, y0, x1, y1 = others.T
    left, top, right, bottom = boxes.T[:, :, None]
    box_rows, other_rows = np.nonzero(may_meet & (x0 < right) & (left < x1) & (y0 < bottom) & (top < y1))
    pair_boxes, pair_others = boxes[box_rows], others[other_rows]
    sides = np.minimum(pair_boxes[:, 2:], pair_others[:, 2:]) - np.maximum(pair_boxes[:, :2], pair_others[:, :2])
    areas: Floats = sides.prod(axis=1)
    return box_rows, other_rows, areas


def have_centers_inside(boxes: Floats, outer: Sequence[Corners]) -> npt.NDArray[np.bool_]:
    """Return, for each rectangle of `boxes`, whether its center is in any rectangle of `outer`.

    Args:
        boxes: Rectangles, n × 4: x0, y0, x1, y1 in points.
        outer: Rectangles that may contain them, in points.
    """
    is_inside = np.zeros(len(boxes), dtype=bool)
    if not outer:
        return is_inside
    x0, y0, x1, y1 = boxes.T
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    for outer_batch in split_rows(np.array(outer, dtype=float), len(boxes)):
        left, top, right, bottom = outer_batch.T[:, :, None]
        is_inside |= ((left <= x) & (x <= right) & (top <= y) & (y <= bottom)).any(axis=0)
    return is_inside


def split_rows(rows: npt.NDArray[Any], count: int) -> Iterator[npt.NDArray[Any]]:
    """Split rows into batches whose comparisons stay within `CELLS` pairs.

    Args:
        rows: Rows to split.
        count: Number of rows that each row is compared with.

    Yields:
        Batches, in the order of the rows.
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
    """Compute the area shared by each rectangle of `others` (rows) with each rectangle of `boxes` (columns).

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
    """Compute the length that ranges share with other ranges; 0 without overlap.

    Args:
        start: Start of each range, in points.
        end: End of each range.
        other_start: Start of each other range, in a shape that broadcasts with that of `start`.
        other_end: End of each other range.

    Returns:
        Shared length of each pair, in points.
    """
    # In place, because a page with many rectangles has very many pairs.
    lengths: Floats = np.minimum(end, other_end)
    lengths -= np.maximum(start, other_start)
    return np.maximum(lengths, 0.0, out=lengths)


def holds(outer: Sequence[float], inner: Sequence[float]) -> bool:
    """Return whether the center of a rectangle is in another rectangle.

    Args:
        outer: Rectangle x0, y0, x1, y1 that may contain the other, in points.
        inner: Rectangle whose center is tested, in points.
    """
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]
