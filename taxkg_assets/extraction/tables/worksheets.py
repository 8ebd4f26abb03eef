"""Worksheets: numbered lines to fill in, which have the numbers of their lines where other tables have headers.

The tags tell the rows of some; of others each row begins with a number, which is printed again at its amount.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from string import ascii_lowercase

from taxkg_assets.extraction.layout.regions import TableRegion
from taxkg_assets.extraction.layout.text_runs import Run, find_lines, is_amount, is_line_number, join_text
from taxkg_assets.extraction.pdf.model import Span
from taxkg_assets.extraction.tables.cells import NOTE_COLUMN, PATH_SEPARATOR, Cell, FoundTable
from taxkg_assets.extraction.tables.grid import Box, Drawing
from taxkg_assets.extraction.tables.parts import Part
from taxkg_assets.rules.loader import load_rules
from taxkg_assets.rules.models.tables import load_tables


@dataclass(slots=True)
class RowCell:
    """One cell of a row with its runs; `number`: its place among the cells of its row. `spans`: where tags tell it."""

    number: int
    is_header: bool
    spans: list[Span] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    @property
    def text(self) -> str:
        return join_text(self.runs)

    @property
    def is_bold(self) -> bool:
        return all(run.is_bold for run in self.runs)

    @property
    def is_numbered(self) -> bool:
        """Whether the cell holds the number of a worksheet line and nothing else."""
        return len(self.runs) <= 2 and is_line_number(self.text)


CellRow = list[RowCell]


def hull_of(runs: Sequence[Run]) -> Box:
    """Compute the rectangle around runs.

    Args:
        runs: At least one run.

    Returns:
        Rectangle in points.
    """
    return Box(
        min(run.x0 for run in runs),
        min(run.y0 for run in runs),
        max(run.x1 for run in runs),
        max(run.y1 for run in runs),
    )


def are_worksheet_rows(rows: Sequence[CellRow]) -> bool:
    """Return whether the rows are lines to fill in: several begin with a number, and words follow it.

    Rows that are filled in with words in several columns are those of a table whose rows are numbered.

    Args:
        rows: Rows of the table, from top to bottom.
    """
    limits = load_tables().tagged
    numbered = [row for row in rows if row[0].is_numbered]
    filled = sum(_count_worded(row[1:], letters=limits.filled_letters) >= limits.filled_cells for row in numbered)
    if filled and filled >= limits.filled_frac * len(numbered):
        return False
    worded = sum(_count_worded(row[1:], letters=1) > 0 for row in numbered)
    return bool(len(numbered) >= limits.worksheet_lines and worded >= limits.worksheet_frac * len(numbered))


def _count_worded(cells: Sequence[RowCell], *, letters: int) -> int:
    """Count the cells that hold at least some letters."""
    return sum(sum(map(str.isalpha, cell.text)) >= letters for cell in cells)


@dataclass(slots=True)
class _LinePath:
    """Position in a worksheet: the number of the line, its letter, and the question that it asks.

    x0: left edge of the last number; None before the first one. is_echoed: amounts have the bare number of their line.
    """

    is_echoed: bool

    number: str = ""
    letter: str = ""
    question: str = ""
    x0: float | None = None

    @property
    def path(self) -> str:
        return PATH_SEPARATOR.join(part for part in (self.number, self.letter) if part)

    def begins(self, row: CellRow) -> bool:
        """Decide whether a row begins a line: with a number, or a bare one that a letter or the last one explains."""
        if row[0].is_numbered or _is_split_number(row):
            return True
        digits = _bare(self.number).rstrip(ascii_lowercase)
        return len(row) > 1 and digits.isdigit() and row[0].text == str(int(digits) + 1)

    def take(self, cell: RowCell) -> None:
        """Begin a line; a small letter belongs to the number before it, as "b." after "2a." is "2b."."""
        bare, text = _bare(self.number), cell.text
        is_letter = (
            _bare(text).isalpha() and _bare(text).islower() and bool(bare) and not (bare.isalpha() and bare.islower())
        )
        self.question, self.x0 = "", hull_of(cell.runs).x0
        if not is_letter:
            self.number, self.letter = text, ""
        elif bare[-1:].islower():
            self.number, self.letter = f"{bare.rstrip(ascii_lowercase)}{text}", ""
        else:
            self.letter = text

    def ends_at(self, row: CellRow) -> bool:
        """Decide whether a row without number begins as far to the left as the numbers: it is of no line."""
        return self.x0 is not None and hull_of(row[0].runs).x0 <= self.x0 + 2.0 and not _is_answer(row[0].text)

    def end(self) -> None:
        self.number = self.letter = self.question = ""

    def repeats(self, cell: RowCell) -> bool:
        """Decide whether a cell repeats the number of the line, as the amount's column does."""
        return cell.is_numbered or ((self.is_echoed or self.number.isdigit()) and cell.text == _bare(self.number))


