"""Ruled cells of a face that print no key: the payer's address, the form's name, a notice next to the boxes.

The words of one cell belong together, however the boxes next to it divide the page.
"""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.extraction.forms.box_order import group_by_distance
from taxkg_assets.extraction.forms.margin_labels import label_key
from taxkg_assets.extraction.layout.columns import Item
from taxkg_assets.extraction.layout.lines import Line, merge_lines
from taxkg_assets.extraction.layout.paragraphs import LONE_MARKS
from taxkg_assets.extraction.layout.ruling import Ruling, merge_rules
from taxkg_assets.extraction.pdf.geometry import Corners, holds
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.rules.models.faces import load_faces

# Regions count down from here: no face has as many boxes, and numbered lines of a form begin farther down.
_FIRST_CELL = -500
# Words of one row of a box stand on bases this near to each other.
_ROW_PT = 2.0
# Captions side by side are this far apart, in type sizes; lines of one are this near, and of one size up to a rest.
_GAP_SIZES, _STEP_SIZES, _SAME_SIZE_PT = 2.0, 1.4, 0.5


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
        corners = find_cell(item.line, ruling) if item.line is not None else None
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
    for (x0, y0, x1, y1), inside in kept.items():
        _add_cell(items, cells, _by_caption([item.line for item in inside if item.line is not None]), (x0, y0, x1, y1))


def stack_captions(page: Page, items: list[Item], *, cells: dict[int, list[Line]]) -> None:
    """Group the lines of a caption that other words are next to into one item.

    Row by row, the lines of captions side by side would be read in turns.

    Args:
        page: Page with its form fields.
        items: Lines, cells and numbered lines of the page.
        cells: Lines by number of the cell.
    """
    stacks: list[list[Line]] = []
    for line in sorted((item.line for item in items if item.line is not None), key=lambda line: line.y0):
        above = next((stack for stack in stacks if _is_next(page, line, stack)), None)
        if above is None:
            stacks.append([line])
        else:
            above.append(line)
    before = list(items)
    firsts = [item.line for item in before if item.line is not None]
    for lines in stacks:
        is_caption = len(lines) > 1 and not any(_leads_into(line, lines) for line in firsts)
        if is_caption and any(_is_next_to(item, lines) for item in before):
            items[:] = [item for item in items if not any(item.line is own for own in lines)]
            right = max(line.x1 for line in lines)
            _add_cell(items, cells, lines, (lines[0].x0, lines[0].y0, right, lines[-1].y1))


def _add_cell(items: list[Item], cells: dict[int, list[Line]], lines: list[Line], corners: Corners) -> None:
    number = _FIRST_CELL - len(cells)
    cells[number] = lines
    items.append(Item(*corners, None, number))


def _by_caption(lines: list[Line]) -> list[Line]:
    """Put the lines of a cell that a gap parts into captions of several lines in order, from left to right."""
    ordered = sorted(lines, key=lambda line: line.x0)
    reach = ordered[0].x1
    for ix, line in enumerate(ordered):
        is_gap = line.x0 - reach > _GAP_SIZES * line.size
        sides = (ordered[:ix], ordered[ix:])
        if is_gap and all(len(_rows_of(side)) > 1 for side in sides) and _are_captions(sides):
            right = {id(other) for other in ordered[ix:]}
            left = [other for other in lines if id(other) not in right]
            return left + _by_caption([other for other in lines if id(other) in right])
        reach = max(reach, line.x1)
    return lines


def _rows_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Divide lines into rows from the top, each from left to right."""
    rows = group_by_distance(lines, position=lambda line: line.base, least=_ROW_PT)
    return [sorted(row, key=lambda line: line.x0) for row in rows]


def _are_captions(sides: Sequence[Sequence[Line]]) -> bool:
    """Decide whether words side by side are captions: no side begins in lower case, but a next row does.

    Otherwise the rows are entries of a list, or lines of a paragraph with a gap.
    """
    begins = [min(side, key=lambda line: line.base).text[:1] for side in sides]
    rows = _rows_of([line for side in sides for line in side if any(map(str.isalpha, line.text))])
    return not any(map(str.islower, begins)) and any(row[0].text[:1].islower() for row in rows[1:])


def _is_next(page: Page, line: Line, caption: Sequence[Line]) -> bool:
    """Decide whether a line is the next one of a caption: right below it, in its type, and without a box to check."""
    last = caption[-1]
    if abs(line.x0 - last.x0) > _ROW_PT or line.is_bold != last.is_bold or abs(line.size - last.size) > _SAME_SIZE_PT:
        return False
    usual = caption[1].base - caption[0].base if len(caption) > 1 else _STEP_SIZES * line.size
    if (
        not 0 < line.base - last.base <= usual + _SAME_SIZE_PT
        or line.text[0] in LONE_MARKS
        or _has_check_box(page, line)
    ):
        return False
    return line.text[0].islower() or not _has_check_box(page, last)


def _leads_into(line: Line, caption: Sequence[Line]) -> bool:
    """Decide whether a line is right above a caption at another edge: the two are an indented paragraph."""
    step = caption[1].base - caption[0].base
    is_above = (
        0 < caption[0].base - line.base <= step + _SAME_SIZE_PT and abs(line.size - caption[0].size) < _SAME_SIZE_PT
    )
    return is_above and line.x0 < caption[0].x1 and line.x1 > caption[0].x0 and line.is_bold == caption[0].is_bold


def _has_check_box(page: Page, line: Line) -> bool:
    return any(
        widget.y0 < line.base < widget.y1 + line.size and 0 <= line.x0 - widget.x1 + _ROW_PT < 2 * line.size
        for widget in page.widgets
        if widget.x1 - widget.x0 < 2 * line.size
    )


def _is_next_to(item: Item, caption: Sequence[Line]) -> bool:
    """Decide whether an item begins between the first and the last line of a caption, next to it."""
    is_between = caption[0].y0 < item.y0 < caption[-1].y0 + _ROW_PT
    return is_between and (item.x0 >= max(line.x1 for line in caption) or item.x1 <= caption[0].x0)


def order_cell(lines: Sequence[Line]) -> list[Line]:
    """Order the lines of a box row by row.

    If two or more rows have labels side by side, label by label from the left; if other words are over several of
    them, or they are no captions, the stored order is used, starting with the leftmost, then topmost line.

    Args:
        lines: Lines of the box, as stored.

    Returns:
        The same lines in reading order.
    """
    rows = _rows_of([line for line in lines if any(map(str.isalpha, line.text))])
    if sum(len(row) > 1 for row in rows) < 2:
        return merge_lines(list(lines))
    labels: list[list[Line]] = []
    reach = 0.0
    for line in sorted(lines, key=lambda line: line.x0):
        if labels and line.x0 < reach:
            labels[-1].append(line)
        else:
            labels.append([line])
        reach = max(reach, line.x1)
    if all(len(_rows_of(label)) == len(label) for label in labels) and _are_captions(labels):
        return [line for label in labels for line in sorted(label, key=lambda line: line.base)]
    first = min(lines, key=lambda line: (round(line.x0), line.base))
    return sorted(lines, key=lambda line: (line is not first, line.spans[0].span_ix))


def find_cell(line: Line, ruling: Ruling) -> Corners | None:
    """Find the ruled cell around a line; the outer sides of a face need not be drawn.

    Args:
        line: The line.
        ruling: Lines drawn on its page.

    Returns:
        Corners in points; None if no cell of the size of a face's encloses it.
    """
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
