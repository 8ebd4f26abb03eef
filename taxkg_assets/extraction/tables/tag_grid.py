"""Cells of a tagged table to a grid: which column each of them is in.

A cell's number in its row is its column where the row has all its cells. A row with fewer has cells that reach over
several columns, which their place shows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from taxkg_assets.extraction.layout.ruling import Ruling
from taxkg_assets.extraction.layout.text_runs import Run
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.extraction.tables.grid import Drawing, Grid, Rectangle, Row, find_slabs, has_plain_names
from taxkg_assets.extraction.tables.row_cells import CellRow, bounding_box_of
from taxkg_assets.rules.models.tables import load_tables


def build_grid(page: Page, rows: Sequence[CellRow], ruling: Ruling) -> Grid | None:
    """Build the grid of a tagged table from its rows of cells.

    Args:
        page: The page.
        rows: Rows of tagged cells.
        ruling: Ruled lines of the page.

    Returns:
        The grid; None for fewer than two rows or columns.
    """
    if len(rows) < 2 or len({cell.number for row in rows for cell in row}) < 2:
        return None
    column_count = _count_columns(rows)
    full_rows = [row for row in rows if row[-1].number + 1 == column_count]
    extents = _find_extents(full_rows, column_count)
    if extents is None:
        full_rows, extents = [], _cluster(rows)
    if not 2 <= len(extents) <= load_tables().tagged.max_columns:
        return None
    runs = tuple(run for row in rows for cell in row for run in cell.runs)
    box = bounding_box_of(runs)
    continues_in_next_column = any(below[0].runs[0].y1 < above[0].runs[0].y0 - 1 for above, below in pairwise(rows))
    inner_edges = [(left[1] + right[0]) / 2 for left, right in pairwise(extents)]
    columns = tuple(pairwise([min(box.x0, extents[0][0]), *inner_edges, max(box.x1, extents[-1][1])]))
    fills = tuple(fill for fill in page.fills if fill.y0 < box.y1 + 2 and fill.y1 > box.y0 - 2)
    drawing = Drawing(box, runs, _cut(ruling, box), fills)
    full_row_ids = {id(row) for row in full_rows}
    grid_rows = [
        _place_row(row, columns, is_full=id(row) in full_row_ids, by_number=continues_in_next_column) for row in rows
    ]
    columns, grid_rows = _without_empty_lead(columns, grid_rows)
    if len(columns) < 2:
        return None
    plain_names = has_plain_names(grid_rows, column_count=len(columns))
    return Grid(drawing, columns, find_slabs(drawing), tuple(grid_rows), plain_names)


def _without_empty_lead(
    columns: tuple[tuple[float, float], ...], rows: Sequence[Row]
) -> tuple[tuple[tuple[float, float], ...], list[Row]]:
    """Leave out the first columns that no row fills, such as that of an icon: the names of rows come after them."""
    first = min((min(row.cells) for row in rows if row.cells), default=0)
    if not first:
        return columns, list(rows)
    kept_columns = ((columns[0][0], columns[first][1]), *columns[first + 1 :])
    return kept_columns, [replace(row, cells={ix - first: runs for ix, runs in row.cells.items()}) for row in rows]


def _count_columns(rows: Sequence[CellRow]) -> int:
    """Count the columns: as many as the widest rows have, if they are more than a few."""
    widths = Counter(row[-1].number + 1 for row in rows)
    least_rows = max(1, len(rows) // 10)
    return max((width for width, count in widths.items() if count >= least_rows), default=0)


def _find_extents(full_rows: Sequence[CellRow], column_count: int) -> list[tuple[float, float]] | None:
    """Find where the columns stand, from rows with all cells; None where they do not follow each other."""
    lefts: dict[int, list[float]] = defaultdict(list)
    rights: dict[int, list[float]] = defaultdict(list)
    for row in full_rows:
        for cell in row:
            box = bounding_box_of(cell.runs)
            lefts[cell.number].append(box.x0)
            rights[cell.number].append(box.x1)
    # Medians: a row that spans columns, or one out of line, moves no edge.
    extent_by_column = {ix: (median(lefts[ix]), median(rights[ix])) for ix in sorted(lefts)}
    if any(sum(left) >= sum(right) for left, right in pairwise(extent_by_column.values())):
        return None
    column_extents: list[tuple[float, float]] = []
    for ix in range(column_count):
        # A column that no row fills takes no room.
        start = column_extents[-1][1] if column_extents else min(left for left, _ in extent_by_column.values())
        column_extents.append(extent_by_column.get(ix, (start, start)))
    return column_extents


def _cluster(rows: Sequence[CellRow]) -> list[tuple[float, float]]:
    """Find columns by place alone: the extents of cells that overlap, in the rows with most cells."""
    most_cells = max(len(row) for row in rows)
    boxes = sorted(
        (bounding_box_of(cell.runs) for row in rows if len(row) == most_cells for cell in row), key=lambda box: box.x0
    )
    extents: list[tuple[float, float]] = []
    for box in boxes:
        if extents and box.x0 < extents[-1][1]:
            extents[-1] = (extents[-1][0], max(extents[-1][1], box.x1))
        else:
            extents.append((box.x0, box.x1))
    return extents


def _place_row(row: CellRow, columns: Sequence[tuple[float, float]], *, is_full: bool, by_number: bool) -> Row:
    """Put the cells of a row into columns: by number in a full row, else by place.

    by_number: the table continues in further columns of print, so that places say nothing.
    """
    cells: dict[int, list[Run]] = {}
    for cell in row:
        is_known = is_full or (by_number and cell.number < len(columns))
        box = bounding_box_of(cell.runs)
        # The first cell of a row may reach over columns that are wider than its own.
        is_first = cell.number == 0 and 2 * box.x0 < sum(columns[0])
        column = cell.number if is_known else 0 if is_first else _nearest(box, columns)
        cells.setdefault(column, []).extend(cell.runs)
    box = bounding_box_of([run for runs in cells.values() for run in runs])
    return Row(box.y0, box.y1, dict(sorted(cells.items())), tuple(cell.runs for cell in row), is_full)


def _nearest(box: Rectangle, columns: Sequence[tuple[float, float]]) -> int:
    """Find the column that a rectangle covers most; of several covered ones the leftmost."""
    covered = [min(box.x1, right) - max(box.x0, left) for left, right in columns]
    return max(range(len(columns)), key=lambda ix: (round(covered[ix]), -ix))


def _cut(ruling: Ruling, box: Rectangle) -> Ruling:
    """Keep the drawn lines at and inside a table."""
    return Ruling(
        tuple(
            line
            for line in ruling.horizontals
            if box.y0 - 8 <= line.at <= box.y1 + 8 and line.start < box.x1 and line.end > box.x0
        ),
        tuple(
            line
            for line in ruling.verticals
            if box.x0 - 8 <= line.at <= box.x1 + 8 and line.start < box.y1 and line.end > box.y0
        ),
    )
