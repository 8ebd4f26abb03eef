"""Tables that the publisher tagged: rows and cells are stated, header paths are found as in any other grid.

Only cells with text have tags on a page. A cell's number in its row is its column where the row has all its cells; a
row with fewer has cells that reach over several columns, which their place tells.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from taxkg_assets.extraction.authored.structure_tree import TagPlace, find_places
from taxkg_assets.extraction.layout.ruling import Ruling, merge_rules
from taxkg_assets.extraction.layout.text_runs import Run, find_runs, split_leaders
from taxkg_assets.extraction.pdf.model import Page, Span
from taxkg_assets.extraction.tables.grid import Box, Drawing, Grid, Row, find_slabs
from taxkg_assets.extraction.tables.tables import FoundTable, read_grid

_NO_RULING = Ruling((), ())


@dataclass(slots=True)
class _Cell:
    """One tagged cell with its runs; `number`: its place among the cells of its row."""

    number: int
    is_header: bool
    spans: list[Span] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)


def find_tagged_tables(page: Page) -> list[FoundTable]:
    """Read the tagged tables of a page in tag order; what makes no table of two rows and columns stays text."""
    places = find_places(page.tags)
    if not any(place.table_ix >= 0 for place in places):
        return []
    tables: list[FoundTable] = []
    runs_of_page = find_runs(split_leaders(page.spans), ruling=_NO_RULING)
    ruling = merge_rules(page.rules)
    for table_ix, rows in _collect(page, places).items():
        grid = _build_grid(page, rows, ruling)
        if grid is None:
            continue
        headers = [bool(row) and all(cell.is_header for cell in row.values()) for row in rows]
        header_count = next((ix for ix, is_header in enumerate(headers) if not is_header), 0)
        table = read_grid(page, grid, runs=runs_of_page, header_count=header_count or None, tag_ix=table_ix)
        if table is not None:
            tables.append(table)
    return tables


def _collect(page: Page, places: Sequence[TagPlace]) -> dict[int, list[dict[int, _Cell]]]:
    """Collect the cells of each table by row, both by the numbers of their tags."""
    found: dict[int, dict[int, dict[int, _Cell]]] = defaultdict(dict)
    for span in page.spans:
        place = places[span.tag_ix] if span.tag_ix >= 0 else None
        if place is None or place.cell_ix < 0 or place.row_ix < 0 or not span.text.strip():
            continue
        row = found[place.table_ix].setdefault(place.row_ix, {})
        number = page.tags[place.cell_ix].path[-1]
        row.setdefault(place.cell_ix, _Cell(number, place.is_header)).spans.append(span)
    tables: dict[int, list[dict[int, _Cell]]] = {}
    for table_ix, rows in found.items():
        for row in rows.values():
            for cell in row.values():
                cell.runs = find_runs(split_leaders(cell.spans), ruling=_NO_RULING)
        kept = [{ix: cell for ix, cell in row.items() if cell.runs} for row in rows.values()]
        tables[table_ix] = [row for row in kept if row]
    return tables


def _build_grid(page: Page, rows: Sequence[dict[int, _Cell]], ruling: Ruling) -> Grid | None:
    """Build the grid of a table; None for fewer than two rows or columns."""
    widths = Counter(max(cell.number for cell in row.values()) + 1 for row in rows)
    if len(rows) < 2 or not widths:
        return None
    column_count = _count_columns(rows, widths)
    if column_count < 2:
        return None
    full = [row for row in rows if max(cell.number for cell in row.values()) + 1 == column_count]
    extents = _find_extents(full, column_count)
    if extents is None:
        return None
    box = _hull([run for row in rows for cell in row.values() for run in cell.runs])
    inner = [(left[1] + right[0]) / 2 for left, right in pairwise(extents)]
    edges = [min(box.x0, extents[0][0]), *inner, max(box.x1, extents[-1][1])]
    columns = tuple(pairwise(edges))
    runs = tuple(run for row in rows for cell in row.values() for run in cell.runs)
    fills = tuple(fill for fill in page.fills if fill.y0 < box.y1 + 2 and fill.y1 > box.y0 - 2)
    drawing = Drawing(box, runs, _cut(ruling, box), fills)
    placed = [_place_row(row, columns, is_full=any(row is other for other in full)) for row in rows]
    return Grid(drawing, columns, find_slabs(drawing), tuple(placed))


def _count_columns(rows: Sequence[dict[int, _Cell]], widths: Counter[int]) -> int:
    """Count the columns: as many as the widest rows have, if they are more than a few."""
    least = max(1, len(rows) // 10)
    return max((width for width, count in widths.items() if count >= least), default=0)


def _find_extents(full: Sequence[dict[int, _Cell]], column_count: int) -> list[tuple[float, float]] | None:
    """Find where the columns stand, from rows with all cells; None where they do not follow each other."""
    lefts: dict[int, list[float]] = defaultdict(list)
    rights: dict[int, list[float]] = defaultdict(list)
    for row in full:
        for cell in row.values():
            box = _hull(cell.runs)
            lefts[cell.number].append(box.x0)
            rights[cell.number].append(box.x1)
    known = sorted(lefts)
    extents: dict[int, tuple[float, float]] = {ix: (min(lefts[ix]), max(rights[ix])) for ix in known}
    for left, right in pairwise(known):
        if (extents[left][0] + extents[left][1]) >= (extents[right][0] + extents[right][1]):
            return None
    ordered = []
    for ix in range(column_count):
        if ix in extents:
            ordered.append(extents[ix])
        else:
            # A column that no row fills: it takes no room.
            before = ordered[-1][1] if ordered else min(extent[0] for extent in extents.values())
            ordered.append((before, before))
    return ordered


def _place_row(row: dict[int, _Cell], columns: Sequence[tuple[float, float]], *, is_full: bool) -> Row:
    """Put the cells of a row into columns: by number in a full row, else by place."""
    cells: dict[int, list[Run]] = {}
    for cell in row.values():
        box = _hull(cell.runs)
        column = cell.number if is_full else _nearest(box, columns)
        cells.setdefault(column, []).extend(cell.runs)
    box = _hull([run for runs in cells.values() for run in runs])
    return Row(box.y0, box.y1, dict(sorted(cells.items())))


def _nearest(box: Box, columns: Sequence[tuple[float, float]]) -> int:
    """Find the column that a rectangle covers most; of several covered ones the leftmost."""
    covered = [min(box.x1, right) - max(box.x0, left) for left, right in columns]
    return max(range(len(columns)), key=lambda ix: (round(covered[ix]), -ix))


def _hull(runs: Sequence[Run]) -> Box:
    return Box(
        min(run.x0 for run in runs),
        min(run.y0 for run in runs),
        max(run.x1 for run in runs),
        max(run.y1 for run in runs),
    )


def _cut(ruling: Ruling, box: Box) -> Ruling:
    """Keep the drawn lines at and inside a table."""
    return Ruling(
        tuple(
            line
            for line in ruling.horizontals
            if box.y0 - 8 <= line.at <= box.y1 + 8 and line.start < box.x1 and line.end > box.x0
        ),
        tuple(
            line
            for line in ruling.verticals
            if box.x0 - 8 <= line.at <= box.x1 + 8 and line.start < box.y1 and line.end > box.y0
        ),
    )
