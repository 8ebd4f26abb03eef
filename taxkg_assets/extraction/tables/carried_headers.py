"""Tables that continue on the next page without headers, which speak with those of their beginning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from taxkg_assets.extraction.tables.cells import NOTE_COLUMN, PATH_SEPARATOR, Cell, FoundTable
from taxkg_assets.rules.models.tables import load_tables


def carry_headers(tables: Iterable[FoundTable]) -> list[FoundTable]:
    """Copy column headers to tables that continue on the next page without headers.

    Args:
        tables: Tables of a document, in order.

    Returns:
        The same tables. Those that continue have the column headers and title of the page before; row names that are
        ranges have both ends, and the first rows are in the group that was open there.
    """
    new_tables: list[FoundTable] = []
    for table in tables:
        previous_table = new_tables[-1] if new_tables else None
        if previous_table is not None and _continues(previous_table, table):
            cells_with_headers = [
                _with_header(cell, previous_table.headers) for cell in _without_headers(table, previous_table.headers)
            ]
            cells = tuple(_with_ranges(cells_with_headers, previous_table.headers))
            title = previous_table.title if _repeats_headers(table.title, previous_table.headers) else table.title
            table = replace(table, headers=previous_table.headers, cells=cells, title=title)
        elif previous_table is not None and previous_table.path and previous_table.path == table.path:
            has_own_title = table.title and not _repeats_headers(table.title, previous_table.headers)
            table = replace(table, title=table.title if has_own_title else previous_table.title)
        if (
            previous_table is not None
            and previous_table.path
            and previous_table.path == table.path
            and table.region.kind == "ruled"
        ):
            table = _with_last_group(table, previous_table)
        new_tables.append(table)
    return new_tables


def _with_last_group(table: FoundTable, previous_table: FoundTable) -> FoundTable:
    """Put the first rows of a continued table, up to its first group, into the one that is open on the page before.

    Only in a list of codes, which are equally long: elsewhere a group may end where another name begins.
    """
    last_name = next((cell for cell in reversed(previous_table.cells) if cell.col_ix == 0), None)
    first_name = next((cell.text for cell in table.cells if cell.col_ix == 0), "")
    if last_name is None or not (
        last_name.text.isdigit() and first_name.isdigit() and len(last_name.text) == len(first_name)
    ):
        return table
    group = last_name.row_path
    if group in ("", last_name.text):
        return table
    rows_in_groups = {cell.row_ix for cell in table.cells if cell.col_ix == 0 and cell.row_path not in ("", cell.text)}
    first_grouped_row = min(rows_in_groups, default=len(table.cells))
    cells = [
        cell
        if cell.row_ix >= first_grouped_row or cell.col_ix < 0
        else replace(cell, row_path=_join_group(group, cell))
        for cell in table.cells
    ]
    return replace(table, cells=tuple(cells))


def _join_group(group: str, cell: Cell) -> str:
    """Return the path of a row in a group; the cell that names the row has the group alone."""
    return group if cell.col_ix == 0 or not cell.row_path else PATH_SEPARATOR.join((group, cell.row_path))


def _repeats_headers(title: str, headers: Sequence[str]) -> bool:
    """Decide whether the title above a continued table only repeats its headers."""
    return set(title.split()) <= set(" ".join(headers).split())


def _without_headers(table: FoundTable, headers: Sequence[str]) -> list[Cell]:
    """Leave out the first row of a continued table where it only repeats the headers."""
    first_cells = [cell for cell in table.cells if cell.row_ix == 0 and cell.col_ix != NOTE_COLUMN]
    is_repeated = len(first_cells) > 1 and all(
        _repeats_headers(cell.text, headers[cell.col_ix : cell.col_ix + 1]) for cell in first_cells
    )
    if not is_repeated:
        return list(table.cells)
    return [cell for cell in table.cells if cell.row_ix != 0 or cell.col_ix == NOTE_COLUMN]


def _with_header(cell: Cell, headers: Sequence[str]) -> Cell:
    """Return a cell without a header under the header of its column; it need not be its own path then."""
    if cell.col_ix == NOTE_COLUMN or not headers[cell.col_ix]:
        return cell
    header = headers[cell.col_ix]
    own_parts = [
        part for part in cell.col_path.split(PATH_SEPARATOR) if part and part not in header.split(PATH_SEPARATOR)
    ]
    path = PATH_SEPARATOR.join([header, *own_parts])
    return replace(cell, col_path=path, row_path="" if cell.row_path == cell.text else cell.row_path)


def _with_ranges(cells: Sequence[Cell], headers: Sequence[str]) -> list[Cell]:
    """Name the rows by both ends of their ranges, where the headers tell that the second column has the upper ones."""
    rules = load_tables().second_stub
    leaf = PATH_SEPARATOR.join(headers[1].split(PATH_SEPARATOR)[-2:]) if len(headers) > 2 else ""
    if not any(rule.pattern.search(leaf) for rule in rules):
        return list(cells)
    end_by_row = {cell.row_ix: cell for cell in cells if cell.col_ix == 1}
    return [
        replace(cell, row_path=PATH_SEPARATOR.join((cell.row_path, end.text)))
        if cell.col_ix > 1 and (end := end_by_row.get(cell.row_ix)) is not None and cell.row_path == end.row_path != ""
        else cell
        for cell in cells
    ]


def _continues(table_before: FoundTable, table: FoundTable) -> bool:
    if table_before.path and table.path:
        is_same = table_before.path == table.path and not any(table.headers) and any(table_before.headers)
        return is_same and len(table.headers) == len(table_before.headers)
    return (
        table.region.page == table_before.region.page + 1
        and not any(table.headers)
        and any(table_before.headers)
        and len(table.headers) == len(table_before.headers)
        and abs(table_before.region.x0 - table.region.x0) <= 6
        and abs(table_before.region.x1 - table.region.x1) <= 6
    )
