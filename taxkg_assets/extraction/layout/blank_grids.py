"""Grids of ruled cells that are left blank to be filled in, such as worksheets that track amounts over years."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.layout.ruling import RuledLine, Ruling, merge_rules
from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.rules.models.tables import load_tables

# Rules that end at another one may stop short of it or run past it.
_SLACK_PT = 2.0


def find_blank_grid(page: Page, lines: Sequence[Line]) -> Corners | None:
    """Find a grid with many blank cells in several columns and rows.

    The words in its cells are names of rows and columns, and no running text.

    Args:
        page: Page with its rules.
        lines: Printed lines of the page.

    Returns:
        Corners around the grid with its names, in points; None for none.
    """
    limit = load_tables().blank_grids
    ruling = merge_rules(page.rules)
    if min(len(ruling.verticals), len(ruling.horizontals)) <= limit.least_columns:
        return None
    middles = [((line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2) for line in lines]
    blank_cells = [
        (x0, y0, x1, y1)
        for x0, y0, x1, y1 in _find_cells(ruling)
        if not any(x0 < x < x1 and y0 < y < y1 for x, y in middles)
    ]
    columns = {round(x0) for x0, _, _, _ in blank_cells}
    rows = {round(y0) for _, y0, _, _ in blank_cells}
    if len(blank_cells) < limit.least_cells or min(len(columns), len(rows)) < limit.least_columns:
        return None
    return _find_frame(ruling, columns, rows)


def _find_frame(ruling: Ruling, columns: set[int], rows: set[int]) -> Corners:
    """Return the corners around the sides of blank cells, which reach around the names of rows and columns, too."""
    verticals = [line for line in ruling.verticals if round(line.at) in columns]
    horizontals = [line for line in ruling.horizontals if round(line.at) in rows]
    return (
        min(line.start for line in horizontals),
        min(line.start for line in verticals),
        max(line.end for line in horizontals),
        max(line.end for line in verticals),
    )


def _find_cells(ruling: Ruling) -> set[Corners]:
    """Find the cells that have all four sides drawn and are as high as one row or a few."""
    cells: set[Corners] = set()
    for left in ruling.verticals:
        sides = [
            line
            for line in ruling.between(left.start - _SLACK_PT, left.end + _SLACK_PT)
            if line.covers(left.at + _SLACK_PT)
        ]
        for top, bottom in pairwise(sides):
            right = _find_right_side(ruling, left, top, bottom)
            if right is not None:
                cells.add((left.at, top.at, right.at, bottom.at))
    return cells


def _find_right_side(ruling: Ruling, left: RuledLine, top: RuledLine, bottom: RuledLine) -> RuledLine | None:
    limit = load_tables().blank_grids
    if not limit.least_height_pt < bottom.at - top.at < limit.most_height_pt:
        return None
    right = ruling.right(left.at + _SLACK_PT, (top.at + bottom.at) / 2)
    if right is None or not top.covers(right.at - _SLACK_PT) or not bottom.covers(right.at - _SLACK_PT):
        return None
    return right if limit.least_width_pt < right.at - left.at < limit.most_width_pt else None
