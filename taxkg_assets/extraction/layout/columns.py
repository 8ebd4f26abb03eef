"""Reading order of a page: which column a line is in, and which column is read first.

A recursive cut: a white gutter from top to bottom splits left from right; where full-width lines interrupt a gutter,
the page is split into bands, read from top to bottom. Table regions take part as single boxes.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from taxkg_assets.extraction.layout.lines import Line

# Narrowest white strip that can separate two columns of text; three-column publications print 10 points.
_GUTTER_PT = 6.0
# A column of running text is at least this wide: narrower strips are bullets, numbers or amounts.
_COLUMN_PT = 62.0
# Lines on each side of a gutter that make it believable.
_SIDE_LINES = 3
_EDGE_TOLERANCE_PT = 2.0
_LEFT, _PLACE = attrgetter("x0"), attrgetter("y0", "x0")


@dataclass(slots=True)
class Item:
    """A line or a table region, to be put in reading order as one rectangle.

    Attributes:
        x0: Left edge, in points.
        y0: Upper edge.
        x1: Right edge.
        y1: Lower edge.
        line: The line; None for a region.
        region_ix: Number of the region; −1 for a line.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    line: Line | None = None
    region_ix: int = -1


@dataclass(slots=True)
class Column:
    """Items that are read from top to bottom.

    Attributes:
        items: Lines and regions, from top to bottom.
        x0: Left edge, in points.
        x1: Right edge.
        column_ix: Number of the column from the left, from 0; −1 if the items span several columns.
    """

    items: list[Item]
    x0: float
    x1: float
    column_ix: int = 0


def find_columns(items: Sequence[Item], *, separators: Sequence[float] = ()) -> list[Column]:
    """Sort items into columns in reading order; columns end at separators.

    Args:
        items: Lines or other items with rectangles.
        separators: Heights of drawn lines that end columns, in points.

    Returns:
        Columns in reading order.
    """
    if not items:
        return []
    runs = [run for band in _split_at_separators(items, separators) for run in _cut(band, depth=0)]
    columns = [Column(run, min(item.x0 for item in run), max(item.x1 for item in run)) for run in runs if run]
    _number_columns(columns)
    return columns


def _split_at_separators(items: Sequence[Item], separators: Sequence[float]) -> list[list[Item]]:
    """Split items at the separators, from top to bottom."""
    bounds = sorted(separators)
    bands: dict[int, list[Item]] = {}
    for item in items:
        bands.setdefault(bisect(bounds, (item.y0 + item.y1) / 2), []).append(item)
    return [bands[ix] for ix in sorted(bands)]


def _cut(items: list[Item], *, depth: int) -> list[list[Item]]:
    if len(items) < 2 or depth > 12:
        return [_by_row(items)]
    gutter = _open_gutter(items)
    if gutter is None:
        gutter = _best_gutter(items)
        if gutter is None:
            return [_by_row(items)]
        bands = _bands(items, gutter)
        if len(bands) > 1:
            return [run for band in bands for run in _cut(band, depth=depth + 1)]
    left_items = [item for item in items if item.x1 <= gutter + _EDGE_TOLERANCE_PT]
    right_items = [item for item in items if item.x1 > gutter + _EDGE_TOLERANCE_PT]
    return _cut(left_items, depth=depth + 1) + _cut(right_items, depth=depth + 1)


def _by_row(items: list[Item]) -> list[Item]:
    return sorted(items, key=_PLACE)


def _open_gutter(items: list[Item]) -> float | None:
    """Find the leftmost white strip between two columns that nothing crosses."""
    items_by_left = sorted(items, key=_LEFT)
    right_edge = items_by_left[0].x1
    for ix, item in enumerate(items_by_left):
        if item.x0 - right_edge >= _GUTTER_PT and _is_column(items_by_left[:ix]) and _is_column(items_by_left[ix:]):
            return (item.x0 + right_edge) / 2
        if item.x1 > right_edge:
            right_edge = item.x1
    return None


