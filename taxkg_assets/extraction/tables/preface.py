"""What is inside the borders of a table and in none of its columns: its title, a preface, and notes at its end.

The preface and the notes are rows beyond a drawn line that the table's verticals do not cross. They ask to check boxes
or say how to use the table, though some of them have several pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from taxkg_assets.extraction.layout.ruling import RuledLine
from taxkg_assets.extraction.layout.text_runs import Run, find_lines, join_text
from taxkg_assets.extraction.tables.cells import NOTE_COLUMN, Cell, FoundTable
from taxkg_assets.extraction.tables.grid import Grid, Row
from taxkg_assets.extraction.tables.row_cells import bounding_box_of
from taxkg_assets.rules.models.tables import load_tables

_SLACK_PT = 2.5
# The strokes of one vertical follow each other within this distance.
_STROKE_GAP_PT = 8.0
# The side of a box to check is at most this part of the vertical that it is in line with.
_BOX_FRAC = 0.3
# Between words of one sentence the gap is at most this part of the type size.
_WORD_GAP_SIZES = 0.6
_FIELD_ROWS = 2


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows around a table's body: `preface` above, `notes` below, and the bold title in the preface."""

    title: str = ""
    preface: tuple[Row, ...] = ()
    notes: tuple[Row, ...] = ()


_NO_FRAME = Frame()


def split_frame(grid: Grid) -> tuple[Frame, Grid]:
    """Separate the preface above and the notes below the body of a table.

    Args:
        grid: Grid of the table.

    Returns:
        Preface and notes, which may be empty, and the grid of the other rows.
    """
    fields, grid = _split_fields(grid)
    frame, grid = _split_ruled(grid)
    return (replace(frame, preface=(*fields, *frame.preface)) if fields else frame), grid


def _split_fields(grid: Grid) -> tuple[tuple[Row, ...], Grid]:
    """Separate the rows of blanks to fill in at the top of a statement: each names them, as `Name:`, and heads none."""
    first_ix = next((ix for ix, row in enumerate(grid.rows) if not _names_blanks(row)), len(grid.rows))
    # One such row may be the header of a list of names.
    if first_ix < _FIELD_ROWS or len(grid.rows) - first_ix < 2:
        return (), grid
    return tuple(grid.rows[:first_ix]), replace(grid, rows=grid.rows[first_ix:])


def _names_blanks(row: Row) -> bool:
    return len(row.cells) > 1 and all(load_tables().blanks.matches(join_text(cell)) for cell in row.cells.values())


def _split_ruled(grid: Grid) -> tuple[Frame, Grid]:
    """Separate the rows beyond a drawn line that the table's verticals do not cross."""
    spans = _find_verticals(grid)
    if not spans:
        return _NO_FRAME, grid
    top, bottom = min(start for start, _ in spans), max(end for _, end in spans)
    first_ix = next((ix for ix, row in enumerate(grid.rows) if _middle(row) >= top), len(grid.rows))
    # A title is separated later.
    first_ix = 0 if split_title(grid)[0] else first_ix
    stop = next((ix for ix, row in enumerate(grid.rows) if _middle(row) > bottom), len(grid.rows))
    preface, rows, notes = grid.rows[:first_ix], grid.rows[first_ix:stop], grid.rows[stop:]
    if len(rows) < 3 or len(rows[0].cells) < 2:
        return _NO_FRAME, grid
    title = ""
    if not _is_apart(grid, preface, below=rows[0], above=None):
        preface, rows = (), (*preface, *rows)
    elif _is_one_text(grid, lines := find_lines(preface[0].runs)) and lines[0][0].is_bold:
        title, preface = join_text(preface[0].runs), preface[1:]
    if not _is_apart(grid, notes, below=None, above=rows[-1]):
        notes, rows = (), (*rows, *notes)
    return (Frame(title, preface, notes), replace(grid, rows=rows)) if preface or notes else (_NO_FRAME, grid)


def split_title(grid: Grid) -> tuple[str, Grid]:
    """Separate the title of a table that is printed in its first row, across several columns.

    Args:
        grid: Grid of the table.

    Returns:
        The title, empty for none, and the grid of the other rows.
    """
    row = grid.rows[0]
    if len(row.cells) < 2 or 0 not in row.cells or len(grid.rows) < 3:
        return "", grid
    lines = find_lines(row.runs)
    left, right = grid.columns[0]
    is_title = lines[0][0].is_bold and lines[0][-1].x1 > right
    if not is_title or any(line[0].x0 > right or line[0].x0 < left - 2 for line in lines):
        return "", grid
    if not _is_one_text(grid, lines):
        return "", grid
    return join_text([run for line in lines for run in line]), replace(grid, rows=grid.rows[1:])


