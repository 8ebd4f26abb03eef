"""Which rows of a grid are headers, and which of them head the rows below them only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from taxkg_assets.extraction.layout.text_runs import Run, is_amount, is_note, is_numbered, is_year, join_text
from taxkg_assets.extraction.tables.grid import Grid, Row
from taxkg_assets.rules.models.tables import load_tables


def count_header_rows(grid: Grid) -> int:
    """Count the header rows at the top of a table.

    Args:
        grid: Grid of the table.

    Returns:
        Number of header rows.
    """
    is_head = _heads_numbered_rows(grid) if is_worksheet(grid) else _states_condition(grid.rows[0])
    return _count_distinct_rows(grid) or int(is_head)


def _count_distinct_rows(grid: Grid) -> int:
    """Count the rows at the top that are set apart from those below: in bold type, shaded, or words over amounts."""
    rows = grid.rows
    if is_worksheet(grid):
        return 0
    body = [row for row in rows[len(rows) // 3 :] if not (len(row.cells) == 1 and is_note(join_text(row.runs)))]
    is_numeric = amount_frac([text for row in body for text in _after_stub(row)]) >= load_tables().header.amount_frac
    has_bold_body = _share([_is_bold(row) for row in body]) > 0.6
    has_bold_cells = _share([_is_bold_after_stub(row) for row in body]) > 0.3
    has_filled_body = _share([_is_filled(grid, row) for row in body]) > 0.6
    count = 0
    if _begins_with_group(grid):
        return 0
    banners = find_banners(grid)
    named_by_amounts = _is_named_by_amounts(grid)
    for ix, row in enumerate(rows[:-1]):
        adjacent = _after_stub(row)
        is_group = _is_group(grid, row) and _is_complete(grid, rows[:count])
        is_above_amounts = named_by_amounts and _is_above_amounts(row) and not is_group and ix not in banners
        if count and (not is_worded(row) or is_above_amounts):
            count += 1
            continue
        if ix in banners or (is_numeric and _is_body(grid, row)):
            break
        is_distinct = (_is_bold(row) and not has_bold_body and not _holds_plain_amounts(row)) or (
            _is_filled(grid, row) and not has_filled_body
        )
        is_distinct = is_distinct or (_is_bold_after_stub(row) and not has_bold_cells)
        is_words = (
            is_numeric
            and not (grid.drawing.is_open and 0 in row.cells)
            and not any(is_amount(text) for text in adjacent)
        )
        if not (is_distinct or (is_words and (adjacent or count == 0 or _is_bold(row)))):
            break
        if count and is_group:
            break
        count += 1
    return count


def _is_named_by_amounts(grid: Grid) -> bool:
    """Decide whether nearly all rows begin with an amount of money: rows above them that do not are headers."""
    names = [join_text(row.cells[0]) for row in grid.rows if 0 in row.cells]
    header = load_tables().header
    is_money = _share([any(sign in name for sign in ",$") for name in names]) >= header.amount_frac
    return is_money and len(names) >= header.amount_names and amount_frac(names) >= header.amount_names_frac


def _is_above_amounts(row: Row) -> bool:
    """Decide whether a row begins with no amount and holds none, or counts over the columns, such as 0 to 3 children.

    A first row of the body may begin with words, too ("Under"): all its other cells are amounts.
    """
    if any(is_amount(run.text) for run in row.cells.get(0, ())):
        return False
    adjacent = _after_stub(row)
    amounts = [text for text in adjacent if is_amount(text)]
    if not all(len(text) == 1 and text.isdigit() for text in amounts):
        return False
    steps = [int(right) == int(left) + 1 for left, right in pairwise(amounts)]
    if len(adjacent) > len(amounts) > 1:
        # Of several counts side by side, one may begin within words.
        return any(steps)
    is_count = all(step or text == amounts[0] for step, text in zip(steps, amounts[1:], strict=True))
    return not amounts or (is_count and 0 not in row.cells)


def _heads_numbered_rows(grid: Grid) -> bool:
    """Decide whether bold words over the columns head rows that are numbered and set plain: these are no worksheet."""
    first_row, *other_rows = grid.rows
    names = [join_text(cell) for cell in first_row.cells.values()]
    is_head = 0 in first_row.cells and len(names) > 1 and not is_numbered(names[0]) and _is_bold(first_row)
    plain_rows = [row for row in other_rows if len(row.cells) >= len(names) and not _is_bold(row)]
    return is_head and len(names) == len(grid.columns) and len(plain_rows) == len(other_rows)


def _states_condition(row: Row) -> bool:
    """Decide whether a row has the heads of a condition table, `IF ...` and `THEN ...`, in whatever type."""
    texts = [join_text(cell) for cell in row.cells.values()]
    is_condition = 0 in row.cells and load_tables().condition_starts.matches(texts[0])
    return is_condition and any(load_tables().conclusion_starts.matches(text) for text in texts[1:])


def _begins_with_group(grid: Grid) -> bool:
    """Decide whether a table of two columns has no header, but names of groups, with which it begins."""
    rows = grid.rows
    first_ix = next((ix for ix, row in enumerate(rows) if len(row.cells) > 1), 0)
    if not grid.has_plain_names or not first_ix or _is_bold(rows[first_ix]):
        return False
    return all(_is_group(grid, row) for row in rows[:first_ix]) and any(_is_group(grid, row) for row in rows[first_ix:])


def _is_body(grid: Grid, row: Row) -> bool:
    """Decide whether a row is filled with amounts, its name included: shaded or not, it is no header."""
    texts = [join_text(cell) for cell in row.cells.values()]
    is_filled = 0 in row.cells and len(texts) >= 0.7 * len(grid.columns)
    return is_filled and all(is_amount(text) and not is_year(text) for text in texts)


def find_banners(grid: Grid) -> set[int]:
    """Find bold rows that head blocks of a table, with a figure in each column: `Ohio 3%` over each pair of columns.

    There must be several: one alone is a header, unless the headers are on an earlier page.

    Args:
        grid: Grid of the table.

    Returns:
        0-based rows of the grid.
    """
    if len(grid.slabs) < 3:
        return set()
    banner_rows = {ix for ix, row in enumerate(grid.rows) if row.runs and _is_bold(row) and _names_blocks(grid, row)}
    return banner_rows if len(banner_rows) > 1 or grid.is_continued else set()


def _names_blocks(grid: Grid, row: Row) -> bool:
    block_names = {
        text for text in find_banner(grid, row).values() if text[:1].isalpha() and any(map(str.isdigit, text))
    }
    return len(block_names) > 1 and any(is_amount(run.text) for run in row.runs)


def find_banner(grid: Grid, row: Row) -> dict[int, str]:
    """Return the words of a heading row over each column; drawn vertical lines divide them.

    Args:
        grid: Grid of the table.
        row: The row.

    Returns:
        Words by column.
    """
    words_by_column: dict[int, str] = {}
    for left_edge, right_edge in grid.slabs:
        text = join_text(run for run in row.runs if left_edge <= run.center <= right_edge)
        columns = [ix for ix, (left, right) in enumerate(grid.columns) if left_edge <= (left + right) / 2 <= right_edge]
        words_by_column |= dict.fromkeys(columns if text else (), text)
    return words_by_column


def is_worded(row: Row) -> bool:
    """Return whether a row contains letters or digits; a dash alone continues a wrapped header.

    Args:
        row: Row of a table.
    """
    return any(letter.isalnum() for run in row.runs for letter in run.text)


def is_worksheet(grid: Grid) -> bool:
    """Return whether the rows of a table are numbered lines to fill in, so that it has no header row.

    Args:
        grid: Grid of the table.
    """
    firsts = [next(iter(row.cells.values()))[0].text for row in grid.rows if row.cells]
    numbered_count = sum(is_numbered(text) for text in firsts)
    min_rows = load_tables().grid.numbered_lines
    return bool(numbered_count >= min_rows and numbered_count >= 0.5 * len(firsts))


def find_later_headers(grid: Grid, header_count: int, paths: Sequence[str]) -> dict[int, list[str]]:
    """Find header rows inside the body of a table.

    A header row over nearly all columns replaces the header paths; one over some columns extends them.

    Args:
        grid: Grid of the table.
        header_count: Number of header rows at the top.
        paths: Header path of each column at the top.

    Returns:
        Header path of each column, by the row from which on it applies.
    """
    paths_by_row: dict[int, list[str]] = {}
    rows = grid.rows
    body = [text for row in rows[header_count:] for text in _after_stub(row)]
    if (
        amount_frac(body) < load_tables().header.amount_frac
        or _share([_is_bold(row) for row in rows[header_count:]]) > 0.4
    ):
        return paths_by_row
    for row_ix in range(header_count, len(rows) - 1):
        row = rows[row_ix]
        texts = {column: join_text(cell) for column, cell in row.cells.items()}
        is_unnamed = grid.drawing.is_open and 0 not in row.cells
        if (
            not (_is_bold(row) or is_unnamed)
            or len(texts) < max(2, 0.5 * len(grid.columns))
            or any(map(is_amount, texts.values()))
        ):
            continue
        row_above = rows[row_ix - 1] if row_ix > header_count else None
        if row_above is not None and _is_years(row_above):
            year = join_text(row_above.runs)
            texts = {column: f"{year} > {text}" if column else text for column, text in texts.items()}
        elif row_above is not None and len(row_above.cells) == 1 and _is_group(grid, row_above):
            for column, cell in row_above.cells.items():
                texts[column] = f"{join_text(cell)} {texts.get(column, '')}".strip()
        if texts.keys() >= set(range(1, len(grid.columns))):
            paths_by_row[row_ix] = [texts.get(column, path) for column, path in enumerate(paths)]
        else:
            paths_by_row[row_ix] = [" > ".join(filter(None, (path, texts.get(k)))) for k, path in enumerate(paths)]
    return paths_by_row


def is_group_row(grid: Grid, row: Row) -> bool:
    """Return whether a body row is the heading of a group of rows below it.

    Args:
        grid: Grid of the table.
        row: The row.
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
    """Return the headings in a heading row: one over the whole table, or several over some columns each.

    Args:
        grid: Grid of the table.
        row: The row.

    Returns:
        Text, first column and last column of each heading.
    """
    if len(row.cells) == 1:
        return [(join_text(row.runs), 0, len(grid.columns) - 1)]
    pieces = []
    for run in row.runs:
        span = _slab_span(grid, run)
        pieces.append((run.text, *(span if span else (0, len(grid.columns) - 1))))
    return pieces


