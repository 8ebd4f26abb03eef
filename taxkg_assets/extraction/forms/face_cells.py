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

# Cells are numbered −500, −501, …: no face has as many boxes, and the numbered lines of a form begin farther below.
_FIRST_CELL = -500
# Words of one row of a box have lower edges this near to each other.
_ROW_PT = 2.0
# Captions side by side are this far apart, in type sizes. The lines of one caption are this near to each other, and
# their sizes differ by less than this.
_GAP_SIZES, _STEP_SIZES, _SAME_SIZE_PT = 2.0, 1.4, 0.5


def assign_to_cells(page: Page, items: list[Item], *, cells: dict[int, list[Line]], least_lines: int = 1) -> None:
    """Group the lines inside each ruled cell of a form's face into one item.

    Args:
        page: Page with its spans, rules and fields.
        items: Lines, cells and boxes of the page; the list is changed in place.
        cells: Lines by number of the cell; new cells are added.
        least_lines: Least number of lines of a cell. If this is above 1, a cell with anything else in it stays as it
            is, too: the places of the lines among these things matter.
    """
    ruling = merge_rules(page.rules)
    items_by_cell: dict[Corners, list[Item]] = {}
    for item in items:
        corners = find_cell(item.line, ruling) if item.line is not None else None
        if corners is not None:
            items_by_cell.setdefault(corners, []).append(item)
    other_boxes = [(item.x0, item.y0, item.x1, item.y1) for item in items if item.line is None]

    def is_grouped(corners: Corners) -> bool:
        """Decide whether the lines of a cell are one item."""
        if len(items_by_cell[corners]) < least_lines or _heads_part(corners, items_by_cell):
            return False
        return least_lines == 1 or not any(holds(corners, box) for box in other_boxes)

    grouped = {corners: cell_items for corners, cell_items in items_by_cell.items() if is_grouped(corners)}
    grouped_ids = {id(item) for cell_items in grouped.values() for item in cell_items}
    items[:] = [item for item in items if id(item) not in grouped_ids]
    for corners, cell_items in grouped.items():
        lines = [item.line for item in cell_items if item.line is not None]
        _add_cell(items, cells, _by_caption(lines), corners)


def stack_captions(page: Page, items: list[Item], *, cells: dict[int, list[Line]]) -> None:
    """Group the lines of a caption that other words are next to into one item.

    Without this, a line of one caption would be read between two lines of the caption next to it.

    Args:
        page: Page with its form fields.
        items: Lines, cells and numbered lines of the page; the list is changed in place.
        cells: Lines by number of the cell; new cells are added.
    """
    captions: list[list[Line]] = []
    for line in sorted((item.line for item in items if item.line is not None), key=lambda line: line.y0):
        caption = next((stack for stack in captions if _is_next(page, line, stack)), None)
        if caption is None:
            captions.append([line])
        else:
            caption.append(line)
    all_items = list(items)
    page_lines = [item.line for item in all_items if item.line is not None]
    for lines in captions:
        is_caption = len(lines) > 1 and not any(_leads_into(line, lines) for line in page_lines)
        if is_caption and any(_is_next_to(item, lines) for item in all_items):
            items[:] = [item for item in items if not any(item.line is caption_line for caption_line in lines)]
            right = max(line.x1 for line in lines)
            _add_cell(items, cells, lines, (lines[0].x0, lines[0].y0, right, lines[-1].y1))


def _add_cell(items: list[Item], cells: dict[int, list[Line]], lines: list[Line], corners: Corners) -> None:
    number = _FIRST_CELL - len(cells)
    cells[number] = lines
    items.append(Item(*corners, None, number))


def _by_caption(lines: list[Line]) -> list[Line]:
    """Order the lines of a cell from left to right where a gap separates captions of several lines."""
    lines_by_left = sorted(lines, key=lambda line: line.x0)
    right_edge = lines_by_left[0].x1
    for ix, line in enumerate(lines_by_left):
        is_gap = line.x0 - right_edge > _GAP_SIZES * line.size
        sides = (lines_by_left[:ix], lines_by_left[ix:])
        if is_gap and all(len(_rows_of(side)) > 1 for side in sides) and _are_captions(sides):
            right_ids = {id(other) for other in lines_by_left[ix:]}
            left_lines = [other for other in lines if id(other) not in right_ids]
            return left_lines + _by_caption([other for other in lines if id(other) in right_ids])
        right_edge = max(right_edge, line.x1)
    return lines


