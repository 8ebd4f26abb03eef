"""Which rows of a grid are headers, and which columns each header speaks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.layout.text_runs import Run, is_amount, is_note, is_numbered, is_year, join_text
from taxkg_assets.extraction.tables.grid import Box, Grid, Row, column_of
from taxkg_assets.rules.models.tables import load_tables


@dataclass(frozen=True, slots=True)
class HeaderBlock:
    """One header cell: its text and the columns that it is over."""

    text: str
    y0: float
    first: int
    last: int


def count_header_rows(grid: Grid) -> int:
    """Decide how many rows at the top are headers.

    Args:
        grid: Grid of the table.

    Returns:
        Number of header rows.
    """
    rows = grid.rows
    if is_worksheet(grid):
        return 0
    body = rows[len(rows) // 3 :]
    is_numeric = amount_frac([text for row in body for text in _after_stub(row)]) >= load_tables().header.amount_frac
    has_bold_body = _share([_is_bold(row) for row in body]) > 0.6
    has_bold_cells = _share([_is_bold_after_stub(row) for row in body]) > 0.3
    has_filled_body = _share([_is_filled(grid, row) for row in body]) > 0.6
    count = 0
    if _begins_with_group(grid):
        return 0
    banners = find_banners(grid)
    for ix, row in enumerate(rows[:-1]):
        adjacent = _after_stub(row)
        if count and not is_worded(row):
            count += 1
            continue
        if ix in banners or (is_numeric and _is_body(grid, row)):
            break
        is_distinct = (_is_bold(row) and not has_bold_body) or (_is_filled(grid, row) and not has_filled_body)
        is_distinct = is_distinct or (_is_bold_after_stub(row) and not has_bold_cells)
        is_words = (
            is_numeric
            and not (grid.drawing.is_open and 0 in row.cells)
            and not any(is_amount(text) for text in adjacent)
        )
        if not (is_distinct or (is_words and (adjacent or count == 0 or _is_bold(row)))):
            break
        if count and _is_group(grid, row) and _is_complete(grid, rows[:count]):
            break
        count += 1
    return count


def _begins_with_group(grid: Grid) -> bool:
    """Decide whether a table of two columns has no header, but names of groups, with which it begins."""
    rows = grid.rows
    first = next((ix for ix, row in enumerate(rows) if len(row.cells) > 1), 0)
    if not grid.has_plain_names or not first or _is_bold(rows[first]):
        return False
    return all(_is_group(grid, row) for row in rows[:first]) and any(_is_group(grid, row) for row in rows[first:])


def _is_body(grid: Grid, row: Row) -> bool:
    """Decide whether a row is filled with amounts, its name included: shaded or not, it is no header."""
    texts = [join_text(cell) for cell in row.cells.values()]
    is_filled = 0 in row.cells and len(texts) >= 0.7 * len(grid.columns)
    return is_filled and all(is_amount(text) and not is_year(text) for text in texts)


def find_banners(grid: Grid) -> set[int]:
    """Find the bold rows that name the blocks of columns below them, each with a figure, as a state with its rate.

    There are several of them: one alone is a header, unless the headers are on an earlier page.

    Args:
        grid: Grid of the table.

    Returns:
        Numbers of the rows, from 0.
    """
    if len(grid.slabs) < 3:
        return set()
    found = {ix for ix, row in enumerate(grid.rows) if row.runs and _is_bold(row) and _names_blocks(grid, row)}
    return found if len(found) > 1 or grid.is_continued else set()


def _names_blocks(grid: Grid, row: Row) -> bool:
    named = {text for text in find_banner(grid, row).values() if text[:1].isalpha() and any(map(str.isdigit, text))}
    return len(named) > 1 and any(is_amount(run.text) for run in row.runs)


def find_banner(grid: Grid, row: Row) -> dict[int, str]:
    """Find what a row says of each column: the words between the drawn verticals next to it.

    Args:
        grid: Grid of the table.
        row: The row.

    Returns:
        Words by column.
    """
    found: dict[int, str] = {}
    for low, high in grid.slabs:
        text = join_text(run for run in row.runs if low <= run.center <= high)
        columns = [ix for ix, (left, right) in enumerate(grid.columns) if low <= (left + right) / 2 <= high]
        found |= dict.fromkeys(columns if text else (), text)
    return found


def is_worded(row: Row) -> bool:
    """Decide whether a row prints letters or digits; a dash alone continues a wrapped header."""
    return any(letter.isalnum() for run in row.runs for letter in run.text)


def is_worksheet(grid: Grid) -> bool:
    """Return whether the rows are numbered lines to fill in: such a table has no header row.

    Args:
        grid: Cells of the table, by row and column.
    """
    firsts = [next(iter(row.cells.values()))[0].text for row in grid.rows if row.cells]
    numbered = sum(is_numbered(text) for text in firsts)
    least = load_tables().grid.numbered_lines
    return bool(numbered >= least and numbered >= 0.5 * len(firsts))


def find_header_blocks(grid: Grid, header_count: int) -> list[HeaderBlock]:
    """Stack the runs of the header rows into cells and find the columns that each is over.

    Args:
        grid: Grid of the table.
        header_count: Number of header rows.

    Returns:
        Header cells from top to bottom.
    """
    zone = grid.rows[:header_count]
    bottom = zone[-1].y1 if zone else 0.0
    named = [
        HeaderBlock(join_text(runs), min(run.y0 for run in runs), column, column)
        for row in zone
        if row.is_full
        for column, runs in row.cells.items()
    ]
    stacks: list[list[Run]] = [group for row in zone if not row.is_full for group in row.groups]
    loose = [run for row in zone if not row.groups for run in row.runs]
    for run in sorted(loose, key=lambda run: (round(run.middle), run.x0)):
        home = next((stack for stack in reversed(stacks) if _continues(grid, stack, run)), None)
        if home is None:
            stacks.append([run])
        else:
            home.append(run)
    blocks = named + [_place_block(grid, stack, stacks, bottom) for stack in stacks]
    return sorted(blocks, key=lambda block: (block.first, round(block.y0), block.last))


def find_later_headers(grid: Grid, header_count: int, paths: Sequence[str]) -> dict[int, list[str]]:
    """Find header rows inside the body.

    A row that names nearly all columns replaces the paths, one that names some refines them.

    Args:
        grid: Grid of the table.
        header_count: Number of header rows at its top.
        paths: Column paths of these.

    Returns:
        Column paths by the row from which they apply.
    """
    found: dict[int, list[str]] = {}
    rows = grid.rows
    body = [text for row in rows[header_count:] for text in _after_stub(row)]
    if (
        amount_frac(body) < load_tables().header.amount_frac
        or _share([_is_bold(row) for row in rows[header_count:]]) > 0.4
    ):
        return found
    for i in range(header_count, len(rows) - 1):
        row = rows[i]
        texts = {column: join_text(cell) for column, cell in row.cells.items()}
        is_unnamed = grid.drawing.is_open and 0 not in row.cells
        if (
            not (_is_bold(row) or is_unnamed)
            or len(texts) < max(2, 0.5 * len(grid.columns))
            or any(map(is_amount, texts.values()))
        ):
            continue
        above = rows[i - 1] if i > header_count else None
        if above is not None and _is_years(above):
            year = join_text(above.runs)
            texts = {column: f"{year} > {text}" if column else text for column, text in texts.items()}
        elif above is not None and len(above.cells) == 1 and _is_group(grid, above):
            for column, cell in above.cells.items():
                texts[column] = f"{join_text(cell)} {texts.get(column, '')}".strip()
        if texts.keys() >= set(range(1, len(grid.columns))):
            found[i] = [texts.get(column, path) for column, path in enumerate(paths)]
        else:
            found[i] = [" > ".join(filter(None, (path, texts.get(k)))) for k, path in enumerate(paths)]
    return found


def is_group_row(grid: Grid, row: Row) -> bool:
    """Decide whether a body row is a heading over the rows after it.

    Args:
        grid: Grid of the table.
        row: The row.

    Returns:
        True for a heading.
    """
    return _is_group(grid, row)


def _is_group(grid: Grid, row: Row) -> bool:
    runs = row.runs
    if not runs or not is_worded(row) or any(is_amount(run.text) for run in runs):
        return False
    if not (_is_bold(row) or _is_filled(grid, row)) or is_note(runs[0].text):
        return False
    if len(row.cells) == 1:
        if len(grid.columns) >= 3 or (grid.has_plain_names and 0 in row.cells and _is_bold(row)):
            return True
        return abs(_middle(grid) - runs[0].center) < 0.1 * grid.drawing.box.width
    centered = [run for run in runs if _slab_span(grid, run) is not None]
    return len(centered) == len(runs) and len(runs) <= max(1, len(grid.columns) // 2)


def _is_years(row: Row) -> bool:
    """Decide whether a row prints one year that heads the columns below it."""
    return len(row.cells) == 1 and all(is_year(run.text) for run in row.runs)


def group_columns(grid: Grid, row: Row) -> list[tuple[str, int, int]]:
    """Read a heading row.

    Args:
        grid: Grid of the table.
        row: The row.

    Returns:
        Text, first and last column of each of its pieces.
    """
    if len(row.cells) == 1:
        return [(join_text(row.runs), 0, len(grid.columns) - 1)]
    pieces = []
    for run in row.runs:
        span = _slab_span(grid, run)
        pieces.append((run.text, *(span if span else (0, len(grid.columns) - 1))))
    return pieces


def _place_block(grid: Grid, stack: list[Run], stacks: list[list[Run]], bottom: float) -> HeaderBlock:
    x0, x1 = min(run.x0 for run in stack), max(run.x1 for run in stack)
    y0, y1 = min(run.y0 for run in stack), max(run.y1 for run in stack)
    box = Box(x0, y0, x1, y1)
    span = _underlined_columns(grid, box, bottom) or _centered_columns(grid, stack, stacks, box)
    first, last = span or _covered_columns(grid, box)
    return HeaderBlock(join_text(stack), y0, first, last)


def _underlined_columns(grid: Grid, box: Box, bottom: float) -> tuple[int, int] | None:
    """Find the columns that a line right under a header, narrower than the space between verticals, covers."""
    center = (box.x0 + box.x1) / 2
    line = grid.drawing.ruling.below(center, box.y1 - 4)
    if line is None or line.at >= min(bottom - 2, box.y1 + 8) or line.start > box.x0 + 2 or line.end < box.x1 - 2:
        return None
    left, right = _walls(grid, center, (box.y0 + box.y1) / 2)
    if line.start <= left + 4 and line.end >= right - 4:
        return None
    left, right = max(left, line.start), min(right, line.end)
    covered = [i for i, (a, b) in enumerate(grid.columns) if left - 3 <= (a + b) / 2 <= right + 3]
    return (covered[0], covered[-1]) if covered else None


def _centered_columns(grid: Grid, stack: list[Run], stacks: list[list[Run]], box: Box) -> tuple[int, int] | None:
    """Let a header speak for all columns of its drawn cell: alone in the cell, or centered alone in its lines."""
    left, right = _walls(grid, (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
    inside = [i for i, (a, b) in enumerate(grid.columns) if left - 2 <= (a + b) / 2 <= right + 2]
    span = (inside[0], inside[-1]) if inside else None
    if _is_alone(grid, stack, stacks, Box(left, box.y0, right, box.y1)):
        return span
    adjacent = any(
        run.y0 < box.y1 - 3 and run.y1 > box.y0 + 3 and left <= run.center <= right
        for other in stacks
        if other is not stack
        for run in other
    )
    off_center = abs((box.x0 + box.x1) / 2 - (left + right) / 2)
    if adjacent or off_center > max(6.0, load_tables().header.centered_frac * (right - left)):
        return None
    return span


def _is_alone(grid: Grid, stack: list[Run], stacks: list[list[Run]], box: Box) -> bool:
    """Decide whether a header is the only one in a cell that lines close above and below, over its whole width."""
    ruling, center = grid.drawing.ruling, (box.x0 + box.x1) / 2
    above, below = ruling.above(center, box.y0 + 4), ruling.below(center, box.y1 - 4)
    if above is None or below is None:
        return False
    if any(line.start > box.x0 + 4 or line.end < box.x1 - 4 for line in (above, below)):
        return False
    cell = Box(box.x0, above.at, box.x1, below.at)
    return not any(cell.holds(run, 0.0) for other in stacks if other is not stack for run in other)


def _covered_columns(grid: Grid, box: Box) -> tuple[int, int]:
    """Find the columns that a header's own words cover."""
    covered = [i for i, (a, b) in enumerate(grid.columns) if min(b, box.x1) - max(a, box.x0) >= 0.5 * (b - a)]
    if len(covered) >= 2:
        return covered[0], covered[-1]
    best = column_of(Run("", box.x0, box.y0, box.x1, box.y1, 0.0, False), grid.columns)
    return best, best


