"""Ruled cells of a face that print no key: the payer's address, the form's name, a notice next to the boxes.

The words of one cell belong together, however the boxes next to it divide the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from taxkg_assets.extraction.forms.margin_labels import label_key
from taxkg_assets.extraction.layout.columns import Item
from taxkg_assets.extraction.layout.lines import Line, merge_lines
from taxkg_assets.extraction.layout.ruling import Ruling, merge_rules
from taxkg_assets.extraction.pdf.geometry import Corners, holds
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.rules.models.faces import load_faces

# Regions count down from here: no face has as many boxes, and numbered lines of a form begin farther down.
_FIRST_CELL = -500
# Words of one row of a box stand on bases this near to each other.
_ROW_PT = 2.0


def assign_to_cells(page: Page, items: list[Item], *, cells: dict[int, list[Line]], least: int = 1) -> None:
    """Group the lines inside each ruled cell of a form's face into one item.

    Args:
        page: Page with its spans, rules and fields.
        items: Lines, cells and boxes of the page.
        cells: Lines by number of the cell.
        least: A cell with fewer lines is left as it is; so is then one that anything else is in, among which its
            lines have their places.
    """
    ruling = merge_rules(page.rules)
    contents: dict[Corners, list[Item]] = {}
    for item in items:
        corners = _find_cell(item.line, ruling) if item.line is not None else None
        if corners is not None:
            contents.setdefault(corners, []).append(item)
    others = [(item.x0, item.y0, item.x1, item.y1) for item in items if item.line is None] if least > 1 else []
    kept = {
        corners: inside
        for corners, inside in contents.items()
        if len(inside) >= least
        and not _heads_part(corners, contents)
        and not any(holds(corners, box) for box in others)
    }
    claimed = {id(item) for inside in kept.values() for item in inside}
    items[:] = [item for item in items if id(item) not in claimed]
    for ix, ((x0, y0, x1, y1), inside) in enumerate(kept.items()):
        cells[_FIRST_CELL - ix] = [item.line for item in inside if item.line is not None]
        items.append(Item(x0, y0, x1, y1, None, _FIRST_CELL - ix))


def order_cell(lines: Sequence[Line]) -> list[Line]:
    """Order the lines of a box row by row.

    If two or more rows have labels side by side, the stored order is used, starting with the leftmost, then topmost
    line.

    Args:
        lines: Lines of the box, as stored.

    Returns:
        The same lines in reading order.
    """
    rows = Counter(round(line.base / _ROW_PT) for line in lines if any(map(str.isalpha, line.text)))
    if sum(count > 1 for count in rows.values()) < 2:
        return merge_lines(list(lines))
    first = min(lines, key=lambda line: (round(line.x0), line.base))
    return sorted(lines, key=lambda line: (line is not first, line.spans[0].span_ix))


def _find_cell(line: Line, ruling: Ruling) -> Corners | None:
    """Find the ruled cell around a line; the outer sides of a face need not be drawn."""
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    above, below, left, right = ruling.above(x, y), ruling.below(x, y), ruling.left(x, y), ruling.right(x, y)
    ends = [level for level in (above, below) if level is not None]
    sides = [side for side in (left, right) if side is not None]
    if not ends or not sides:
        return None
    x0 = left.at if left is not None else max(level.start for level in ends)
    x1 = right.at if right is not None else min(level.end for level in ends)
    y0 = above.at if above is not None else max(side.start for side in sides)
    y1 = below.at if below is not None else min(side.end for side in sides)
    most = load_faces().geometry
    if y1 - y0 > most.notice_height_pt or x1 - x0 > most.cell_width_pt:
        return None
    # A blank at a line's end may reach over the edge.
    is_inside = x0 <= line.x0 + 2 and line.x1 <= x1 + line.size and y0 <= y <= y1
    return (x0, y0, x1, y1) if is_inside else None


def _heads_part(corners: Corners, contents: dict[Corners, list[Item]]) -> bool:
    """Decide whether a cell holds the label of a part, or the name next to it: the two are one heading."""
    x0, y0, _, y1 = corners
    labels = [other for other, inside in contents.items() if any(_is_label(item) for item in inside)]
    return any(other == corners or (abs(other[2] - x0) < 3 and y0 < (other[1] + other[3]) / 2 < y1) for other in labels)


def _is_label(item: Item) -> bool:
    return item.line is not None and item.line.is_bold and label_key(item.line.text) is not None
