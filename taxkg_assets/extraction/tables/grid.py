"""A table region to columns and rows: drawn borders where there are any, gaps in the text where there are none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from taxkg_assets.extraction.layout.ruling import RuledLine, Ruling
from taxkg_assets.extraction.layout.text_runs import Run, find_lines, is_amount, is_numbered, is_year
from taxkg_assets.extraction.pdf.model import Fill
from taxkg_assets.rules.models.tables import load_tables


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle on a page, in points: `Corners` with names, for the regions and cells of tables."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Return the width, in points."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Return the height, in points."""
        return self.y1 - self.y0

    def holds(self, run: Run, slack: float = 1.5) -> bool:
        """Return whether the center of a text run is inside the rectangle.

        Args:
            run: Text run.
            slack: Points by which the center may be outside.
        """
        if not self.y0 - slack <= (run.y0 + run.y1) / 2 <= self.y1 + slack:
            return False
        return self.x0 - slack <= (run.x0 + run.x1) / 2 <= self.x1 + slack


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything printed inside one table region.

    Attributes:
        box: Rectangle of the region.
        runs: Text runs inside it.
        ruling: Ruled lines inside it.
        fills: Shaded rectangles inside it.
        is_open: Whether no border is drawn around it.
    """

    box: Rectangle
    runs: tuple[Run, ...]
    ruling: Ruling
    fills: tuple[Fill, ...]
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: its runs by column.

    Attributes:
        groups: Runs of each cell, if tags mark the cells.
        is_full: Whether every column has a cell, so that the n-th group is in the n-th column.
        shared_name: Name of a row above, if drawn lines enclose it with this row.
    """

    y0: float
    y1: float
    cells: dict[int, list[Run]]
    groups: tuple[list[Run], ...] = ()
    is_full: bool = False
    shared_name: str = ""

    @property
    def runs(self) -> list[Run]:
        """Return the runs of all cells, column by column."""
        return [run for cell in self.cells.values() for run in cell]


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns and rows of one table.

    Attributes:
        drawing: Everything printed inside the table.
        columns: Left and right edge of each column, in points.
        slabs: Left and right edge of each stretch between drawn vertical lines; it may hold several columns.
        rows: Rows from top to bottom.
        has_plain_names: Whether the first of two columns is not bold, so that a lone bold cell names the rows below it.
        is_continued: Whether the header rows are on an earlier page.
    """

    drawing: Drawing
    columns: tuple[tuple[float, float], ...]
    slabs: tuple[tuple[float, float], ...]
    rows: tuple[Row, ...]
    has_plain_names: bool = False
    is_continued: bool = False


def find_grid(drawing: Drawing) -> Grid:
    """Divide a table region into rows and columns, and assign every run to a cell.

    Args:
        drawing: The region with its runs and lines.

    Returns:
        The grid.
    """
    slabs = find_slabs(drawing)
    columns = tuple(column for slab in slabs for column in _split_slab(slab, drawing.runs))
    rows: list[Row] = []
    borders = _find_row_borders(drawing)
    is_spaced = len(borders) - 1 <= load_tables().grid.spaced_bands
    for top, bottom in pairwise(borders):
        band = [run for run in drawing.runs if top <= run.middle < bottom]
        if band:
            rows.extend(_split_band(band, columns, (top, bottom), is_spaced=is_spaced))
    return Grid(drawing, columns, slabs, tuple(rows), has_plain_names(rows, column_count=len(columns)))


def has_plain_names(rows: Sequence[Row], *, column_count: int) -> bool:
    """Return whether a table has two columns and hardly any bold row name.

    Args:
        rows: Rows of the table.
        column_count: Number of columns of the table.
    """
    row_names = [row.cells[0] for row in rows if len(row.cells) == 2] if column_count == 2 else []
    bold_count = sum(all(run.is_bold for run in name) for name in row_names)
    return len(row_names) > 2 and bold_count <= max(1, load_tables().grid.bold_names_frac * len(row_names))


def column_of(run: Run, columns: Sequence[tuple[float, float]]) -> int:
    """Return the column that a run overlaps most, the leftmost if several overlap equally.

    Args:
        run: The run.
        columns: Left and right edge of each column, in points.

    Returns:
        Number of the column, from 0.
    """
    for column, (x0, x1) in enumerate(columns):
        if x0 <= run.x0 and run.x1 <= x1:
            return column
    overlaps = [min(run.x1, x1) - max(run.x0, x0) for x0, x1 in columns]
    return max(range(len(columns)), key=lambda column: (round(overlaps[column]), -column))


def find_slabs(drawing: Drawing) -> tuple[tuple[float, float], ...]:
    """Divide a table region at vertical lines that cross most of its height.

    Args:
        drawing: The region with its lines.

    Returns:
        Left and right edge of each slab, in points.
    """
    box, min_share = drawing.box, load_tables().grid.vertical_frac
    edges = [box.x0]
    for x, length in _sum_lengths(drawing.ruling.verticals, low=box.y0, high=box.y1):
        if length >= min_share * box.height and edges[-1] + 6 < x < box.x1 - 6:
            edges.append(x)
    edges.append(box.x1)
    return tuple(pairwise(edges))


def _sum_lengths(lines: Iterable[RuledLine], *, low: float, high: float) -> list[tuple[float, float]]:
    """Sum the lengths of lines that are next to each other, clipped to a range."""
    groups: list[list[tuple[float, float, float]]] = []
    for line in lines:
        start, end = max(line.start, low), min(line.end, high)
        if end <= start:
            continue
        if groups and line.at - groups[-1][0][0] <= 2.5:
            groups[-1].append((line.at, start, end))
        else:
            groups.append([(line.at, start, end)])
    return [(sum(at for at, _, _ in group) / len(group), _covered(group)) for group in groups]


def _covered(group: list[tuple[float, float, float]]) -> float:
    covered_length, reached = 0.0, float("-inf")
    for _, start, end in sorted(group, key=lambda part: part[1]):
        covered_length += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return covered_length


def _split_slab(slab: tuple[float, float], runs: Sequence[Run]) -> list[tuple[float, float]]:
    """Divide a slab at the gutters that nearly all of its full lines leave free."""
    rules = load_tables().grid
    x0, x1 = slab
    inner_runs = [run for run in runs if run.x0 >= x0 - 3 and run.x1 <= x1 + 3]
    lines = find_lines(inner_runs)
    max_runs = max((len(line) for line in lines), default=0)
    full_lines = [line for line in lines if len(line) >= max(2, rules.full_row_frac * max_runs)]
    if max_runs < 2 or len(full_lines) < 2 or (len(full_lines) < 3 and len(full_lines) < 0.3 * len(lines)):
        return [slab]
    pieces = _inked_pieces(slab, full_lines)
    min_lines = max(2.0, 0.15 * len(full_lines))
    column_pieces = [
        (left_edge, right_edge)
        for left_edge, right_edge in pieces
        if sum(any(left_edge <= run.center <= right_edge for run in line) for line in full_lines) >= min_lines
    ]
    if len(column_pieces) < 2:
        return [slab]
    edges = [x0, *((left[1] + right[0]) / 2 for left, right in pairwise(column_pieces)), x1]
    return list(pairwise(edges))


def _inked_pieces(slab: tuple[float, float], full_lines: Sequence[Sequence[Run]]) -> list[tuple[float, float]]:
    """List the stretches of a slab that more than a few full lines print on."""
    rules = load_tables().grid
    x0, x1 = slab
    width = int(x1 - x0) + 2
    counts = [0] * width
    for line in full_lines:
        for run in line:
            for x in range(max(0, round(run.x0 - x0)), min(width, round(run.x1 - x0) + 1)):
                counts[x] += 1
    allowed = rules.crossing_frac * len(full_lines)
    pieces: list[tuple[float, float]] = []
    for x in (x for x in range(width) if counts[x] > allowed):
        if pieces and x0 + x - pieces[-1][1] <= rules.gutter_pt:
            pieces[-1] = (pieces[-1][0], x0 + x)
        else:
            pieces.append((x0 + x, x0 + x))
    return pieces


def _find_row_borders(drawing: Drawing) -> list[float]:
    """List the tops and bottoms of bands: wide horizontals and the edges of wide shading."""
    box, min_share = drawing.box, load_tables().grid.row_line_frac
    heights = [
        y
        for y, length in _sum_lengths(drawing.ruling.horizontals, low=box.x0, high=box.x1)
        if length >= min_share * box.width
    ]
    for fill in drawing.fills:
        if fill.x1 - fill.x0 >= min_share * box.width and fill.y1 - fill.y0 <= 60:
            heights += [fill.y0, fill.y1]
    borders = [box.y0 - 3]
    for y in sorted(heights):
        if borders[-1] + 4 < y < box.y1 - 3:
            borders.append(y)
    borders.append(box.y1 + 3)
    return borders


def _split_band(
    band: list[Run], columns: Sequence[tuple[float, float]], edges: tuple[float, float], *, is_spaced: bool
) -> list[Row]:
    """Divide a band into rows: at numbered lines, at amounts, or at wider gaps; else it is one row of wrapped cells."""
    lines = find_lines(band)
    cells = _by_column(band, columns)
    numbered_ixs = _numbered_lines(lines)
    if len(numbered_ixs) >= load_tables().grid.numbered_lines:
        return _rows_of([lines[i:k] for i, k in pairwise([*_heads(numbered_ixs), len(lines)])], columns, edges)
    stacked = {
        column
        for column, runs in cells.items()
        if len(runs) >= 2 and sum(is_amount(run.text) for run in runs) >= max(2, 0.6 * len(runs))
    }
    if len(lines) == 1 or not stacked:
        return _rows_of(_spaced_groups(lines, columns) if is_spaced else [lines], columns, edges)
    return _rows_of(_group_lines(lines, columns, stacked), columns, edges)


def _spaced_groups(lines: list[list[Run]], columns: Sequence[tuple[float, float]]) -> list[list[list[Run]]]:
    """Part the lines of wrapped rows that no border parts: a row begins in the first column after a wider gap."""
    gaps = [below[0].middle - above[0].middle for above, below in pairwise(lines)]
    widest = load_tables().grid.row_gap_frac * min(gaps, default=0.0)
    groups = [[lines[0]]]
    for line, gap in zip(lines[1:], gaps, strict=True):
        if gap > widest and column_of(line[0], columns) == 0:
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


def _rows_of(
    groups: Sequence[Sequence[list[Run]]], columns: Sequence[tuple[float, float]], edges: tuple[float, float]
) -> list[Row]:
    tops = [edges[0], *(min(run.y0 for line in group for run in line) for group in groups[1:]), edges[1]]
    return [
        Row(tops[i], tops[i + 1], _by_column([run for line in group for run in line], columns))
        for i, group in enumerate(groups)
    ]


def _numbered_lines(lines: Sequence[Sequence[Run]]) -> list[int]:
    """Find the lines that begin with the number of a worksheet line or, left of the numbers, with a bold step."""
    marked_ixs = [i for i, line in enumerate(lines) if is_numbered(line[0].text)]
    left_edge = min((lines[i][0].x0 for i in marked_ixs), default=0.0)
    numbered_ixs = [i for i in marked_ixs if lines[i][0].x0 <= left_edge + 16]
    steps = [
        i
        for i, line in enumerate(lines)
        if numbered_ixs and i > numbered_ixs[0] and line[0].x0 <= left_edge - 3 and all(run.is_bold for run in line)
    ]
    return sorted({*numbered_ixs, *steps})


def _heads(numbered_ixs: Sequence[int]) -> list[int]:
    """Begin a row at each numbered line; what is above the first one is a row of its own."""
    return list(numbered_ixs) if numbered_ixs[0] == 0 else [0, *numbered_ixs]


def _group_lines(
    lines: list[list[Run]], columns: Sequence[tuple[float, float]], stacked: set[int]
) -> list[list[list[Run]]]:
    """Attach lines without an amount to the row that they belong to."""
    anchors = [
        any(is_amount(run.text) and column_of(run, columns) in stacked for run in line)
        and not all(is_year(run.text) for run in line)
        for line in lines
    ]
    groups: list[list[list[Run]]] = []
    waiting_lines: list[list[Run]] = []
    has_row = False
    for i, line in enumerate(lines):
        if anchors[i]:
            groups.append([*waiting_lines, line])
            waiting_lines, has_row = [], True
        elif (
            all(run.is_bold or is_year(run.text) for run in line)
            or _names_indented(i, lines, anchors)
            or (not has_row and not _continues_upwards(line, i, lines, anchors))
        ):
            groups += [[waiting_line] for waiting_line in waiting_lines]
            groups.append([line])
            waiting_lines = []
        elif _continues_upwards(line, i, lines, anchors):
            waiting_lines.append(line)
        else:
            groups[-1].extend([*waiting_lines, line])
            waiting_lines = []
    if waiting_lines:
        groups[-1].extend(waiting_lines)
    return groups


def _names_indented(i: int, lines: list[list[Run]], anchors: list[bool]) -> bool:
    """Decide whether a line without amount names the indented rows below it, rather than being a wrapped name."""
    if len(lines[i]) != 1 or i + 1 >= len(lines) or not anchors[i + 1]:
        return False
    name, below = lines[i][0], lines[i + 1][0]
    if below.x0 <= name.x0 + 3 or below.text[:1].islower():
        return False
    if name.text.endswith(":"):
        return True
    after = lines[i + 2][0] if i + 2 < len(lines) and anchors[i + 2] else None
    return after is not None and abs(after.x0 - below.x0) <= 2 and not after.text[:1].islower()


def _continues_upwards(line: list[Run], i: int, lines: list[list[Run]], anchors: list[bool]) -> bool:
    """Decide whether a line without amount opens the row whose amount is below it."""
    following = next((k for k in range(i + 1, len(lines)) if anchors[k]), None)
    if following is None:
        return False
    pitch = 1.6 * line[0].size_pt
    if any(lines[k + 1][0].middle - lines[k][0].middle > pitch for k in range(i, following)):
        return False
    first = lines[following][0]
    starts_lower = first.text[:1].islower() or first.text[:1] in "($" or is_amount(first.text)
    return starts_lower or first.x0 > line[0].x0 + 2


def _by_column(runs: Iterable[Run], columns: Sequence[tuple[float, float]]) -> dict[int, list[Run]]:
    cells: dict[int, list[Run]] = {}
    for run in runs:
        cells.setdefault(column_of(run, columns), []).append(run)
    return dict(sorted(cells.items()))
