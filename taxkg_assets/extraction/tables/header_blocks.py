"""Header cells of a grid: the runs of its header rows stacked into cells, and the columns that each is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.layout.text_runs import Run, join_text
from taxkg_assets.extraction.tables.grid import Grid, Rectangle, column_of
from taxkg_assets.rules.models.tables import load_tables


@dataclass(frozen=True, slots=True)
class HeaderBlock:
    """One header cell: its text, its top in points, and the first and last column that it is over."""

    text: str
    y0: float
    first: int
    last: int


def find_header_blocks(grid: Grid, header_count: int) -> list[HeaderBlock]:
    """Group the runs of the header rows into cells, and determine the columns that each covers.

    Args:
        grid: Grid of the table.
        header_count: Number of header rows.

    Returns:
        Header cells from top to bottom.
    """
    header_rows = grid.rows[:header_count]
    bottom = header_rows[-1].y1 if header_rows else 0.0
    tagged_blocks = [
        HeaderBlock(join_text(runs), min(run.y0 for run in runs), column, column)
        for row in header_rows
        if row.is_full
        for column, runs in row.cells.items()
    ]
    stacks: list[list[Run]] = [group for row in header_rows if not row.is_full for group in row.groups]
    untagged_runs = [run for row in header_rows if not row.groups for run in row.runs]
    # A raised mark belongs to the word that it is set on, whatever its height.
    words_by_mark = {id(run): word for run in untagged_runs if (word := _find_marked(run, untagged_runs)) is not None}
    ends_with_mark = {id(words_by_mark[id(run)]): run.x1 for run in untagged_runs if id(run) in words_by_mark}
    for run in sorted(untagged_runs, key=lambda run: (round(run.middle), run.x0)):
        if id(run) in words_by_mark:
            continue
        stack_of_run = next((stack for stack in reversed(stacks) if _continues(grid, stack, run, ends_with_mark)), None)
        if stack_of_run is None:
            stacks.append([run])
        else:
            stack_of_run.append(run)
    for run in untagged_runs:
        if id(run) in words_by_mark:
            stack_of_run = next(
                (stack for stack in stacks if any(word is words_by_mark[id(run)] for word in stack)), None
            )
            (stack_of_run.append(run) if stack_of_run is not None else stacks.append([run]))
    blocks = tagged_blocks + [_place_block(grid, stack, stacks, bottom) for stack in stacks]
    return sorted(blocks, key=lambda block: (block.first, round(block.y0), block.last))


def _find_marked(run: Run, other_runs: Sequence[Run]) -> Run | None:
    """Find the larger run that a short raised one is set on; None if it is no mark."""
    if len(run.text) > 2:
        return None
    return next(
        (
            word
            for word in other_runs
            if run.size_pt < 0.8 * word.size_pt and -0.5 <= run.x0 - word.x1 <= 1.5 and word.y0 <= run.middle <= word.y1
        ),
        None,
    )


def _place_block(grid: Grid, stack: list[Run], stacks: list[list[Run]], bottom: float) -> HeaderBlock:
    x0, x1 = min(run.x0 for run in stack), max(run.x1 for run in stack)
    y0, y1 = min(run.y0 for run in stack), max(run.y1 for run in stack)
    box = Rectangle(x0, y0, x1, y1)
    span = _underlined_columns(grid, box, bottom) or _centered_columns(grid, stack, stacks, box)
    first_column, last_column = span or _covered_columns(grid, box)
    return HeaderBlock(join_text(stack), y0, first_column, last_column)


def _underlined_columns(grid: Grid, box: Rectangle, bottom: float) -> tuple[int, int] | None:
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


def _centered_columns(grid: Grid, stack: list[Run], stacks: list[list[Run]], box: Rectangle) -> tuple[int, int] | None:
    """Let a header count for all columns of its drawn cell: alone in the cell, or centered alone in its lines."""
    left, right = _walls(grid, (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
    inner_columns = [i for i, (a, b) in enumerate(grid.columns) if left - 2 <= (a + b) / 2 <= right + 2]
    span = (inner_columns[0], inner_columns[-1]) if inner_columns else None
    if _is_alone(grid, stack, stacks, Rectangle(left, box.y0, right, box.y1)):
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


def _is_alone(grid: Grid, stack: list[Run], stacks: list[list[Run]], box: Rectangle) -> bool:
    """Decide whether a header is the only one in a cell that lines close above and below, over its whole width."""
    ruling, center = grid.drawing.ruling, (box.x0 + box.x1) / 2
    above, below = ruling.above(center, box.y0 + 4), ruling.below(center, box.y1 - 4)
    if above is None or below is None:
        return False
    if any(line.start > box.x0 + 4 or line.end < box.x1 - 4 for line in (above, below)):
        return False
    cell = Rectangle(box.x0, above.at, box.x1, below.at)
    return not any(cell.holds(run, 0.0) for other in stacks if other is not stack for run in other)


def _covered_columns(grid: Grid, box: Rectangle) -> tuple[int, int]:
    """Find the columns that a header's own words cover."""
    covered = [i for i, (a, b) in enumerate(grid.columns) if min(b, box.x1) - max(a, box.x0) >= 0.5 * (b - a)]
    if len(covered) >= 2:
        return covered[0], covered[-1]
    best_column = column_of(Run("", box.x0, box.y0, box.x1, box.y1, 0.0, False), grid.columns)
    return best_column, best_column


def _walls(grid: Grid, x: float, y: float) -> tuple[float, float]:
    left, right = grid.drawing.ruling.left(x, y), grid.drawing.ruling.right(x, y)
    box = grid.drawing.box
    return (left.at if left else box.x0), (right.at if right else box.x1)


def _continues(grid: Grid, stack: list[Run], run: Run, ends: Mapping[int, float]) -> bool:
    """Decide whether a run is the next line of a header cell; `ends`: where a word with a raised mark ends."""
    last_run = stack[-1]
    x0, x1 = min(part.x0 for part in stack), max(part.x1 for part in stack)
    ruling = grid.drawing.ruling
    if abs(run.middle - last_run.middle) <= 2.0:
        is_same_column = column_of(run, grid.columns) == column_of(last_run, grid.columns)
        return is_same_column and 0 <= run.x0 - ends.get(id(last_run), last_run.x1) <= 0.6 * run.size_pt
    overlap = min(x1, run.x1) - max(x0, run.x0)
    if overlap < 0.3 * min(x1 - x0, run.x1 - run.x0) or run.middle - last_run.middle > 1.45 * max(
        run.size_pt, last_run.size_pt
    ):
        return False
    line = ruling.below(run.center, last_run.middle)
    if line is not None and line.at < run.middle:
        return False
    wall = ruling.right(min(last_run.center, run.center), run.middle)
    return wall is None or wall.at >= max(last_run.center, run.center) or last_run.center == run.center
