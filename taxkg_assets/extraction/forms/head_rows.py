"""Heads of the columns of a form: all heads of a table are one row, with the words printed above several of them."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.extraction.forms.form_lines import FormLine
from taxkg_assets.extraction.forms.margin_labels import MarginLabel
from taxkg_assets.extraction.layout.lines import Line

_ROW_PT = 1.0
# Words over several heads begin at most this many type sizes above the highest of them.
_LEAD_SIZES = 3.0
_BEFORE_PT = 0.01
# Rows of such words are set this near to each other.
_SET_SIZES = 0.4

Unit = FormLine | MarginLabel


def are_heads_of_one_grid(row: Sequence[Unit], next_unit: Unit) -> bool:
    """Return whether a unit is a column head of the same grid as the units of a row.

    Args:
        row: Numbered lines, boxes, columns or labels of one row.
        next_unit: The one that follows in reading order.

    Returns:
        True if all are heads of columns, and the unit begins above the end of one of them and has another key.
    """
    if not row or not _is_head(next_unit) or not all(map(_is_head, row)):
        return False
    is_next_to = any(_bottom(head) > _top(next_unit) for head in row)
    return is_next_to and _key_of(next_unit) not in map(_key_of, row)


def take_words_over(heads: Sequence[FormLine], other_lines: Sequence[Line]) -> tuple[list[FormLine], list[Line]]:
    """Separate the text printed above several column heads, which belongs to none of the heads alone.

    Args:
        heads: Heads of the columns of a page.
        other_lines: The other lines of the page.

    Returns:
        One unit without a key for each text over several heads, and the remaining lines.
    """
    units_over: list[FormLine] = []
    lines_left = list(other_lines)
    for grid in _find_grids(heads):
        while lines_over := [line for line in lines_left if _is_inside(line, grid)]:
            block, line_count = lines_over[:1], 0
            while line_count < len(block):
                line_count = len(block)
                block += [
                    line
                    for line in lines_left
                    if not _is_one_of(line, block) and any(_is_set_with(line, block_line) for block_line in block)
                ]
            units_over.append(FormLine("", False, sorted(block, key=lambda line: (line.base, line.x0))))
            lines_left = [line for line in lines_left if not _is_one_of(line, block)]
    return units_over, lines_left


def _find_grids(heads: Sequence[FormLine]) -> list[list[Unit]]:
    grids: list[list[Unit]] = []
    for head in sorted(heads, key=_top):
        if grids and are_heads_of_one_grid(grids[-1], head):
            grids[-1].append(head)
        else:
            grids.append([head])
    return [grid for grid in grids if len(grid) > 2]


def _is_inside(line: Line, grid: Sequence[Unit]) -> bool:
    """Decide whether a line is next to some heads of a grid and above at least two others."""
    heads_below = [
        head for head in grid if _top(head) >= line.y1 - _ROW_PT and _left(head) < line.x1 and line.x0 < _right(head)
    ]
    return len(heads_below) >= 2 and any(_top(head) < line.y1 - _ROW_PT and line.y0 < _bottom(head) for head in grid)


def _is_set_with(line: Line, other: Line) -> bool:
    """Decide whether a line is set right above or below another line and has the same center."""
    gap_pt = max(line.y0, other.y0) - min(line.y1, other.y1)
    is_near = abs(gap_pt) <= _SET_SIZES * other.size and abs(line.size - other.size) < 1
    return is_near and abs(line.x0 + line.x1 - other.x0 - other.x1) < 2 * other.size


def _is_one_of(line: Line, lines: Sequence[Line]) -> bool:
    return any(line is other for other in lines)


def find_tops(units: Sequence[Unit], other_lines: Sequence[Line]) -> list[float]:
    """Compute the tops of units, aligned within rows, so that small differences in height do not change the order.

    Args:
        units: Units in their order.
        other_lines: The other lines of the page.

    Returns:
        Top of each unit in points; a head's is below the words printed above several heads.
    """
    rows: list[list[Unit]] = []
    for unit in units:
        is_in_row = rows and (abs(_top(unit) - _top(rows[-1][0])) < _ROW_PT or are_heads_of_one_grid(rows[-1], unit))
        if is_in_row:
            rows[-1].append(unit)
        else:
            rows.append([unit])
    tops: list[float] = []
    for row_above, row in zip([[], *rows], rows, strict=False):
        top = _top(row[0])
        # Words over heads are read between the number that the grid begins with and the heads.
        if any(map(_is_over, row_above)) or (row_above and _is_over(row[0]) and _bottom(row[0]) > tops[-1]):
            top = max(top, tops[-1] + _BEFORE_PT)
        if len(row) > 1 and all(map(_is_head, row)):
            top = max(
                [
                    min(map(_top, row)),
                    top if any(map(_is_over, row_above)) else 0.0,
                    # A number is read before the heads of its grid, though some may begin a little above it.
                    tops[-1] + _BEFORE_PT if any(_is_next_to(head, row) for head in row_above) else 0.0,
                    *(line.y0 + _BEFORE_PT for line in other_lines if _is_over_heads(line, row, top)),
                ]
            )
        tops += [top] * len(row)
    return tops


def _is_over_heads(line: Line, row: Sequence[Unit], top: float) -> bool:
    """Decide whether a line is above a head of a row, and next to other heads: the line heads several columns."""
    heads_below = [
        head for head in row if _top(head) >= line.y1 - 1 and _left(head) < line.x1 and _right(head) > line.x0
    ]
    return (
        bool(heads_below) and line.y0 >= top - _LEAD_SIZES * line.size and any(_bottom(head) > line.y1 for head in row)
    )


def _is_next_to(unit: Unit, row: Sequence[Unit]) -> bool:
    """Decide whether a unit is a head that reaches below the top of a row of other heads."""
    return _is_head(unit) and _bottom(unit) > min(map(_top, row)) and _key_of(unit) not in map(_key_of, row)


def _is_head(unit: Unit) -> bool:
    return isinstance(unit, FormLine) and unit.kind == "column"


def _is_over(unit: Unit) -> bool:
    """Decide whether a unit contains the words printed above several heads: such a unit has no key."""
    return isinstance(unit, FormLine) and not unit.key


def _key_of(unit: Unit) -> str:
    return unit.key if isinstance(unit, FormLine) else ""


def _top(unit: Unit) -> float:
    return min(line.y0 for line in unit.lines)


def _bottom(unit: Unit) -> float:
    return max(line.y1 for line in unit.lines)


def _left(unit: Unit) -> float:
    return min(line.x0 for line in unit.lines)


def _right(unit: Unit) -> float:
    return max(line.x1 for line in unit.lines)