def _is_one_text(grid: Grid, lines: Sequence[Sequence[Run]]) -> bool:
    """Decide whether the runs of each line go on from one another."""
    return all(_is_set_on(grid, *pair) for line in lines for pair in pairwise(line))


def _is_set_on(grid: Grid, left: Run, right: Run) -> bool:
    """Decide whether a run continues the one before it on its line: the gap is one between words, and undivided."""
    gap = right.x0 - left.x1
    return gap <= _WORD_GAP_SIZES * left.size_pt and not _is_divided(grid, left.x1, right.x0, left.middle)


def _is_divided(grid: Grid, left: float, right: float, y: float) -> bool:
    return any(left <= line.at <= right and line.start <= y <= line.end for line in grid.drawing.ruling.verticals)


def add_frame(table: FoundTable, frame: Frame) -> FoundTable:
    """Add preface and notes to a table as cells without a column.

    Args:
        table: Table without preface and notes.
        frame: Preface and notes, from `split_frame`.

    Returns:
        The table; its rows are numbered after those of the preface.
    """
    if frame is _NO_FRAME:
        return table
    preface_cells, note_cells = _read_notes(frame.preface), _read_notes(frame.notes)
    cells = [replace(cell, row_ix=cell.row_ix + len(preface_cells)) for cell in table.cells]
    first_note_row = max(cell.row_ix for cell in cells) + 1
    note_cells = [replace(cell, row_ix=cell.row_ix + first_note_row) for cell in note_cells]
    title = " ".join(filter(None, (frame.title, table.title)))
    return replace(table, title=title, cells=(*preface_cells, *cells, *note_cells), is_titled=bool(frame.title))


def _read_notes(rows: Sequence[Row]) -> list[Cell]:
    texts = [(join_text(row.runs), bounding_box_of(row.runs)) for row in rows if row.runs]
    return [Cell(ix, NOTE_COLUMN, text, "", text, box) for ix, (text, box) in enumerate(texts)]


def _find_verticals(grid: Grid) -> list[tuple[float, float]]:
    """Find where each vertical between two columns begins and ends; none unless all of them are drawn."""
    edges = [left for left, _ in grid.slabs[1:]]
    if not edges or len(grid.slabs) != len(grid.columns):
        return []
    verticals = grid.drawing.ruling.verticals
    lines = [[line for line in verticals if abs(line.at - edge) <= _SLACK_PT] for edge in edges]
    if not all(lines):
        return []
    spans = [sorted(_join_strokes(column_strokes), key=_length) for column_strokes in lines]
    # Long strokes apart from each other are those of several tables.
    is_several = any(len(span) > 1 and _length(span[-2]) > _BOX_FRAC * _length(span[-1]) for span in spans)
    return [] if is_several else [span[-1] for span in spans]


def _length(span: tuple[float, float]) -> float:
    return span[1] - span[0]


def _join_strokes(lines: Sequence[RuledLine]) -> list[tuple[float, float]]:
    """Join the strokes of a vertical; the side of a box that is drawn apart from them stays by itself."""
    spans: list[tuple[float, float]] = []
    for line in sorted(lines, key=lambda line: line.start):
        if spans and line.start - spans[-1][1] <= _STROKE_GAP_PT:
            spans[-1] = (spans[-1][0], max(spans[-1][1], line.end))
        else:
            spans.append((line.start, line.end))
    return spans


def _is_apart(grid: Grid, rows: Sequence[Row], *, below: Row | None, above: Row | None) -> bool:
    """Decide whether rows are beyond a line next to a row of the table, and one of them is in several columns.

    A row of several bold cells is a header whose own verticals are not drawn.
    """
    if not any(len(row.cells) > 1 and not all(run.is_bold for run in row.runs) for row in rows):
        return False
    high, low = (above, rows[0]) if above is not None else (rows[-1], below)
    return high is not None and low is not None and _is_ruled_off(grid, _middle(high), _middle(low))


def _is_ruled_off(grid: Grid, above: float, below: float) -> bool:
    """Decide whether a line is drawn between two heights over the width of the table, in one stroke or several."""
    strokes = [line for line in grid.drawing.ruling.horizontals if above < line.at < below]
    covered = sum(line.end - line.start for line in strokes)
    return covered >= load_tables().grid.row_line_frac * grid.drawing.box.width


def _middle(row: Row) -> float:
    return sum(run.middle for run in row.runs) / len(row.runs) if row.runs else (row.y0 + row.y1) / 2