def _is_column(items: list[Item]) -> bool:
    """Decide whether items on one side of a strip are text of a column's width, not labels next to it."""
    if max(item.x1 for item in items) - min(item.x0 for item in items) < _COLUMN_PT:
        return False
    widths = sorted(item.x1 - item.x0 for item in items)
    return widths[len(widths) * 3 // 4] >= 0.6 * _COLUMN_PT


def _bands(items: list[Item], gutter: float) -> list[list[Item]]:
    """Split items into bands: runs with two sides around the gutter, and what is across it."""
    bands: list[list[Item]] = []
    crossing_before: bool | None = None
    crossing_y1 = -1.0
    for item in sorted(items, key=_PLACE):
        crosses = _crosses(item, gutter)
        # A line that starts next to the crossing one (same row) belongs to its band.
        is_adjacent = (
            bool(crossing_before) and not crosses and item.line is not None and item.y0 < crossing_y1 - item.line.size
        )
        if crosses == crossing_before or is_adjacent or (crossing_before and _ends_title(item, bands[-1][-1])):
            bands[-1].append(item)
        else:
            bands.append([item])
            crossing_before = crosses
        if crosses:
            crossing_y1 = max(crossing_y1, item.y1) if crossing_before else item.y1
    return bands


def _ends_title(item: Item, above: Item) -> bool:
    """Decide whether a line is the short last line of a wide heading above it."""
    if item.line is None or above.line is None or not (item.line.is_bold and above.line.is_bold):
        return False
    is_same_type = abs(item.line.size - above.line.size) < 0.1 and abs(item.x0 - above.x0) < _EDGE_TOLERANCE_PT
    return is_same_type and item.y0 < above.y1 + 0.2 * item.line.size


def _crosses(item: Item, gutter: float) -> bool:
    return item.x0 < gutter - _EDGE_TOLERANCE_PT and item.x1 > gutter + _EDGE_TOLERANCE_PT


def _best_gutter(items: list[Item]) -> float | None:
    """Find the left edge of a column that most lines respect, where some lines lie across it."""
    edges = Counter(round(item.x0 / 2) for item in items)
    left_edges, right_edges = sorted(item.x0 for item in items), sorted(item.x1 for item in items)
    best_x, best_score = None, 2 * _SIDE_LINES - 1
    for edge, count in edges.items():
        if count < _SIDE_LINES:
            continue
        x = edge * 2 - 3.0
        right_count = len(items) - bisect_left(left_edges, x)
        left_count = bisect(right_edges, x + _EDGE_TOLERANCE_PT)
        score = min(left_count, right_count) * 2 - (len(items) - left_count - right_count)
        is_better = score > best_score or (score == best_score and best_x is not None and x < best_x)
        if left_count < _SIDE_LINES or right_count < _SIDE_LINES or not is_better:
            continue
        if not _is_column([item for item in items if item.x1 <= x + _EDGE_TOLERANCE_PT]):
            continue
        if _is_column([item for item in items if item.x0 >= x]):
            best_x, best_score = x, score
    return best_x


def _number_columns(columns: list[Column]) -> None:
    """Number columns from the left by their place; what is over several of them gets −1."""
    wide_columns = [column for column in columns if len(column.items) >= _SIDE_LINES] or columns
    starts: list[float] = []
    for column in sorted(wide_columns, key=lambda column: column.x0):
        inner_columns = [
            other for other in wide_columns if other is not column and other.x0 >= column.x0 and other.x1 <= column.x1
        ]
        narrower_columns = [other for other in inner_columns if other.x1 - other.x0 < 0.7 * (column.x1 - column.x0)]
        if narrower_columns and any(abs(other.x0 - column.x0) > _COLUMN_PT for other in narrower_columns):
            continue
        if not starts or column.x0 - starts[-1] > _COLUMN_PT:
            starts.append(column.x0)
    # The last words of a page may be all that its last column holds.
    edge = max(column.x1 for column in wide_columns)
    starts += sorted({column.x0 for column in columns if column.x0 > edge})[:1]
    for column in columns:
        touched_ixs = [
            ix
            for ix, start in enumerate(starts)
            if start + _COLUMN_PT / 2 > column.x0 - 4 and start < column.x1 - _COLUMN_PT / 2
        ]
        start_count = sum(start <= column.x0 + _COLUMN_PT / 2 for start in starts)
        column.column_ix = -1 if len(touched_ixs) > 1 else max(0, start_count - 1)
