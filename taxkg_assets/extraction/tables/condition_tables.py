"""Condition tables inside the lines of a form: bold heads, `IF` first and `THEN` last, over rows of names and amounts.

Nothing is drawn around them, and dots lead over their columns, so that only the heads tell the columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from taxkg_assets.extraction.layout.text_runs import Run, find_lines, is_amount
from taxkg_assets.extraction.tables.row_cells import CellRow, RowCell
from taxkg_assets.rules.models.tables import load_tables

# Rows begin and end within this distance of the heads above them.
_EDGE_PT = 4.0
# The next row follows within this number of type sizes.
_NEXT_ROW_SIZES = 2.0
_LEADERS = re.compile(r"^(?:\s*\.)+\s+|(?:\s*\.){2,}\s*$|(?:^|\s)\.$")


def find_condition_tables(runs: Sequence[Run]) -> list[list[CellRow]]:
    """Find tables of conditions and results on a form page: bold heads `IF …` and `THEN …` over rows with amounts.

    Args:
        runs: Text runs of the page, or of a rectangle on it.

    Returns:
        For each table its rows from top to bottom; the first row has the heads.
    """
    lines = find_lines(runs)
    tables: list[list[CellRow]] = []
    for ix, line in enumerate(lines):
        heads = _find_heads(line)
        rows = _find_rows(heads, lines[ix + 1 :]) if heads else []
        if len(rows) >= load_tables().regions.open_min_rows:
            header_row = [RowCell(number, True, runs=[head]) for number, head in enumerate(heads)]
            tables.append([header_row, *(_read_row(heads, row) for row in rows)])
    return tables


def _find_heads(line: Sequence[Run]) -> list[Run]:
    """Find the heads of a condition table on a line: from the one with IF to the one with THEN."""
    bold_runs = [run for run in line if run.is_bold]
    first_ix = next((ix for ix, run in enumerate(bold_runs) if load_tables().condition_starts.matches(run.text)), None)
    if first_ix is None:
        return []
    heads = bold_runs[first_ix:]
    last_ix = next((ix for ix, run in enumerate(heads) if load_tables().conclusion_starts.matches(run.text)), 0)
    return heads[: last_ix + 1] if last_ix else []


def _find_rows(heads: Sequence[Run], lines: Sequence[Sequence[Run]]) -> list[list[Run]]:
    """Find the rows under heads: each begins below the first one and has an amount below the last one.

    A name of two lines has the amount on the second.
    """
    left_edge, last_head, last_middle = heads[0].x0, heads[-1], heads[0].middle
    rows: list[list[Run]] = []
    name_line: list[Run] = []
    for line in lines:
        row = [run for run in line if left_edge - _EDGE_PT <= run.x0 and run.x1 <= last_head.x1 + _EDGE_PT]
        if not row:
            # Right of the table, as a brace is.
            continue
        if abs(row[0].x0 - left_edge) > _EDGE_PT or row[0].middle - last_middle > _NEXT_ROW_SIZES * last_head.size_pt:
            break
        last_middle = row[0].middle
        if any(run.x1 > last_head.x0 and is_amount(run.text) for run in row):
            rows.append([*name_line, *row])
            name_line = []
        elif name_line:
            break
        else:
            name_line = row
    return rows


def _read_row(heads: Sequence[Run], row: Sequence[Run]) -> CellRow:
    """Assign each run of a row to the head above it, without the dots of a leader."""
    cells: dict[int, RowCell] = {}
    for run in row:
        text = _LEADERS.sub("", run.text).strip()
        number = max((ix for ix, head in enumerate(heads) if head.x0 - _EDGE_PT <= run.center), default=0)
        if text:
            cells.setdefault(number, RowCell(number, False)).runs.append(replace(run, text=text))
    return [cells[number] for number in sorted(cells)]
