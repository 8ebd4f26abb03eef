"""The body of a grid to cells: which groups and names lead to each value, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from taxkg_assets.extraction.layout.regions import TableRegion
from taxkg_assets.extraction.layout.ruling import Ruling
from taxkg_assets.extraction.layout.text_runs import is_amount, is_filing_note, is_note, is_numbered, join_text
from taxkg_assets.extraction.tables.grid import Grid, Rectangle, Row
from taxkg_assets.extraction.tables.headers import find_banner, find_banners, group_columns, is_group_row
from taxkg_assets.extraction.tables.parts import Part
from taxkg_assets.extraction.tables.row_cells import bounding_box_of
from taxkg_assets.rules.models.tables import load_tables

PATH_SEPARATOR = " > "
NOTE_COLUMN = -1
"""Column of a note that is inside a table and belongs to none of its columns."""
# A frame around text has at most this many rows.
_TEXT_ROWS = 2
# Types that differ by no more are one size.
_SAME_SIZE_PT = 0.5


@dataclass(frozen=True, slots=True)
class Cell:
    """One body cell with its header paths.

    Attributes:
        row_ix: 0-based row below the headers.
        col_ix: 0-based column; `NOTE_COLUMN` for a note across the table.
        row_path: Groups and names of its row, joined with ` > `.
        col_path: Headers of its column, joined with ` > `.
        text: Words of the cell.
        box: Rectangle in points.
        column_count: Number of columns that it spans.
    """

    row_ix: int
    col_ix: int
    row_path: str
    col_path: str
    text: str
    box: Rectangle
    column_count: int = 1


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table as read from one page, without id.

    Attributes:
        region: Rectangle and kind of the table.
        title: Words of the title; empty for none.
        headers: Header path of each column.
        parts: Column ranges that are tables of their own, set side by side.
        cells: Body cells.
        path: Path of the structure tag, equal on all pages of the table; empty without tags.
        has_header_tags: Whether tags mark header cells.
        is_titled: Whether the title is inside the border.
    """

    region: TableRegion
    title: str
    headers: tuple[str, ...]
    parts: tuple[Part, ...]
    cells: tuple[Cell, ...]
    path: tuple[int, ...] = ()
    has_header_tags: bool = False
    is_titled: bool = False


@dataclass(slots=True)
class _Groups:
    """Headings over the rows that follow, one text a column; an indented group ends where the indent does.

    outer: headings that are alone in their rows, each in larger type than the next, with their size in points.
    """

    texts: list[str]
    indent_x0: float | None = None
    is_open: bool = False
    outer: list[tuple[float, str]] = field(default_factory=list)

    def take(self, grid: Grid, row_ix: int) -> bool:
        """Take a row as a group heading if it is one; consecutive heading rows form one path."""
        row = grid.rows[row_ix]
        first_cell = row.cells.get(0)
        if self.indent_x0 is not None and first_cell and first_cell[0].x0 <= self.indent_x0 + 1:
            self.texts, self.indent_x0 = [""] * len(self.texts), None
        if row_ix + 1 >= len(grid.rows):
            return False
        if _heads_indented(row, grid.rows[row_ix + 1]):
            self.indent_x0 = row.cells[0][0].x0
            self.texts = [join_text(row.cells[0])] * len(self.texts)
            return True
        is_group = is_group_row(grid, row)
        if is_group and all(is_group_row(grid, below) for below in grid.rows[row_ix + 1 :]):
            # Names over blanks at the end of a table, which no rows follow: lines of their own, outside of the group.
            self.texts, self.is_open = [""] * len(self.texts), False
            return False
        if is_group:
            self.indent_x0 = None
            within = self._nest(row)
            for text, left, right in group_columns(grid, row):
                for column in range(left, right + 1):
                    above = self.texts[column] if self.is_open else within
                    self.texts[column] = PATH_SEPARATOR.join(filter(None, (above, text)))
        self.is_open = is_group
        return is_group

    def _nest(self, row: Row) -> str:
        """Return the headings in larger type that a heading is below; one of several columns is below none."""
        if len(row.cells) != 1:
            self.outer = []
            return ""
        size = max(run.size_pt for run in row.runs)
        self.outer = [(above, text) for above, text in self.outer if above > size + _SAME_SIZE_PT]
        within = PATH_SEPARATOR.join(text for _, text in self.outer)
        self.outer.append((size, join_text(row.runs)))
        return within


def _heads_indented(row: Row, below: Row) -> bool:
    """Decide whether a row without values names the indented rows below it."""
    name, name_below = row.cells.get(0), below.cells.get(0)
    if len(row.cells) != 1 or not name or not name_below or len(below.cells) < 2:
        return False
    if name_below[0].x0 <= name[0].x0 + 3 or is_note(join_text(name)):
        return False
    return join_text(name).endswith(":") or not (name_below[0].text[:1].islower() or is_numbered(name_below[0].text))