def read_worksheet(page: int, rows: Sequence[CellRow]) -> FoundTable:
    """Read a worksheet: each cell under the number of its line, amounts under the line's words, too.

    The number that is repeated at the amount is left out. Rows without a number continue the one before them, unless
    they begin where the numbers do; before the first they are notes. Answers are under their question.

    Args:
        page: Number of the page.
        rows: Rows of the worksheet.

    Returns:
        The table.
    """
    cells: list[Cell] = []
    line = _LinePath(_echoes_numbers(rows))
    for row_ix, row in enumerate(rows):
        rest = list(row)
        if line.begins(row):
            line.take(rest.pop(0))
            cells.append(Cell(row_ix, 0, line.path, "", row[0].text, hull_of(row[0].runs)))
        elif line.ends_at(row):
            line.end()
        if rest and line.number and rest[0].is_numbered and len(rest) > 1:
            line.letter, line.question = rest.pop(0).text, ""
        is_answer = bool(line.question and rest) and _is_answer(rest[0].text)
        path = PATH_SEPARATOR.join(part for part in (line.path, line.question if is_answer else "") if part)
        if rest and line.number and not is_answer:
            line.question = rest[0].text if rest[0].text.endswith("?") else ""
        for cell in rest:
            is_first = cell is rest[0]
            if not is_first and line.repeats(cell):
                continue
            column = (1 if is_first else 2) if line.x0 is not None else NOTE_COLUMN
            above = (path,) if is_first else (path, rest[0].text)
            words = PATH_SEPARATOR.join(part for part in above if part) if line.x0 is not None else ""
            cells.append(Cell(row_ix, column, words or cell.text, "", cell.text, hull_of(cell.runs)))
    box = hull_of([run for row in rows for cell in row for run in cell.runs])
    region = TableRegion(page, box.x0, box.y0, box.x1, box.y1, "worksheet")
    return FoundTable(region, "", ("", "", ""), (Part(0, 2, 2),), tuple(cells))


def _is_split_number(row: CellRow) -> bool:
    """Decide whether a row begins with a bare number and, in a cell of its own, a letter; its amount repeats both."""
    if len(row) < 3 or not row[0].text.isdigit() or not row[1].is_numbered:
        return False
    letter = _bare(row[1].text)
    return letter.isalpha() and any(_bare(cell.text) == row[0].text + letter for cell in row[2:])


def _echoes_numbers(rows: Sequence[CellRow]) -> bool:
    """Decide whether most lines repeat their number bare at the amount; a single one may be an amount."""
    numbered = [row for row in rows if row[0].is_numbered and _bare(row[0].text).isdigit()]
    echoed = sum(any(cell.text == _bare(row[0].text) for cell in row[1:]) for row in numbered)
    return echoed >= max(2, 0.5 * len(numbered))


def _is_answer(text: str) -> bool:
    return any(rule.pattern.search(text) for rule in load_rules("tables", "answers"))


@dataclass(frozen=True, slots=True)
class _NumberedRow:
    """The run that a row of a printed worksheet begins with, and the run that repeats its number at the amount."""

    first: Run
    repeat: Run


MAX_CANDIDATES = 200
"""Runs next to a repeated number that are inspected; a line of print has some ten."""


