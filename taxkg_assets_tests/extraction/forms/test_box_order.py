"""Boxes of a face are read the way their keys count: row by row, or down each column."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.forms.box_order import order_boxes
from taxkg_assets.extraction.layout.columns import Item

_DOWN = {(0, row): f"box_{row + 1}" for row in range(4)} | {(1, row): f"box_{row + 5}" for row in range(4)}
_ACROSS = {(column, row): f"box_{2 * row + column + 1}" for column in range(2) for row in range(4)}


def _items(places: dict[tuple[int, int], str]) -> tuple[list[Item], dict[int, str]]:
    """Place cells of two columns in rows, with words above and below them."""
    items, keys = [Item(0, 0, 200, 10, None, -90)], {}
    for ix, (column, row) in enumerate(sorted(places, key=lambda place: (place[1], place[0]))):
        items.append(Item(100 * column, 20 + 30 * row, 100 * column + 96, 50 + 30 * row, None, -2 - ix))
        keys[-2 - ix] = places[column, row]
    return [*items, Item(0, 150, 200, 160, None, -91)], keys


@pytest.mark.parametrize("places", [_DOWN, _ACROSS])
def test_boxes_are_read_as_their_keys_count(places: dict[tuple[int, int], str]) -> None:
    items, keys = _items(places)
    ordered = [keys.get(item.region_ix, "words") for item in order_boxes(items, box_keys=keys)]
    assert ordered == ["words", *(f"box_{number}" for number in range(1, 9)), "words"]