def find_cells(grid: Grid, header_count: int, parts: Sequence[Part], headers: dict[int, list[str]]) -> list[Cell]:
    """List the body cells of a table with their header paths.

    Args:
        grid: Grid of the table.
        header_count: Number of header rows at the top.
        parts: Column ranges that are tables of their own, set side by side.
        headers: Header path of each column, by the row from which on it applies.

    Returns:
        Cells, row by row.
    """
    body = _Body(grid, header_count, parts, headers)
    return [cell for row_ix in range(header_count, len(grid.rows)) for cell in body.read_row(row_ix)]


class _Body:
    """Body of a table, read row by row: headers, banners and groups apply to the rows below them."""

    def __init__(self, grid: Grid, header_count: int, parts: Sequence[Part], headers: dict[int, list[str]]) -> None:
        self.grid, self.header_count, self.parts, self.headers = grid, header_count, parts, headers
        self.stubs = _stub_texts(grid, header_count, parts)
        self.ruled = _find_ruled(grid)
        self.banner_rows = find_banners(grid)
        self.groups = _Groups([""] * len(grid.columns))
        self.banner: dict[int, str] = {}
        self.paths = headers[header_count]

    def read_row(self, row_ix: int) -> list[Cell]:
        """Read the cells of a row; empty for a row that only names the rows below it.

        Args:
            row_ix: 0-based number of the row in the grid, after those of the rows before it.
        """
        row = self.grid.rows[row_ix]
        if self._is_header(row_ix) or self._is_banner(row_ix) or is_filing_note(join_text(row.runs)):
            return []
        if len(row.cells) == 1 and is_note(text := join_text(row.runs)):
            return [Cell(row_ix - self.header_count, NOTE_COLUMN, text, "", text, bounding_box_of(row.runs))]
        if self.groups.take(self.grid, row_ix):
            return []
        return [
            self._read_cell(row_ix, column, part, text)
            for part in self.parts
            for column in range(part.first, part.last + 1)
            if (text := join_text(row.cells.get(column, ())))
        ]

    def _is_header(self, row_ix: int) -> bool:
        """Return whether a row has later headers, which are kept, or is a group of rows above such headers."""
        if row_ix > self.header_count and row_ix in self.headers:
            self.paths = self.headers[row_ix]
            return True
        return row_ix + 1 > self.header_count and (
            row_ix + 1 in self.headers and is_group_row(self.grid, self.grid.rows[row_ix])
        )

    def _is_banner(self, row_ix: int) -> bool:
        """Return whether a row is a banner, which is kept."""
        if row_ix not in self.banner_rows:
            return False
        self.banner = find_banner(self.grid, self.grid.rows[row_ix])
        return True

    def _read_cell(self, row_ix: int, column: int, part: Part, text: str) -> Cell:
        row = self.grid.rows[row_ix]
        last_column = _find_reach(self.grid.drawing.ruling, row, column, self.ruled)
        path = self._name_row(row_ix, column, part)
        header = _join_headers(self.paths[column : last_column + 1])
        header = header or ("" if path else _nearest_header(self.paths, column, part))
        if column >= part.first + part.stub_count:
            header = self._add_banner(header, column)
        return Cell(
            row_ix - self.header_count,
            column,
            path or ("" if header else text),
            header,
            text,
            bounding_box_of(row.cells[column]),
            last_column - column + 1,
        )

    def _name_row(self, row_ix: int, column: int, part: Part) -> str:
        """Return the groups and names of the row to the left of a cell."""
        stubs = range(part.first, min(column, part.first + part.stub_count))
        names = (self.stubs.get((row_ix, stub), "") for stub in stubs)
        row_names = (name for name in names if len(name) > 1 or name.isalnum())
        return PATH_SEPARATOR.join(piece for piece in (self.groups.texts[column], *row_names) if piece)

    def _add_banner(self, header: str, column: int) -> str:
        """Return a header with the banner below it, which may repeat a header of the table for the rows below."""
        banner = self.banner.get(column)
        is_repeated = banner in header.split(PATH_SEPARATOR)
        return header if is_repeated else PATH_SEPARATOR.join(filter(None, (header, banner)))


def _find_ruled(grid: Grid) -> list[tuple[float, bool]]:
    """Find the middle of each column, and whether rows have a drawn line between it and the column before."""
    edges = [edge for edge, _ in grid.slabs[1:]]
    centers = [(left + right) / 2 for left, right in grid.columns]
    ruled = (any(before < edge < center for edge in edges) for before, center in pairwise(centers))
    return list(zip(centers, [False, *ruled], strict=False))


def _find_reach(ruling: Ruling, row: Row, column: int, ruled: Sequence[tuple[float, bool]]) -> int:
    """Find the last column that a cell reaches over: no line is drawn at its edge there, as other rows have one."""
    if column + 1 >= len(ruled) or column + 1 in row.cells or not ruled[column + 1][1]:
        return column
    run, last_row = row.cells[column][0], column
    wall = ruling.right(run.center, run.middle)
    if wall is None:
        return column
    for center, is_ruled in ruled[column + 1 :]:
        if not is_ruled or last_row + 1 in row.cells or center > wall.at:
            break
        last_row += 1
    return last_row


