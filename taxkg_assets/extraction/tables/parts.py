"""Tables set side by side in one grid, and which columns of each name its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from taxkg_assets.extraction.layout.text_runs import is_amount, join_text
from taxkg_assets.extraction.tables.grid import Grid
from taxkg_assets.extraction.tables.headers import amount_frac, find_banners, is_group_row, is_worksheet
from taxkg_assets.rules.models.tables import load_tables

# Signs that multiply or divide, set in a column of their own.
_FACTOR_SIGNS = frozenset({"×", "÷"})
_FACTOR_LETTERS = frozenset({"x", "X"})
"""Signs between two amounts; elsewhere they are check marks."""


@dataclass(frozen=True, slots=True)
class Part:
    """Adjacent columns that form one of several tables set side by side.

    Attributes:
        first: First column.
        last: Last column.
        stub_count: Number of columns at the left that name the rows.
    """

    first: int
    last: int
    stub_count: int


def find_parts(grid: Grid, paths: Sequence[str]) -> list[Part]:
    """Split the columns of tables set side by side, and count the row-header columns of each.

    Args:
        grid: Grid of the table.
        paths: Header path of each column.

    Returns:
        Parts from left to right.
    """
    width = _period(grid, [path.split(" > ")[-1] for path in paths])
    parts = []
    for first_column in range(0, len(grid.columns), width):
        last_column = min(first_column + width, len(grid.columns)) - 1
        parts.append(Part(first_column, last_column, _count_stubs(grid, paths, first_column, last_column)))
    return parts


def _period(grid: Grid, leaves: Sequence[str]) -> int:
    """Find the width after which the columns repeat; the whole width where they do not."""
    column_count = len(grid.columns)
    if any(leaves):
        signs: list[object] = [leaf.casefold() for leaf in leaves]
        least_width = 2
    else:
        signs = [_column_sign(grid, column) for column in range(column_count)]
        least_width = 2
    for width in range(least_width, column_count // 2 + 1):
        if (
            column_count % width == 0
            and len(set(signs[:width])) > 1
            and signs[:width] * (column_count // width) == signs
        ):
            return width
    return column_count


def _column_sign(grid: Grid, column: int) -> tuple[bool, bool]:
    """Describe a column without header: codes or text, bold or not."""
    texts = [run for row in grid.rows for run in row.cells.get(column, ())]
    short = sum(len(run.text) <= 4 for run in texts) >= 0.7 * len(texts)
    is_bold = sum(run.is_bold for run in texts) >= 0.7 * len(texts)
    return short, is_bold


def _count_stubs(grid: Grid, paths: Sequence[str], first_column: int, last_column: int) -> int:
    """Count the columns that name a row: range ends, conditions, bold columns, else as many as tell rows apart."""
    max_count = last_column - first_column
    count = 1
    if _is_single_row(grid, paths, first_column, last_column) or (not any(paths) and _is_formula(grid)):
        return 0
    columns_of_header = sum(
        1 for _ in takewhile(lambda path: path == paths[first_column], paths[first_column : last_column + 1])
    )
    if paths[first_column] and 1 < columns_of_header <= max_count:
        # One header over a number and its name.
        return columns_of_header
    marks = [run.text for row in grid.rows for run in row.cells.get(first_column, ())]
    if is_worksheet(grid) and max_count > 1 and sum(len(mark) <= 4 for mark in marks) >= 0.5 * len(marks):
        return 2
    while count < max_count:
        # A column of dashes, and empty ones, may join the two ends of a range.
        next_column = count
        while next_column + 1 < max_count and _holds_no_words(grid, first_column + next_column):
            next_column += 1
        leaf = " > ".join(paths[first_column + next_column].split(" > ")[-2:])
        if not load_tables().second_stub.matches(leaf):
            break
        count = next_column + 1
    if count > 1:
        return count
    are_bold = [_is_bold_column(grid, column) for column in range(first_column, last_column + 1)]
    while count < max_count and all(are_bold[: count + 1]) and not are_bold[-1]:
        count += 1
    if first_column == 0 and max_count > 1 and any(row.shared_name for row in grid.rows):
        # Rows of one name differ in the next column, whatever it holds.
        filled_columns = {column for row in grid.rows for column in row.cells} - {0}
        return max(count, min(min(filled_columns, default=0) + 1, max_count))
    while count < min(2, max_count) and (
        not _distinguishes(grid, first_column, count)
        or _is_shared(grid, first_column + count - 1, first_column + max_count)
    ):
        if _holds_amounts(grid, first_column + count) and not _holds_amounts(grid, first_column):
            break
        count += 1
    return min(count, max(max_count, 1))


def _holds_no_words(grid: Grid, column: int) -> bool:
    return not any(map(str.isalnum, "".join(run.text for row in grid.rows for run in row.cells.get(column, ()))))


def _is_single_row(grid: Grid, paths: Sequence[str], first_column: int, last_column: int) -> bool:
    """Decide whether a table is one row of amounts, each under its own header: then none of them names the others."""
    texts = [join_text(grid.rows[-1].cells.get(column, ())) for column in range(first_column, last_column + 1)]
    return len(grid.rows) == 2 and all(map(is_amount, texts)) and all(paths[first_column : last_column + 1])


def _is_formula(grid: Grid) -> bool:
    """Decide whether rows are those of formulas with fractions: their factors name nothing."""
    signs = [_multiplies([join_text(row.cells[column]) for column in sorted(row.cells)]) for row in grid.rows]
    # Of each formula, a row of numerators and the sign is followed by one of denominators.
    return any(signs) and 3 * sum(signs) >= len(signs) and not all(signs)


def _multiplies(texts: Sequence[str]) -> bool:
    """Decide whether a row has the sign of a product or quotient: a letter is one between two amounts only."""
    between = zip(texts, texts[1:], texts[2:], strict=False)
    return not _FACTOR_SIGNS.isdisjoint(texts) or any(
        sign in _FACTOR_LETTERS and is_amount(left) and is_amount(right) for left, sign, right in between
    )


def _is_shared(grid: Grid, column: int, last_column: int) -> bool:
    """Decide whether the names of a column hold for several rows each, which the next column distinguishes in words."""
    rows = [
        row for row in grid.rows[len(grid.rows) // 4 :] if any(column < other <= last_column for other in row.cells)
    ]
    adjacent = [join_text(row.cells[column + 1]) for row in rows if column + 1 in row.cells]
    unnamed = sum(column not in row.cells for row in rows)
    is_worded = sum(not is_amount(text) for text in adjacent) >= 0.8 * len(rows)
    return bool(rows) and 0.3 * len(rows) <= unnamed < len(rows) and is_worded and last_column - column >= 2


def _holds_amounts(grid: Grid, column: int) -> bool:
    """Decide whether most cells of a column are amounts: after names values, after amounts the upper ends of ranges."""
    return amount_frac([join_text(row.cells[column]) for row in grid.rows if column in row.cells]) > 0.5


def _is_bold_column(grid: Grid, column: int) -> bool:
    """Decide whether the cells of a column are bold in most rows that fill half of the columns: notes fill fewer."""
    body = [row for row in grid.rows[len(grid.rows) // 4 :] if 2 * len(row.cells) >= len(grid.columns)]
    runs = [run for row in body for run in row.cells.get(column, ())]
    return bool(runs) and sum(run.is_bold for run in runs) >= 0.8 * len(runs)


def _distinguishes(grid: Grid, first_column: int, count: int) -> bool:
    """Decide whether the leading columns name (nearly) every row differently."""
    group, names = "", []
    banners = find_banners(grid)
    for ix, row in enumerate(grid.rows):
        if ix in banners or is_group_row(grid, row):
            group = join_text(row.runs)
            continue
        name = tuple(join_text(row.cells.get(column, ())) for column in range(first_column, first_column + count))
        if any(name):
            names.append((group, *name))
    return len(set(names)) >= 0.75 * len(names)
