"""Reading order of a face with keyed boxes: row by row, or down one column after the other.

Cells of a face touch, so no white strip separates their columns. The order in which the box numbers rise decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from taxkg_assets.extraction.forms.margin_labels import limits
from taxkg_assets.extraction.layout.columns import Column, Item, find_columns
from taxkg_assets.extraction.layout.paragraphs import thresholds
from taxkg_assets.extraction.layout.regions import FaceBox

PlacedItem = TypeVar("PlacedItem")
# Boxes of one row begin at heights nearer than this.
_SAME_HEIGHT_PT = 1.0
_BOX_NUMBER = re.compile(r"box_(\d+)([a-z]*)")


def find_face_columns(
    items: Sequence[Item], *, separators: Sequence[float], box_keys: Mapping[int, str]
) -> list[Column]:
    """Order the content of a form's face into columns that best preserve the order of its box keys.

    Args:
        items: Lines and regions of the page.
        separators: Heights of lines drawn across the page, in points.
        box_keys: Key of each region that is a box, by number of the region.

    Returns:
        Columns in reading order.
    """
    cell_ixs = {item.region_ix for item in items if item.line is None}
    best_columns: list[Column] = []
    fewest_falls = len(items) + 1
    # Room between cells lets columns be found: try it next to cells without a key, then next to all, then nowhere.
    for spaced_ixs in (cell_ixs - box_keys.keys(), cell_ixs, set()):
        columns = find_columns(
            [_with_room(item) if item.region_ix in spaced_ixs else item for item in items], separators=separators
        )
        for column in columns:
            column.items = order_boxes(column.items, box_keys=box_keys)
        fall_count = _count_falls(_find_numbered_items([item for column in columns for item in column.items], box_keys))
        if fall_count < fewest_falls:
            best_columns, fewest_falls = columns, fall_count
    return best_columns


def _with_room(item: Item) -> Item:
    return Item(item.x0, item.y0, item.x1 - limits().cell_room_pt, item.y1, None, item.region_ix)


def _find_numbered_items(items: Sequence[Item], box_keys: Mapping[int, str]) -> list[tuple[Item, tuple[int, str]]]:
    return [(item, key) for item in items if (key := _find_number(box_keys.get(item.region_ix, ""))) is not None]


def order_boxes(items: Sequence[Item], *, box_keys: Mapping[int, str]) -> list[Item]:
    """Sort the boxes in a column by ascending key, leaving other items in place.

    Args:
        items: Items of one column.
        box_keys: Key of each region that is a box, by number of the region.

    Returns:
        All items; boxes in the order of their numbers where these rise more often that way.
    """
    numbered_items = _find_numbered_items(items, box_keys)
    if len(numbered_items) < thresholds().column_boxes:
        return list(items)
    starts = _find_starts([item for item, _ in numbered_items])
    items_by_column = sorted(numbered_items, key=lambda pair: (_column_of(pair[0], starts), pair[0].y0))
    if _count_falls(items_by_column) >= _count_falls(numbered_items):
        return list(items)
    top = min(item.y0 for item, _ in numbered_items)
    bottom = max(item.y1 for item, _ in numbered_items)
    items_above = [item for item in items if _middle(item) < top]
    items_below = [item for item in items if _middle(item) > bottom]
    items_between = [item for item in items if top <= _middle(item) <= bottom]
    return [
        *items_above,
        *sorted(items_between, key=lambda item: (_column_of(item, starts), item.y0, item.x0)),
        *items_below,
    ]


def _find_number(key: str) -> tuple[int, str] | None:
    match = _BOX_NUMBER.fullmatch(key)
    return (int(match[1]), match[2]) if match is not None else None


def _count_falls(numbered_items: Sequence[tuple[Item, tuple[int, str]]]) -> int:
    return sum(before > after for (_, before), (_, after) in pairwise(numbered_items))


def _find_starts(boxes: Sequence[Item]) -> list[float]:
    """Find where the columns of boxes begin, from left to right."""
    starts: list[float] = []
    for x in sorted(item.x0 for item in boxes):
        if not starts or x - starts[-1] > thresholds().box_column_pt:
            starts.append(x)
    return starts


def _column_of(item: Item, starts: Sequence[float]) -> int:
    slack = thresholds().box_column_pt
    return max((ix for ix, start in enumerate(starts) if item.x0 >= start - slack), default=0)


def _middle(item: Item) -> float:
    return (item.y0 + item.y1) / 2


def sort_by_rows(boxes: Sequence[FaceBox]) -> list[FaceBox]:
    """Order boxes by rows, those that begin at about one height from left to right.

    Args:
        boxes: Boxes of one page.

    Returns:
        The same boxes in their new order.
    """
    rows = group_by_distance(boxes, position=lambda box: box.y0, least_gap_pt=_SAME_HEIGHT_PT)
    return [box for row in rows for box in sorted(row, key=lambda box: box.x0)]


def group_by_distance(
    items: Iterable[PlacedItem], *, position: Callable[[PlacedItem], float], least_gap_pt: float
) -> list[list[PlacedItem]]:
    """Sort items by position and start a group at each one that is too far from the first of the group before.

    Args:
        items: Items of one page.
        position: Returns the position of an item in points.
        least_gap_pt: Distance in points from which an item starts a new group.

    Returns:
        Groups in order of position.
    """
    groups: list[list[PlacedItem]] = []
    for item in sorted(items, key=position):
        if groups and position(item) - position(groups[-1][0]) < least_gap_pt:
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups
