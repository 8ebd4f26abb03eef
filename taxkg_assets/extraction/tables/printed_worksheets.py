"""Worksheets without tags: their rows begin with a number, which is printed again at the amount."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from taxkg_assets.extraction.layout.text_runs import Run, find_lines, is_amount, is_line_number
from taxkg_assets.extraction.tables.grid import Drawing, Rectangle
from taxkg_assets.extraction.tables.row_cells import CellRow, RowCell, bounding_box_of
from taxkg_assets.extraction.tables.worksheet_parts import is_answer, strip_number_marks
from taxkg_assets.rules.models.tables import load_tables


@dataclass(frozen=True, slots=True)
class _NumberedRow:
    """The run that a row of a printed worksheet begins with, and the run that repeats its number at the amount."""

    first: Run
    repeat: Run


MAX_CANDIDATES = 200
"""Runs next to a repeated number that are inspected; a line of print has some ten."""


def find_worksheet_boxes(runs: Sequence[Run], *, table_boxes: Sequence[Rectangle]) -> list[Rectangle]:
    """Find worksheets by rows whose line number is printed at the left and again next to the amount.

    An example of such a row is `3. Add lines 1 and 2 . . . . 3. ______`.

    Args:
        runs: Text runs of the page.
        table_boxes: Rectangles of other tables, whose text is left out.

    Returns:
        Rectangles of the worksheets in points.
    """
    limits = load_tables().worksheets
    free_runs = [run for run in runs if not any(box.holds(run) for box in table_boxes)]
    worksheets: list[list[_NumberedRow]] = []
    for row in _find_numbered_rows(free_runs):
        worksheet_above = next(
            (
                worksheet
                for worksheet in worksheets
                if abs(worksheet[-1].first.x0 - row.first.x0) <= limits.number_pt
                and row.first.y0 - worksheet[-1].repeat.y1 <= limits.gap_pt
            ),
            None,
        )
        if worksheet_above is None:
            worksheets.append([row])
        else:
            worksheet_above.append(row)
    long_worksheets = [worksheet for worksheet in worksheets if len(worksheet) >= limits.least_rows]
    return [
        bounding_box_of([run for row in worksheet for run in (row.first, row.repeat)]) for worksheet in long_worksheets
    ]


def _find_numbered_rows(runs: Sequence[Run]) -> list[_NumberedRow]:
    """Find the rows that repeat their number, from top to bottom."""
    limits = load_tables().worksheets
    repeats = [run for run in runs if run.text[:1].isdigit() and is_line_number(run.text)]
    if len(repeats) < limits.least_rows:
        return []
    numbered_runs = sorted(
        ((run.middle, number, run) for run in runs if (number := _number_of(run))),
        key=lambda numbered_run: numbered_run[0],
    )
    middles = [middle for middle, _, _ in numbered_runs]
    rows = []
    for repeat in repeats:
        adjacent = slice(
            bisect_left(middles, repeat.middle - limits.row_pt), bisect_right(middles, repeat.middle + 1.0)
        )
        row_starts = [
            run
            for _, number, run in numbered_runs[adjacent][:MAX_CANDIDATES]
            if repeat.x0 - run.x0 >= limits.width_pt and _repeats(repeat.text, number)
        ]
        if row_starts:
            rows.append(_NumberedRow(max(row_starts, key=lambda run: run.y0), repeat))
    return sorted(rows, key=lambda row: row.first.y0)


def _repeats(text: str, number: str) -> bool:
    """Decide whether the number at an amount is that of a row, which may be its letter alone."""
    return strip_number_marks(text) == strip_number_marks(number) or (
        strip_number_marks(number).isalpha() and strip_number_marks(text).endswith(strip_number_marks(number))
    )


def _number_of(run: Run) -> str:
    """Return the number that a run begins with or is; "" where it has none: "a" by itself is a word."""
    word = run.text.split(None, 1)[0]
    is_number = is_line_number(word) and not (word.isalpha() and word != run.text)
    return word if is_number else ""


def find_worksheet_rows(drawing: Drawing) -> list[CellRow]:
    """Divide a printed worksheet into rows of number, words and amounts.

    Args:
        drawing: Everything printed inside the worksheet's rectangle.

    Returns:
        Rows from top to bottom; empty if too few of them repeat their number next to the amount.
    """
    limits = load_tables().worksheets
    numbered_rows = _find_numbered_rows(drawing.runs)
    if len(numbered_rows) < limits.least_rows:
        return []
    numbers_x0 = min(row.first.x0 for row in numbered_rows)
    words_x0 = min(
        (run.x0 for row in numbered_rows for run in _split_number(row.first, drawing.runs)[1:]),
        default=numbers_x0 + limits.number_pt,
    )
    repeated_numbers = {id(row.repeat) for row in numbered_rows}
    rows: list[CellRow] = [[]]
    is_note, is_ended = True, False
    for line in find_lines(drawing.runs):
        number_run, words = line[0], line
        if number_run.x0 <= numbers_x0 + limits.number_pt and _number_of(number_run):
            parts = [*_split_number(number_run, ()), *line[1:]]
            rows.append([RowCell(0, False, runs=parts[:1])])
            words, is_note = parts[1:], False
        elif is_ended or is_answer(number_run.text) or (number_run.x0 < words_x0 - 2.0 and not is_note):
            rows.append([])
            is_note = True
        is_ended = any(id(run) in repeated_numbers for run in line)
        _extend(rows[-1], words)
    return [row for row in rows if row]


def _split_number(run: Run, runs: Sequence[Run]) -> list[Run]:
    """Split a run into the number that it begins with and its words; those of a number alone stand next to it."""
    number, _, words = run.text.partition(" ")
    if not words:
        adjacent = [other for other in runs if abs(other.middle - run.middle) <= 3.0 and other.x0 > run.x1]
        return [run, *sorted(adjacent, key=lambda other: other.x0)[:1]]
    words_x0 = run.x0 + (run.x1 - run.x0) * (len(number) + 1) / len(run.text)
    return [replace(run, text=number, x1=words_x0), replace(run, text=words.strip(), x0=words_x0)]


def _extend(row: CellRow, runs: Sequence[Run]) -> None:
    """Add the runs of a line to a row: its words are one cell, each amount is one, repeated numbers are left out."""
    for run in runs:
        if is_line_number(run.text):
            continue
        words = next((cell for cell in row if cell.number == 1), None)
        if words is None and not is_amount(run.text):
            row.append(RowCell(1, False, runs=[run]))
        elif words is not None and not is_amount(run.text):
            words.runs.append(run)
        else:
            row.append(RowCell(2, False, runs=[run]))
    row.sort(key=lambda cell: cell.number)
