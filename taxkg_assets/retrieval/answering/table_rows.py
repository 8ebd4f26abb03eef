"""Read the rows of a table from a passage that prints it: captions, headers, then rows of cells separated by `|`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxkg_assets.retrieval.index.lines import CELL_SEPARATOR, Line
from taxkg_assets.retrieval.tables.table_headers import HEADER_END

_PART_SEPARATOR = re.compile(r" [|>] |: ")
"""Separates the parts of a cell in words: title, headers and value."""


def find_captions(lines: Sequence[Line]) -> list[str]:
    """Return the lines before the first row of cells.

    Args:
        lines: Lines of a passage that prints a table.
    """
    first_row_ix = next((ix for ix, line in enumerate(lines) if CELL_SEPARATOR in line.text), len(lines))
    return [line.text for line in lines[:first_row_ix]]


def find_headers(lines: Sequence[Line], row: Line) -> tuple[str, ...] | None:
    """Find the column headers that apply to a row of cells.

    A line whose cells are bold has further headers for the lines below it.

    Args:
        lines: Lines of a passage that prints a table.
        row: Line of the row.

    Returns:
        One header for each cell of the row, all empty where their number differs; None for a line that is not a row of
        values.
    """
    if CELL_SEPARATOR not in row.text:
        return None
    headers: tuple[str, ...] | None = None
    for line in lines:
        if line.line_ix >= row.line_ix:
            break
        if CELL_SEPARATOR in line.text and (headers is None or _is_bold(line.text)):
            headers = tuple(cell.strip("*") for cell in split_cells(line.text))
    if headers is None or _is_bold(row.text):
        return None
    width = len(split_cells(row.text))
    return headers if len(headers) == width else ("",) * width


def is_row_or_note(lines: Sequence[Line], line: Line) -> bool:
    """Return whether a line of a table is a row of values or a note, and not a caption or a header.

    Args:
        lines: Lines of a passage that prints a table.
        line: Line to check.
    """
    if CELL_SEPARATOR in line.text:
        return find_headers(lines, line) is not None
    captions = find_captions(lines)
    return line.text not in (captions if len(captions) < len(lines) else captions[:1])


def read_row(headers: Sequence[str], text: str) -> str:
    """Return a row as text, with the header before each cell: "Filing status: single; Rate: 12%".

    Args:
        headers: One header for each cell; may be empty.
        text: Line of the row.
    """
    cells = split_cells(text)
    labeled_cells = [
        f"{' '.join(header.split(' > ')).rstrip(HEADER_END)}: {cell}" if header and header != cell else cell
        for header, cell in zip(headers, cells, strict=True)
        if cell
    ]
    return "; ".join(dict.fromkeys(labeled_cells))


def find_row(lines: Sequence[Line], cell: str) -> Line | None:
    """Find the line of a passage that prints a cell's row.

    Args:
        lines: Lines of a passage that prints a table.
        cell: Cell in words: title, row and column paths, and the value.

    Returns:
        The row that contains most parts of the cell; parts of the row path count twice, as a column may have the name
        of another row. None where several rows contain as many, or where the row has fewer than three cells with
        figures.
    """
    cell_parts = frozenset(part.strip() for part in _PART_SEPARATOR.split(cell))
    row_path = cell.rpartition(" | ")[0].rpartition(" | ")[2]
    row_parts = frozenset(part.strip() for part in _PART_SEPARATOR.split(row_path))
    rows = [line for line in lines if CELL_SEPARATOR in line.text and find_headers(lines, line) is not None]
    cells_by_row = [split_cells(line.text) for line in rows]
    shared_counts = [len(cell_parts.intersection(cells)) + len(row_parts.intersection(cells)) for cells in cells_by_row]
    best_count = max(shared_counts, default=0)
    if not best_count or shared_counts.count(best_count) != 1:
        return None
    row = rows[shared_counts.index(best_count)]
    return row if sum(any(map(str.isdigit, row_cell)) for row_cell in split_cells(row.text)) > 2 else None


def split_cells(text: str) -> list[str]:
    """Return the cells of a line.

    Args:
        text: Line of a table.
    """
    return [cell.strip() for cell in text.split(CELL_SEPARATOR)]


def _is_bold(text: str) -> bool:
    cells = [cell for cell in split_cells(text) if cell]
    return bool(cells) and all(cell.startswith("**") and cell.endswith("**") for cell in cells)
