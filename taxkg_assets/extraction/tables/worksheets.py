"""Worksheets: numbered lines to fill in, which have the numbers of their lines where other tables have headers.

Rows come from tags or from print; a table with headers inside a worksheet is read as any other table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from taxkg_assets.extraction.layout.regions import TableRegion
from taxkg_assets.extraction.tables.cells import NOTE_COLUMN, PATH_SEPARATOR, Cell, FoundTable
from taxkg_assets.extraction.tables.parts import Part
from taxkg_assets.extraction.tables.row_cells import CellRow, RowCell, bounding_box_of
from taxkg_assets.extraction.tables.worksheet_parts import (
    find_amount_columns,
    is_amount_row,
    is_answer,
    is_group,
    split_answers,
    strip_number_marks,
)
from taxkg_assets.rules.models.tables import load_tables


def are_worksheet_rows(rows: Sequence[CellRow]) -> bool:
    """Return whether rows are worksheet lines to fill in: several begin with a number followed by words.

    Rows with words in several columns belong to a table whose rows are numbered.

    Args:
        rows: Rows of the table, from top to bottom.
    """
    limits = load_tables().tagged
    numbered_rows = [row for row in rows if row[0].is_numbered]
    filled_count = sum(
        _count_worded(row[1:], letters=limits.filled_letters) >= limits.filled_cells for row in numbered_rows
    )
    if filled_count and filled_count >= limits.filled_frac * len(numbered_rows):
        return False
    worded_count = sum(_count_worded(row[1:], letters=1) > 0 for row in numbered_rows)
    return bool(
        len(numbered_rows) >= limits.worksheet_lines and worded_count >= limits.worksheet_frac * len(numbered_rows)
    )


def _count_worded(cells: Sequence[RowCell], *, letters: int) -> int:
    """Count the cells that hold at least some letters."""
    return sum(sum(map(str.isalpha, cell.text)) >= letters for cell in cells)


@dataclass(slots=True)
class _LinePath:
    """Position in a worksheet while its rows are read.

    Attributes:
        is_echoed: Amounts repeat the number of their line without punctuation.
        group: Step or short bold title above the line.
        number: Number of the line; "" before the first line and after the last.
        letter: Letter of the line, where its number is printed apart.
        question: Question that the line asks, which the rows below answer.
        lead: Words of the line that the rows below complete: "Enter:".
        name: Name of the indented rows with amounts that are read.
        name_x0: Left edge of that name, in points.
        x0: Left edge of the last line number; None before the first.
    """

    is_echoed: bool

    group: str = ""
    number: str = ""
    letter: str = ""
    question: str = ""
    lead: str = ""
    name: str = ""
    name_x0: float = 0.0
    x0: float | None = None

    @property
    def path(self) -> str:
        return _join(self.group, self.number, self.letter) if self.number else ""

    def begins(self, row: CellRow) -> bool:
        """Return whether a row begins a line with a number, or with a letter that continues the last number."""
        if row[0].is_numbered or _is_split_number(row):
            return True
        digits = strip_number_marks(self.number).rstrip(ascii_lowercase)
        return len(row) > 1 and digits.isdigit() and row[0].text == str(int(digits) + 1)

    def take(self, cell: RowCell) -> None:
        """Begin a line; a small letter belongs to the number before it: "b." after "2a." is "2b."."""
        bare_number, text = strip_number_marks(self.number), cell.text
        is_letter = (
            strip_number_marks(text).isalpha()
            and strip_number_marks(text).islower()
            and bool(bare_number)
            and not (bare_number.isalpha() and bare_number.islower())
        )
        self.question = self.lead = self.name = ""
        self.x0 = bounding_box_of(cell.runs).x0
        if not is_letter:
            self.number, self.letter = text, ""
        elif bare_number[-1:].islower():
            self.number, self.letter = f"{bare_number.rstrip(ascii_lowercase)}{text}", ""
        else:
            self.letter = text

    def take_words(self, text: str, *, begins_line: bool) -> None:
        """Record the words of a line that the following rows answer or complete."""
        self.question = text if text.endswith("?") else ""
        if begins_line:
            is_lead = text.endswith(":") and len(text) <= load_tables().tagged.title_chars
            self.lead = text if is_lead else ""

    def take_name(self, row: CellRow, row_below: CellRow | None) -> None:
        """Record the name of indented rows with amounts, which ends with the indent."""
        name_x0 = bounding_box_of(row[0].runs).x0
        if name_x0 <= self.name_x0 + 2.0:
            self.name = ""
        is_name = row_below is not None and len(row) == 1 and is_amount_row(row_below)
        if row_below is not None and is_name and bounding_box_of(row_below[0].runs).x0 > name_x0 + 3.0:
            self.name, self.name_x0 = row[0].text, name_x0

    def ends_at(self, row: CellRow) -> bool:
        """Return whether a row without a number is outdented to the numbers, so that it belongs to no line."""
        return self.x0 is not None and bounding_box_of(row[0].runs).x0 <= self.x0 + 2.0 and not is_answer(row[0].text)

    def end(self) -> None:
        self.number = self.letter = self.question = self.lead = self.name = ""

    def repeats(self, cell: RowCell) -> bool:
        """Return whether a cell repeats the line number, as the amount column does."""
        return cell.is_numbered or (
            (self.is_echoed or self.number.isdigit()) and cell.text == strip_number_marks(self.number)
        )


def read_worksheet(page: int, rows: Sequence[CellRow]) -> FoundTable:
    """Read a worksheet as a table: the row header of a cell is its line number, of an amount also the line's words.

    Line numbers repeated at the amounts are dropped. A row without a number continues the line above it, unless the row
    begins where the numbers are printed; before the first line, such rows are notes. The row header of an answer ends
    with the question. The row header of a row that completes a line ends with the words of the line. The column header
    of an amount is what is printed above the amounts. A step heads the lines up to the next step.

    Args:
        page: Number of the page.
        rows: Rows of the worksheet.

    Returns:
        The table.
    """
    reader = _WorksheetReader(split_answers(rows))
    cells = [cell for row_ix in range(len(reader.rows)) for cell in reader.read_row(row_ix)]
    box = bounding_box_of([run for row in rows for cell in row for run in cell.runs])
    region = TableRegion(page, box.x0, box.y0, box.x1, box.y1, "worksheet")
    headers = ("", "", *(reader.columns.names or ("",)))
    return FoundTable(region, "", headers, (Part(0, len(headers) - 1, 2),), tuple(cells))


class _WorksheetReader:
    """Rows of a worksheet, read one after the other: each belongs to the line that began last."""

    def __init__(self, rows: Sequence[CellRow]) -> None:
        self.rows = rows
        self.columns = find_amount_columns(rows)
        self.line = _LinePath(_echoes_numbers(rows))
        self.was_group = False

    def read_row(self, row_ix: int) -> list[Cell]:
        """Read the cells of a row: line number, words and amounts.

        Args:
            row_ix: 0-based number of the row, after those of the rows before it.
        """
        row = self.rows[row_ix]
        unread_cells = [cell for cell in row if row_ix not in self.columns.row_ixs or cell not in self.columns.cells]
        begins_line = self.line.begins(row)
        cells: list[Cell] = []
        if begins_line:
            self.was_group = False
            self.line.take(unread_cells.pop(0))
            cells.append(Cell(row_ix, 0, self.line.path, "", row[0].text, bounding_box_of(row[0].runs)))
        else:
            self._end_line(row_ix)
            if len(unread_cells) > 1 and _is_mark(unread_cells[0]):
                unread_cells.pop(0)
        if self.line.number and len(unread_cells) > 1 and unread_cells[0].is_numbered:
            self.line.letter, self.line.question = unread_cells.pop(0).text, ""
        path = self._find_path(row_ix, unread_cells, begins_line=begins_line)
        return [*cells, *self._read_rest(row_ix, unread_cells, path)]

    def _end_line(self, row_ix: int) -> None:
        """End the line, and its step where another begins, at a row without a number that belongs to no line."""
        row, line = self.rows[row_ix], self.line
        was_group_before, self.was_group = self.was_group, is_group(self.rows, row_ix, begins_line=line.begins)
        if self.was_group:
            line.end()
            line.group = _join(line.group if was_group_before else "", " ".join(cell.text for cell in row))
        elif line.ends_at(row):
            line.end()
            # Words that name something else end a step; those that tell what to do next do not.
            line.group = line.group if load_tables().instructions.matches(row[0].text) else ""

    def _find_path(self, row_ix: int, unread_cells: Sequence[RowCell], *, begins_line: bool) -> str:
        """Return the path of the cells of a row: its line, and the question or the words that it completes.

        The row's own words are noted for the rows below it.
        """
        row, line = self.rows[row_ix], self.line
        is_reply = bool(line.question and unread_cells) and is_answer(unread_cells[0].text)
        name = line.name
        if not begins_line:
            line.take_name(row, self.rows[row_ix + 1] if row_ix + 1 < len(self.rows) else None)
            name = line.name if line.name != row[0].text else ""
        path = _join(line.path, line.question if is_reply else line.lead, name)
        if unread_cells and line.number and not is_reply:
            line.take_words(unread_cells[0].text, begins_line=begins_line)
        return path

    def _read_rest(self, row_ix: int, unread_cells: Sequence[RowCell], path: str) -> Iterator[Cell]:
        """Read the cells after the number: words first, then amounts; before the first line all are notes."""
        is_note = self.line.x0 is None
        for ix, cell in enumerate(unread_cells):
            if ix and self.line.repeats(cell):
                continue
            column, header = (1, "") if ix == 0 else self.columns.locate(cell)
            words = "" if is_note else _join(path, unread_cells[0].text if ix else "")
            yield Cell(
                row_ix,
                NOTE_COLUMN if is_note else column,
                words or cell.text,
                header,
                cell.text,
                bounding_box_of(cell.runs),
            )


def _is_mark(cell: RowCell) -> bool:
    """Decide whether a cell holds the mark of a list item alone, as a dot; a sign of an amount is none."""
    return len(cell.text) == 1 and not cell.text.isalnum() and cell.text not in "+-–−×÷=()$%"


def _join(*parts: str) -> str:
    return PATH_SEPARATOR.join(part for part in parts if part)


def _is_split_number(row: CellRow) -> bool:
    """Decide whether a row begins with a bare number and, in a cell of its own, a letter; its amount repeats both."""
    if len(row) < 3 or not row[0].text.isdigit() or not row[1].is_numbered:
        return False
    letter = strip_number_marks(row[1].text)
    return letter.isalpha() and any(strip_number_marks(cell.text) == row[0].text + letter for cell in row[2:])


def _echoes_numbers(rows: Sequence[CellRow]) -> bool:
    """Decide whether most lines repeat their number bare at the amount; a single one may be an amount."""
    numbered_rows = [row for row in rows if row[0].is_numbered and strip_number_marks(row[0].text).isdigit()]
    echo_count = sum(any(cell.text == strip_number_marks(row[0].text) for cell in row[1:]) for row in numbered_rows)
    return echo_count >= max(2, 0.5 * len(numbered_rows))