def _rows_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Divide lines into rows from the top, each from left to right."""
    rows = group_by_distance(lines, position=lambda line: line.base, least_gap_pt=_ROW_PT)
    return [sorted(row, key=lambda line: line.x0) for row in rows]


def _are_captions(sides: Sequence[Sequence[Line]]) -> bool:
    """Decide whether words side by side are captions: no side begins in lower case, but a next row does.

    Otherwise the rows are entries of a list, or lines of a paragraph with a gap.
    """
    first_letters = [min(side, key=lambda line: line.base).text[:1] for side in sides]
    rows = _rows_of([line for side in sides for line in side if any(map(str.isalpha, line.text))])
    return not any(map(str.islower, first_letters)) and any(row[0].text[:1].islower() for row in rows[1:])


def _is_next(page: Page, line: Line, caption: Sequence[Line]) -> bool:
    """Decide whether a line is the next one of a caption: right below it, in its type, and without a box to check."""
    last_line = caption[-1]
    if (
        abs(line.x0 - last_line.x0) > _ROW_PT
        or line.is_bold != last_line.is_bold
        or abs(line.size - last_line.size) > _SAME_SIZE_PT
    ):
        return False
    usual_step = caption[1].base - caption[0].base if len(caption) > 1 else _STEP_SIZES * line.size
    if (
        not 0 < line.base - last_line.base <= usual_step + _SAME_SIZE_PT
        or line.text[0] in LONE_MARKS
        or _has_check_box(page, line)
    ):
        return False
    return line.text[0].islower() or not _has_check_box(page, last_line)


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

    If two or more rows have labels side by side, the lines are ordered label by label from the left. If other words are
    above several labels, or if these are no captions, the stored order is used after the leftmost, then topmost line.

    Args:
        lines: Lines of the box, as stored.

    Returns:
        The same lines in reading order.
    """
    rows = _rows_of([line for line in lines if any(map(str.isalpha, line.text))])
    if sum(len(row) > 1 for row in rows) < 2:
        return merge_lines(list(lines))
    labels: list[list[Line]] = []
    right_edge = 0.0
    for line in sorted(lines, key=lambda line: line.x0):
        if labels and line.x0 < right_edge:
            labels[-1].append(line)
        else:
            labels.append([line])
        right_edge = max(right_edge, line.x1)
    if all(len(_rows_of(label)) == len(label) for label in labels) and _are_captions(labels):
        return [line for label in labels for line in sorted(label, key=lambda line: line.base)]
    first_line = min(lines, key=lambda line: (round(line.x0), line.base))
    return sorted(lines, key=lambda line: (line is not first_line, line.spans[0].span_ix))


def find_cell(line: Line, ruling: Ruling) -> Corners | None:
    """Find the ruled cell around a line; the outer sides of a face need not be drawn.

    Args:
        line: Line on the face of a form.
        ruling: Lines drawn on the page.

    Returns:
        Corners in points; None if no cell encloses the line, or only one that is larger than the cells of a face.
    """
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    above = ruling.above(x, y)
    below = ruling.below(x, y)
    left = ruling.left(x, y)
    right = ruling.right(x, y)
    horizontals = [rule for rule in (above, below) if rule is not None]
    verticals = [rule for rule in (left, right) if rule is not None]
    if not horizontals or not verticals:
        return None
    # In place of a side that is not drawn, the cell ends where the rules of the other direction end.
    x0 = left.at if left is not None else max(rule.start for rule in horizontals)
    x1 = right.at if right is not None else min(rule.end for rule in horizontals)
    y0 = above.at if above is not None else max(rule.start for rule in verticals)
    y1 = below.at if below is not None else min(rule.end for rule in verticals)
    limits = load_faces().geometry
    if y1 - y0 > limits.notice_height_pt or x1 - x0 > limits.cell_width_pt:
        return None
    # A blank at a line's end may reach over the edge.
    is_inside = x0 <= line.x0 + 2 and line.x1 <= x1 + line.size and y0 <= y <= y1
    return (x0, y0, x1, y1) if is_inside else None


def _heads_part(corners: Corners, items_by_cell: dict[Corners, list[Item]]) -> bool:
    """Decide whether a cell holds the label of a part ("Part I") or, next to such a cell, the part's name."""
    x0, y0, _, y1 = corners
    label_cells = [other for other, cell_items in items_by_cell.items() if any(_is_label(item) for item in cell_items)]
    return any(
        other == corners or (abs(other[2] - x0) < 3 and y0 < (other[1] + other[3]) / 2 < y1) for other in label_cells
    )


def _is_label(item: Item) -> bool:
    return item.line is not None and item.line.is_bold and label_key(item.line.text) is not None
