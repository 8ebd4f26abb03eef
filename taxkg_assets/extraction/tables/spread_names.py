"""Names of rows that are set over several rows of figures: drawn lines enclose them, and their words go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from taxkg_assets.extraction.layout.text_runs import Run, is_amount, is_note, join_text
from taxkg_assets.extraction.tables.grid import Grid, Row
from taxkg_assets.rules.models.tables import load_tables


def join_spread_names(grid: Grid, header_count: int) -> Grid:
    """Assign a row name that is printed next to several rows to all of them; drawn lines enclose these rows.

    Args:
        grid: Grid of the table.
        header_count: Number of header rows.

    Returns:
        The grid. The first of the rows has the whole name as its first cell; those below it that fill the same columns
        have it as `shared_name`.
    """
    center = sum(grid.columns[0]) / 2
    body = range(header_count, len(grid.rows))
    borders = [body.start, *(ix for ix in body[1:] if _is_divided(grid, ix, center)), body.stop]
    if len(borders) < 3:
        return grid
    rows, rows_to_drop = list(grid.rows), list[int]()
    for first_ix, border_ix in pairwise(borders):
        end_ix = next((ix for ix in range(first_ix, border_ix) if _is_note_row(rows[ix])), border_ix)
        names = [rows[ix].cells.get(0, []) for ix in range(first_ix, end_ix)]
        if _is_centered_name(names, rows[first_ix:end_ix]):
            rows_to_drop += [ix for ix in range(first_ix, end_ix) if not _without_first_cell(rows[ix])]
        elif not _is_one_name(names, rows[first_ix:end_ix]):
            continue
        name_runs = [run for name in names for run in name]
        columns = rows[first_ix].cells.keys() - {0}
        rows[first_ix] = replace(rows[first_ix], cells={0: name_runs, **_without_first_cell(rows[first_ix])})
        for ix in range(first_ix + 1, end_ix):
            row = replace(rows[ix], cells=_without_first_cell(rows[ix]))
            # A row that leaves columns empty is a total or a note.
            rows[ix] = replace(row, shared_name=join_text(name_runs)) if row.cells.keys() == columns else row
    return replace(grid, rows=tuple(row for ix, row in enumerate(rows) if ix not in rows_to_drop))


def _is_centered_name(names: Sequence[list[Run]], rows: Sequence[Row]) -> bool:
    """Decide whether the one name of some rows is set at half their height, below a row of figures without a name."""
    named_ixs = [ix for ix, name in enumerate(names) if name]
    figures = [run.middle for row in rows for runs in _without_first_cell(row).values() for run in runs]
    if not named_ixs or names[0] or named_ixs[-1] - named_ixs[0] >= len(named_ixs):
        return False
    if not (all(map(_holds_figures, rows)) or _are_alike(rows)):
        return False
    if sum(bool(_without_first_cell(row)) for row in rows) < 2 or not all(
        _continues(names[a], names[a + 1]) for a in named_ixs[:-1]
    ):
        return False
    name = [run for ix in named_ixs for run in names[ix]]
    middle = (name[0].middle + name[-1].middle) / 2
    return abs(middle - (min(figures) + max(figures)) / 2) <= (name[0].y1 - name[0].y0) / 2


def _is_one_name(names: Sequence[list[Run]], rows: Sequence[Row]) -> bool:
    """Decide whether the names of rows are lines of one, from the first row on."""
    count = next((ix for ix, name in enumerate(names) if not name), len(names))
    if not count or len(rows) < 2 or any(names[count:]):
        return False
    is_wrapped = not any(map(_without_first_cell, rows[1:]))
    is_of_all = all(map(_holds_figures, rows)) or (count < len(rows) and _is_capital_name(names[:count], rows))
    if count > 1 and not is_wrapped and not is_of_all:
        return False
    return all(_continues(a, b) for a, b in pairwise(names[:count]))


def _is_capital_name(names: Sequence[list[Run]], rows: Sequence[Row]) -> bool:
    """Decide whether only the first line of a name has a capital letter, over rows that fill the same columns."""
    first, *later_names = map(join_text, names)
    columns = _without_first_cell(rows[0]).keys()
    is_name = first[:1].isupper() and all(text[:1].islower() for text in later_names)
    return is_name and len(columns) > 1 and all(_without_first_cell(row).keys() == columns for row in rows)


def _is_note_row(row: Row) -> bool:
    return len(row.cells) == 1 and is_note(join_text(row.runs))


def _holds_figures(row: Row) -> bool:
    """Decide whether a row holds amounts next to its name, or nothing: words may be rows of their own."""
    return all(any(is_amount(run.text) for run in runs) for runs in _without_first_cell(row).values())


def _are_alike(rows: Sequence[Row]) -> bool:
    """Decide whether rows fill the same columns next to their name, the last of them with an amount."""
    first = _without_first_cell(rows[0]).keys()
    return all(
        _without_first_cell(row).keys() == first and all(is_amount(run.text) for run in row.cells[max(first)])
        for row in rows
    )


def _without_first_cell(row: Row) -> dict[int, list[Run]]:
    return {column: runs for column, runs in row.cells.items() if column}


def _is_divided(grid: Grid, row_ix: int, x: float) -> bool:
    """Decide whether a line is drawn over a row."""
    above, row = grid.rows[row_ix - 1], grid.rows[row_ix]
    low = max((run.middle for run in above.runs), default=above.y1)
    high = min((run.middle for run in row.runs), default=row.y0)
    return any(low < line.at < high and line.covers(x) for line in grid.drawing.ruling.horizontals)


def _continues(name: list[Run], below: list[Run]) -> bool:
    """Decide whether a name continues below: in small letters, or after a word that ends no name."""
    text, text_below = join_text(name), join_text(below)
    return text_below[:1].islower() or load_tables().open_ends.matches(text)