def _walls(grid: Grid, x: float, y: float) -> tuple[float, float]:
    left, right = grid.drawing.ruling.left(x, y), grid.drawing.ruling.right(x, y)
    box = grid.drawing.box
    return (left.at if left else box.x0), (right.at if right else box.x1)


def _slab_span(grid: Grid, run: Run) -> tuple[int, int] | None:
    """Give the columns of the slab that a run is centered in, if it is alone over several columns."""
    for a, b in grid.slabs:
        if a <= run.center <= b and abs(run.center - (a + b) / 2) <= max(
            6.0, load_tables().header.centered_frac * (b - a)
        ):
            inside = [i for i, (c, d) in enumerate(grid.columns) if a - 2 <= (c + d) / 2 <= b + 2]
            return (inside[0], inside[-1]) if len(inside) > 1 else None
    return None


def _continues(grid: Grid, stack: list[Run], run: Run) -> bool:
    """Decide whether a run is the next line of a header cell."""
    last = stack[-1]
    x0, x1 = min(part.x0 for part in stack), max(part.x1 for part in stack)
    ruling = grid.drawing.ruling
    if abs(run.middle - last.middle) <= 2.0:
        is_same_column = column_of(run, grid.columns) == column_of(last, grid.columns)
        return is_same_column and 0 <= run.x0 - last.x1 <= 0.6 * run.size_pt
    overlap = min(x1, run.x1) - max(x0, run.x0)
    if overlap < 0.3 * min(x1 - x0, run.x1 - run.x0) or run.middle - last.middle > 1.45 * max(
        run.size_pt, last.size_pt
    ):
        return False
    line = ruling.below(run.center, last.middle)
    if line is not None and line.at < run.middle:
        return False
    wall = ruling.right(min(last.center, run.center), run.middle)
    return wall is None or wall.at >= max(last.center, run.center) or last.center == run.center


