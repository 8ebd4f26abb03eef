"""Rows of a table as a passage prints them: captions, headers, then rows, their cells apart by `|`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxkg_assets.retrieval.index.lines import CELL_SEPARATOR, Line
from taxkg_assets.retrieval.tables.table_headers import HEADER_END

_PARTS = re.compile(r" [|>] |: ")
"""Between the parts of a cell in words."""


def find_captions(lines: Sequence[Line]) -> list[str]:
    """Return the lines before the first row of cells.

    Args:
        lines: Lines of a passage of a table.
    """
    first = next((number for number, line in enumerate(lines) if CELL_SEPARATOR in line.text), len(lines))
    return [line.text for line in lines[:first]]


def find_headers(lines: Sequence[Line], row: Line) -> tuple[str, ...] | None:
    """Find the column headers that apply to a row of cells.

    A line whose cells are bold refines the headers of the lines below it.

    Args:
        lines: Lines of a passage of a table.
        row: Line of the row.

    Returns:
        One header for each cell, all empty where there are more or fewer headers than cells; None for a line that is
        not a row of values.
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


def states_something(lines: Sequence[Line], line: Line) -> bool:
    """Return whether a table line is a row or a note rather than part of the caption.

    Args:
        lines: Lines of a passage of a table.
        line: Line to check.
    """
    if CELL_SEPARATOR in line.text:
        return find_headers(lines, line) is not None
    captions = find_captions(lines)
    return line.text not in (captions if len(captions) < len(lines) else captions[:1])


def read_row(headers: Sequence[str], text: str) -> str:
    """Return a row with the header before each cell that has one: "Filing status: single; Rate: 12%".

    Args:
        headers: One header for each cell; may be empty.
        text: Line of the row.
    """
    cells = split_cells(text)
    named = [
        f"{' '.join(header.split(' > ')).rstrip(HEADER_END)}: {cell}" if header and header != cell else cell
        for header, cell in zip(headers, cells, strict=True)
        if cell
    ]
    return "; ".join(dict.fromkeys(named))


def find_row(lines: Sequence[Line], cell: str) -> Line | None:
    """Find the line of a passage that prints a cell's row.

    Args:
        lines: Lines of a passage of a table.
        cell: Cell in words: title, row and column paths, and the value.

    Returns:
        The row that names most parts of the cell, those of its row path twice: a column may have the name of another
        row. None where it has no other value than the cell's.
    """
    named = frozenset(part.strip() for part in _PARTS.split(cell))
    path = frozenset(part.strip() for part in _PARTS.split(cell.rpartition(" | ")[0].rpartition(" | ")[2]))
    rows = [line for line in lines if CELL_SEPARATOR in line.text and find_headers(lines, line) is not None]
    texts = [split_cells(line.text) for line in rows]
    shared = [len(named.intersection(text)) + len(path.intersection(text)) for text in texts]
    best = max(shared, default=0)
    if not best or shared.count(best) != 1:
        return None
    row = rows[shared.index(best)]
    return row if sum(any(map(str.isdigit, own)) for own in split_cells(row.text)) > 2 else None


def split_cells(text: str) -> list[str]:
    """Return the cells of a line.

    Args:
        text: Line of a table.
    """
    return [cell.strip() for cell in text.split(CELL_SEPARATOR)]


def _is_bold(text: str) -> bool:
    cells = [cell for cell in split_cells(text) if cell]
    return bool(cells) and all(cell.startswith("**") and cell.endswith("**") for cell in cells)