def find_worksheet_boxes(runs: Sequence[Run], *, taken: Sequence[Box]) -> list[Box]:
    """Find the rectangles of worksheets outside of those taken: rows below each other that repeat their numbers.

    Args:
        runs: Runs of the page.
        taken: Rectangles of other tables.

    Returns:
        Rectangles in points.
    """
    limits = load_tables().worksheets
    free = [run for run in runs if not any(box.holds(run) for box in taken)]
    chains: list[list[_NumberedRow]] = []
    for row in _find_numbered_rows(free):
        home = next(
            (
                chain
                for chain in chains
                if abs(chain[-1].first.x0 - row.first.x0) <= limits.number_pt
                and row.first.y0 - chain[-1].repeat.y1 <= limits.gap_pt
            ),
            None,
        )
        if home is None:
            chains.append([row])
        else:
            home.append(row)
    found = [chain for chain in chains if len(chain) >= limits.least_rows]
    return [hull_of([run for row in chain for run in (row.first, row.repeat)]) for chain in found]


def _find_numbered_rows(runs: Sequence[Run]) -> list[_NumberedRow]:
    """Find the rows that repeat their number, from top to bottom."""
    limits = load_tables().worksheets
    repeats = [run for run in runs if run.text[:1].isdigit() and is_line_number(run.text)]
    if len(repeats) < limits.least_rows:
        return []
    firsts = sorted(((run.middle, number, run) for run in runs if (number := _number_of(run))), key=lambda one: one[0])
    middles = [middle for middle, _, _ in firsts]
    rows = []
    for repeat in repeats:
        adjacent = slice(
            bisect_left(middles, repeat.middle - limits.row_pt), bisect_right(middles, repeat.middle + 1.0)
        )
        begun = [
            run
            for _, number, run in firsts[adjacent][:MAX_CANDIDATES]
            if repeat.x0 - run.x0 >= limits.width_pt and _repeats(repeat.text, number)
        ]
        if begun:
            rows.append(_NumberedRow(max(begun, key=lambda run: run.y0), repeat))
    return sorted(rows, key=lambda row: row.first.y0)


def _repeats(text: str, number: str) -> bool:
    """Decide whether the number at an amount is that of a row, which may be its letter alone."""
    return _bare(text) == _bare(number) or (_bare(number).isalpha() and _bare(text).endswith(_bare(number)))


def _bare(number: str) -> str:
    return number.strip("(). ")


def _number_of(run: Run) -> str:
    """Give the number that a run begins with or is; "" where it has none: "a" by itself is a word."""
    word = run.text.split(None, 1)[0]
    is_number = is_line_number(word) and not (word.isalpha() and word != run.text)
    return word if is_number else ""


def find_worksheet_rows(drawing: Drawing) -> list[CellRow]:
    """Find the rows of a printed worksheet.

    Args:
        drawing: The region.

    Returns:
        Rows; none if too few of them repeat their number at the amount.
    """
    limits = load_tables().worksheets
    numbered = _find_numbered_rows(drawing.runs)
    if len(numbered) < limits.least_rows:
        return []
    left = min(row.first.x0 for row in numbered)
    words_x0 = min(
        (run.x0 for row in numbered for run in _split_number(row.first, drawing.runs)[1:]),
        default=left + limits.number_pt,
    )
    ends = {id(row.repeat) for row in numbered}
    rows: list[CellRow] = [[]]
    is_note, is_ended = True, False
    for line in find_lines(drawing.runs):
        first, words = line[0], line
        if first.x0 <= left + limits.number_pt and _number_of(first):
            parts = [*_split_number(first, ()), *line[1:]]
            rows.append([RowCell(0, False, runs=parts[:1])])
            words, is_note = parts[1:], False
        elif is_ended or _is_answer(first.text) or (first.x0 < words_x0 - 2.0 and not is_note):
            rows.append([])
            is_note = True
        is_ended = any(id(run) in ends for run in line)
        _extend(rows[-1], words)
    return [row for row in rows if row]


def _split_number(run: Run, runs: Sequence[Run]) -> list[Run]:
    """Split a run into the number that it begins with and its words; those of a number alone stand next to it."""
    number, _, words = run.text.partition(" ")
    if not words:
        adjacent = [other for other in runs if abs(other.middle - run.middle) <= 3.0 and other.x0 > run.x1]
        return [run, *sorted(adjacent, key=lambda other: other.x0)[:1]]
    at = run.x0 + (run.x1 - run.x0) * (len(number) + 1) / len(run.text)
    return [replace(run, text=number, x1=at), replace(run, text=words.strip(), x0=at)]


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