def _is_complete(grid: Grid, rows: Sequence[Row]) -> bool:
    """Decide whether header rows already name most columns."""
    named = {column for row in rows for column in row.cells}
    return len(named) >= 0.7 * len(grid.columns)


def _after_stub(row: Row) -> list[str]:
    return [join_text(cell) for column, cell in row.cells.items() if column > 0]


def _is_bold_after_stub(row: Row) -> bool:
    """Decide whether most cells next to the first column are bold."""
    bold = [all(run.is_bold for run in cell) for column, cell in row.cells.items() if column > 0]
    return len(bold) >= 2 and sum(bold) >= 0.7 * len(bold)


def _is_bold(row: Row) -> bool:
    letters = sum(len(run.text) for run in row.runs)
    return letters > 0 and sum(len(run.text) for run in row.runs if run.is_bold) >= 0.8 * letters


def _is_filled(grid: Grid, row: Row) -> bool:
    runs = row.runs
    filled = sum(
        any(
            fill.x0 - 1 <= run.center <= fill.x1 + 1 and fill.y0 - 1 <= run.middle <= fill.y1 + 1
            for fill in grid.drawing.fills
        )
        for run in runs
    )
    return bool(runs) and filled >= 0.8 * len(runs)


def amount_frac(texts: Sequence[str]) -> float:
    """Compute the share of texts that are amounts.

    Args:
        texts: Texts of cells.

    Returns:
        Share from 0 to 1; 0 without texts.
    """
    return sum(is_amount(text) for text in texts) / len(texts) if texts else 0.0


def _share(holds: Sequence[bool]) -> float:
    return sum(holds) / len(holds) if holds else 0.0


def _middle(grid: Grid) -> float:
    return (grid.drawing.box.x0 + grid.drawing.box.x1) / 2
