"""Heads of the columns of a form: each is centered in its cell, and all are one row, with what is over several."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.extraction.forms.form_lines import FormLine
from taxkg_assets.extraction.forms.margin_labels import MarginLabel
from taxkg_assets.extraction.layout.lines import Line

_ROW_PT = 1.0
# Words over several heads begin at most this many type sizes above the highest of them.
_LEAD_SIZES = 3.0
_BEFORE_PT = 0.01

Unit = FormLine | MarginLabel


def are_heads_of_one_grid(row: Sequence[Unit], unit: Unit) -> bool:
    """Decide whether a column's head is set next to others, though each is centered in its cell.

    Args:
        row: Units of a row.
        unit: The unit that follows.

    Returns:
        True if all are heads of columns and the unit begins above the end of one of them, in a column of its own.
    """
    if not row or not _is_head(unit) or not all(map(_is_head, row)):
        return False
    is_next_to = any(_bottom(head) > _top(unit) for head in row)
    return is_next_to and _key_of(unit) not in map(_key_of, row)


def find_tops(units: Sequence[Unit], loose: Sequence[Line]) -> list[float]:
    """Align the tops of units in one row, so that small differences in height do not change the reading order.

    Args:
        units: Units in their order.
        loose: The other lines of the page.

    Returns:
        Top of each unit in points; heads are below what is printed over several of them.
    """
    rows: list[list[Unit]] = []
    for unit in units:
        is_in_row = rows and (abs(_top(unit) - _top(rows[-1][0])) < _ROW_PT or are_heads_of_one_grid(rows[-1], unit))
        if is_in_row:
            rows[-1].append(unit)
        else:
            rows.append([unit])
    tops: list[float] = []
    for row in rows:
        top = _top(row[0])
        if len(row) > 1 and all(map(_is_head, row)):
            top = min(map(_top, row))
            top = max([top, *(line.y0 + _BEFORE_PT for line in loose if _is_over_heads(line, row, top))])
        tops += [top] * len(row)
    return tops


def _is_over_heads(line: Line, row: Sequence[Unit], top: float) -> bool:
    """Decide whether a line is over a head of a row, and next to others: it heads several columns."""
    below = [head for head in row if _top(head) >= line.y1 - 1 and _left(head) < line.x1 and _right(head) > line.x0]
    return bool(below) and line.y0 >= top - _LEAD_SIZES * line.size and any(_bottom(head) > line.y1 for head in row)


def _is_head(unit: Unit) -> bool:
    return isinstance(unit, FormLine) and unit.kind == "column"


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