def _join_headers(paths: Sequence[str]) -> str:
    """Join the headers of the columns that a cell reaches over; what they have in common comes once."""
    if len(paths) == 1:
        return paths[0]
    parts = [path.split(PATH_SEPARATOR) for path in paths if path]
    common_count = 0
    while parts and all(
        len(part) > common_count + 1 and part[common_count] == parts[0][common_count] for part in parts
    ):
        common_count += 1
    leaves = ", ".join(dict.fromkeys(PATH_SEPARATOR.join(part[common_count:]) for part in parts))
    return PATH_SEPARATOR.join([*(parts[0][:common_count] if parts else ()), leaves])


def _nearest_header(paths: Sequence[str], column: int, part: Part) -> str:
    """Assign to a value without row name and header of its own the nearest header to its left in its part."""
    if column < part.first + part.stub_count:
        return ""
    return next((paths[i] for i in range(column, part.first - 1, -1) if paths[i]), "")


def _stub_texts(grid: Grid, header_count: int, parts: Sequence[Part]) -> dict[tuple[int, int], str]:
    """Return the naming text of each row; a cell that is drawn over several rows names them all."""
    texts: dict[tuple[int, int], str] = {}
    body = range(header_count, len(grid.rows))
    for part in parts:
        for column in range(part.first, part.first + part.stub_count):
            center = sum(grid.columns[column]) / 2
            for rows in _merged_rows(grid, body, center, stubs=range(part.first, column + 1)):
                texts_by_row = {row_ix: join_text(grid.rows[row_ix].cells.get(column, ())) for row_ix in rows}
                printed_texts = [text for text in texts_by_row.values() if text]
                for row_ix in rows:
                    name = grid.rows[row_ix].shared_name if column == 0 else ""
                    texts[row_ix, column] = (
                        texts_by_row[row_ix] or name or (printed_texts[0] if len(printed_texts) == 1 else "")
                    )
    return texts


def _merged_rows(grid: Grid, body: range, x: float, *, stubs: range) -> list[list[int]]:
    """Group body rows that no drawn line parts at x, where lines part them elsewhere; or that lack a name."""
    groups: list[list[int]] = []
    for i in body:
        if groups and not _is_parted(grid, i, x, stubs=stubs):
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _is_parted(grid: Grid, row_ix: int, x: float, *, stubs: range) -> bool:
    above, row = grid.rows[row_ix - 1], grid.rows[row_ix]
    low, high = min(above.y1, row.y0) - 2.5, row.y0 + 2.5
    drawn_lines = grid.drawing.ruling.between(low, high)
    if any(line.covers(x) for line in drawn_lines) or any(
        low <= fill.y0 <= high or low <= fill.y1 <= high for fill in grid.drawing.fills
    ):
        return True
    # A line under an amount alone begins a total; one under all values leaves the name to both rows.
    values = [sum(edges) / 2 for edges in grid.columns[stubs.stop :]]
    # Of a single column without verticals, all lines are under amounts alone.
    is_sum = len(values) == 1 and len(grid.slabs) == 1
    if drawn_lines and not is_sum and all(any(line.covers(value) for line in drawn_lines) for value in values):
        return False
    return not _continues_name(grid, row_ix, stubs=stubs)


def _continues_name(grid: Grid, row_ix: int, *, stubs: range) -> bool:
    """Decide whether a row without a name has more words for the row above it; amounts alone are a total."""
    row = grid.rows[row_ix]
    texts = [join_text(cell) for cell in row.cells.values()]
    is_unnamed = bool(row.groups) and not any(column in row.cells for column in stubs)
    return is_unnamed and not all(map(is_amount, texts)) and not is_group_row(grid, grid.rows[row_ix - 1])


def is_text_box(table: FoundTable) -> bool:
    """Return whether a "table" is only a frame around text: one or two rows of passages, without headers.

    Two rows of short names with a passage each are a table: the last page of a long table may have no more.

    Args:
        table: The table.
    """
    rows: dict[int, list[tuple[int, int]]] = {}
    for cell in table.cells:
        if cell.col_ix != NOTE_COLUMN:
            rows.setdefault(cell.row_ix, []).append((cell.col_ix, len(cell.text.split())))
    if not rows or any(table.headers) or len(rows) > _TEXT_ROWS:
        return False
    words = [count for row in rows.values() for _, count in row]
    limits = load_tables().regions
    if len(rows) == 1:
        return max(words) > limits.max_cell_words
    passages = sum(count > limits.passage_words for count in words)
    return 2 * passages >= len(words) and not _are_named([rows[ix] for ix in sorted(rows)], limits.passage_words)


def _are_named(rows: Sequence[Sequence[tuple[int, int]]], most_words: int) -> bool:
    """Decide whether each row begins with a short name; the first may continue the text of a row of the page before.

    Args:
        rows: Column and number of words of each cell, row by row.
        most_words: Most words of a name.
    """
    first_column = min(column for row in rows for column, _ in row)
    is_continued = len(rows[0]) == 1 and rows[0][0][0] > first_column
    named_rows = rows[1:] if is_continued else rows
    return all(len(row) > 1 and min(row)[0] == first_column and min(row)[1] <= most_words for row in named_rows)