def _slab_span(grid: Grid, run: Run) -> tuple[int, int] | None:
    """Return the columns of the slab that a run is centered in, if it is alone over several columns."""
    for a, b in grid.slabs:
        if a <= run.center <= b and abs(run.center - (a + b) / 2) <= max(
            6.0, load_tables().header.centered_frac * (b - a)
        ):
            inner_columns = [i for i, (c, d) in enumerate(grid.columns) if a - 2 <= (c + d) / 2 <= b + 2]
            return (inner_columns[0], inner_columns[-1]) if len(inner_columns) > 1 else None
    return None


def _is_complete(grid: Grid, rows: Sequence[Row]) -> bool:
    """Decide whether header rows already name most columns."""
    named_columns = {column for row in rows for column in row.cells}
    return len(named_columns) >= 0.7 * len(grid.columns)


def _after_stub(row: Row) -> list[str]:
    return [join_text(cell) for column, cell in row.cells.items() if column > 0]


def _holds_plain_amounts(row: Row) -> bool:
    """Decide whether all cells next to the first column are amounts in plain type: then only the name is bold."""
    cells = [cell for column, cell in row.cells.items() if column > 0]
    is_plain = bool(cells) and not any(run.is_bold for cell in cells for run in cell)
    return is_plain and all(is_amount(text) and not is_year(text) for text in map(join_text, cells))


def _is_bold_after_stub(row: Row) -> bool:
    """Decide whether most cells next to the first column are bold."""
    are_bold = [all(run.is_bold for run in cell) for column, cell in row.cells.items() if column > 0]
    return len(are_bold) >= 2 and sum(are_bold) >= 0.7 * len(are_bold)


def _is_bold(row: Row) -> bool:
    letters = sum(len(run.text) for run in row.runs)
    return letters > 0 and sum(len(run.text) for run in row.runs if run.is_bold) >= 0.8 * letters


def _is_filled(grid: Grid, row: Row) -> bool:
    fills, places = grid.drawing.fills, [(run.center, run.middle) for run in row.runs]
    if not fills or not places:
        return False
    top, bottom = min(y for _, y in places), max(y for _, y in places)
    # Of a page's hundreds of shaded cells few are on the row.
    near_fills = [fill for fill in fills if fill.y0 - 1 <= bottom and top <= fill.y1 + 1]
    filled = sum(
        any(fill.x0 - 1 <= x <= fill.x1 + 1 and fill.y0 - 1 <= y <= fill.y1 + 1 for fill in near_fills)
        for x, y in places
    )
    return filled >= 0.8 * len(places)


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
