"""Tables of a document: each cell with the full path of its row and column headers, and Markdown that keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.extraction.forms.faces import find_face_boxes
from taxkg_assets.extraction.layout.regions import TableRegion
from taxkg_assets.extraction.layout.text_runs import Run, find_lines, is_amount, is_caption, is_filing_note, join_text
from taxkg_assets.extraction.pdf.model import Page, Source
from taxkg_assets.extraction.tables.carried_headers import carry_headers
from taxkg_assets.extraction.tables.cells import NOTE_COLUMN, PATH_SEPARATOR, Cell, FoundTable, find_cells, is_text_box
from taxkg_assets.extraction.tables.condition_tables import find_condition_tables
from taxkg_assets.extraction.tables.grid import Drawing, Grid, Rectangle, find_grid
from taxkg_assets.extraction.tables.header_blocks import find_header_blocks
from taxkg_assets.extraction.tables.headers import count_header_rows, find_later_headers, is_worksheet
from taxkg_assets.extraction.tables.parts import find_parts
from taxkg_assets.extraction.tables.preface import add_frame, split_frame, split_title
from taxkg_assets.extraction.tables.printed_worksheets import find_worksheet_rows
from taxkg_assets.extraction.tables.regions import find_drawings
from taxkg_assets.extraction.tables.repeated_headers import spread_over_repeats
from taxkg_assets.extraction.tables.spread_names import join_spread_names
from taxkg_assets.extraction.tables.tag_grid import build_grid
from taxkg_assets.extraction.tables.worksheets import are_worksheet_rows, read_worksheet
from taxkg_assets.rules.models.roles import load_roles
from taxkg_assets.rules.models.tables import load_tables

# Fewer words with a period are the name of a line and no sentence.
_SENTENCE_WORDS = 3


def build_tables(source: Source, *, found_tables: Sequence[FoundTable] | None = None) -> dy.DataFrame[schemas.Tables]:
    """Build one row per table of a document, with its cells, header paths and Markdown.

    Args:
        source: Pages of the document.
        found_tables: Tables as read from the pages; read here by default.

    Returns:
        Rows of `tables`; a table that continues without headers has those of the page before.
    """
    tables = (
        found_tables if found_tables is not None else [table for page in source.pages for table in find_tables(page)]
    )
    if not tables:
        return schemas.empty(schemas.Tables)
    counts: dict[int, int] = {}
    rows = []
    for table in carry_headers(tables):
        number = counts.get(table.region.page, 0)
        counts[table.region.page] = number + 1
        rows.append(_row(source.document_id, number, table))
    frame = pl.DataFrame(rows, schema=schemas.dtypes(schemas.Tables))
    return schemas.validated(frame.sort("table_id"), schemas.Tables)


def find_table_regions(page: Page) -> list[TableRegion]:
    """Find the rectangles of the tables on a page, without captions, from top to bottom.

    Args:
        page: The page.
    """
    return [table.region for table in find_tables(page)]


def find_tables(page: Page, *, is_face: bool | None = None) -> list[FoundTable]:
    """Extract the tables of one page, except prose in columns, callouts and form fields.

    Args:
        page: The page.
        is_face: Whether the page is a form's face with boxes, which are no tables; found out by default.

    Returns:
        Tables from top to bottom.
    """
    if is_face is None:
        is_face = bool(find_face_boxes(page))
    tables: list[FoundTable] = []
    drawings, runs = find_drawings(page, is_face=is_face)
    previous_table: tuple[Rectangle, str] | None = None
    for drawing in drawings:
        table = _read_table(page, drawing)
        if table is None or is_text_box(table):
            continue
        caption = "" if table.is_titled else _find_caption(runs, drawing.box, drawings)
        is_shared = previous_table is not None and (
            _follows(previous_table[0], drawing.box) or _is_side_by_side(previous_table[0], drawing.box)
        )
        if not (caption or table.is_titled) and previous_table is not None and is_shared:
            caption = _find_line_between(runs, previous_table[0], drawing.box) or previous_table[1]
        previous_table = (drawing.box, caption)
        tables.append(replace(table, title=", ".join(part for part in (caption, table.title) if part)))
    return tables


def find_unread_boxes(page: Page, *, is_face: bool) -> list[Rectangle]:
    """Find candidate regions of a page that have no readable grid, for another engine.

    Args:
        page: The page.
        is_face: Whether the page is a form's face with boxes.

    Returns:
        Rectangles in points.
    """
    drawings, _ = find_drawings(page, is_face=is_face)
    return [drawing.box for drawing in drawings if _read_table(page, drawing) is None]


def find_title(page: Page, box: Rectangle) -> str:
    """Read the caption or bold title right above a table that another engine found.

    Args:
        page: The page.
        box: Rectangle of the table, in points.

    Returns:
        The title; empty for none.
    """
    _, runs = find_drawings(page, is_face=False)
    return find_caption(runs, box)


def find_cells_without_path(tables: dy.DataFrame[schemas.Tables]) -> pl.DataFrame:
    """Find cells of tables with headers that have neither a row nor a column header.

    The first cell of a row may be its own name; any other cell named only by its own words has lost its headers.

    Args:
        tables: Rows of `tables`.

    Returns:
        Cells with the columns of `cells` and those of their table.
    """
    cells = (
        tables.filter(pl.col("has_headers"))
        .select("table_id", "document_id", "page", "cells")
        .explode("cells")
        .unnest("cells")
    )
    is_first = pl.col("col_ix") == pl.col("col_ix").min().over("table_id", "row_ix")
    names_itself = (pl.col("row_path") == pl.col("text")) & ~is_first
    return cells.filter((pl.col("col_path") == "") & ((pl.col("row_path") == "") | names_itself))


def _read_table(page: Page, drawing: Drawing) -> FoundTable | None:
    """Read a candidate region; None where its text makes no table."""
    lines = find_worksheet_rows(drawing)
    if lines and are_worksheet_rows(lines):
        return read_worksheet(page.page, lines)
    conditions = find_condition_tables(drawing.runs) if drawing.is_open and page.widgets else []
    if conditions:
        tagged = build_grid(page, conditions[0], drawing.ruling)
        return read_grid(page, tagged, 1) if tagged is not None else None
    grid = find_grid(drawing)
    if len(grid.columns) < 2 or len(grid.rows) < 2 or not _is_plausible(grid):
        return None
    frame, grid = split_frame(grid)
    table = _read_grid(page, grid, count_header_rows(grid))
    max_header_words = load_tables().regions.max_header_words
    if table is None or any(len(header.split()) > max_header_words for header in table.headers) or _is_chart(table):
        return None
    return add_frame(table, frame)


def read_grid(page: Page, grid: Grid, least_headers: int, *, carried_headers: Sequence[str] = ()) -> FoundTable | None:
    """Convert the grid of a tagged table to a table with header paths.

    Args:
        page: The page.
        grid: Grid of the table's cells.
        least_headers: Number of rows that are tagged as headers; there may be more.
        carried_headers: Column headers from an earlier page of the table. If there are any, only tagged rows are
            headers here.

    Returns:
        The table; None if its cells have no text.
    """
    frame, grid = split_frame(grid)
    least_headers = max(0, least_headers - len(frame.preface))
    count = least_headers if carried_headers else max(least_headers, count_header_rows(grid))
    if carried_headers and not count:
        table = _read_grid(page, replace(grid, is_continued=True), count, carried_headers=carried_headers)
    else:
        table = _read_grid(page, grid, count)
    if table is None:
        return None
    # A header that is tagged once more for each row of headers that it reaches over counts once.
    cells = tuple(
        cell if (path := _without_repeats(cell.col_path)) == cell.col_path else replace(cell, col_path=path)
        for cell in table.cells
    )
    headers = tuple(map(_without_repeats, table.headers))
    table = replace(table, headers=headers, cells=cells, has_header_tags=least_headers > 0)
    return add_frame(table, frame)


def _without_repeats(path: str) -> str:
    return path if PATH_SEPARATOR not in path else PATH_SEPARATOR.join(dict.fromkeys(path.split(PATH_SEPARATOR)))


def find_caption(runs: Sequence[Run], box: Rectangle) -> str:
    """Find the caption or bold title right above a table.

    Args:
        runs: All runs of the page.
        box: Rectangle of the table, in points.

    Returns:
        The caption; empty for none.
    """
    return _find_caption(runs, box, ())


def _read_grid(page: Page, grid: Grid, header_count: int, *, carried_headers: Sequence[str] = ()) -> FoundTable | None:
    """Find the header paths and cells of a grid; `carried` are the paths of one that continues without headers."""
    heading, grid = split_title(grid) if header_count else ("", grid)
    header_count -= bool(heading)
    grid = join_spread_names(grid, header_count)
    drawing = grid.drawing
    header_blocks = find_header_blocks(grid, header_count)
    blocks = spread_over_repeats(header_blocks, column_count=len(grid.columns))
    subtitle_blocks = [block for block in blocks if block.first == 0 and block.last == len(grid.columns) - 1]
    other_blocks = [block for block in blocks if block not in subtitle_blocks]
    paths = [
        PATH_SEPARATOR.join(
            block.text
            for block in sorted(other_blocks, key=lambda block: block.y0)
            if block.first <= column <= block.last and any(letter.isalnum() for letter in block.text)
        )
        for column in range(len(grid.columns))
    ]
    if len(carried_headers) == len(paths):
        paths = list(carried_headers)
    later_headers = find_later_headers(grid, header_count, paths)
    parts = find_parts(grid, later_headers[max(later_headers)] if later_headers else paths)
    cells = find_cells(grid, header_count, parts, {header_count: paths, **later_headers})
    region = TableRegion(page.page, drawing.box.x0, drawing.box.y0, drawing.box.x1, drawing.box.y1, "ruled")
    title = " ".join(filter(None, (heading, *(block.text for block in subtitle_blocks))))
    return FoundTable(region, title, tuple(paths), tuple(parts), tuple(cells)) if cells else None


def _is_plausible(grid: Grid) -> bool:
    """Decide whether a grid's texts are cells rather than columns of prose between separator lines."""
    limits = load_tables().regions
    words = [sum(len(run.text.split()) for run in cell) for row in grid.rows for cell in row.cells.values()]
    filled = len(words) / (len(grid.rows) * len(grid.columns))
    is_prose = max(words) > limits.max_cell_words or sum(words) / len(words) > limits.max_mean_words
    return bool(filled >= limits.min_fill_frac and (not is_prose or len(grid.slabs) > 1 or is_worksheet(grid)))


def _is_row_of_amounts(line: Sequence[Run]) -> bool:
    words = [word for run in line for word in run.text.split()]
    return len(words) > 1 and all(map(is_amount, words))


def _find_caption(runs: Sequence[Run], box: Rectangle, drawings: Sequence[Drawing]) -> str:
    """Read the bold lines or the numbered caption right above a table."""
    limits = load_tables().regions
    runs_above = [
        run
        for run in runs
        if run.middle < box.y0
        and not load_roles().icons.matches(run.text.strip())
        and box.x0 - 6 <= run.center <= box.x1 + 6
        and not any(other.box.holds(run) for other in drawings if not _surrounds(other.box, box))
        and not is_filing_note(run.text)
    ]
    adjacent = [
        run for run in runs if box.y0 - 3 <= run.middle <= box.y1 and -3 <= box.x0 - run.x1 <= limits.left_caption_pt
    ]
    if len(adjacent) == 1 and adjacent[0].is_bold and is_caption(adjacent[0].text):
        return adjacent[0].text
    caption_lines: list[list[Run]] = []
    upper_edge, has_head, title_line_count = box.y0, False, 0
    for line in reversed(find_lines(runs_above)):
        gap = upper_edge - max(run.y1 for run in line)
        is_far = gap > (limits.caption_gap_pt if not caption_lines else line[0].size_pt)
        if is_far or load_roles().answers.matches(line[0].text) or _is_row_of_amounts(line):
            break
        caption_lines.append(line)
        upper_edge = min(run.y0 for run in line)
        if is_caption(line[0].text):
            return _join_lines(_without_notes(caption_lines[::-1]))
        # A caption may run on in lines that are not bold; without a number above them they are no title.
        if title_line_count == len(caption_lines) - 1 and (not title_line_count or line[0].is_bold):
            title_line_count += 1
            # The title of a table that continues may be set in several types, none of them bold throughout.
            has_head = has_head or any(run.is_bold or _is_continued(run) for run in line)
        if len(caption_lines) >= limits.caption_lines:
            break
    count = min(title_line_count, limits.title_lines) if has_head else 0
    while 0 < count < title_line_count and _continues(caption_lines[count - 1]):
        count += 1
    # Bold words right below a plain line are the end of its sentence; alone above the table they are a title.
    if 0 < count < len(caption_lines) and _continues(caption_lines[count - 1]):
        return ""
    return _join_lines(_without_sentence(caption_lines[:count][::-1]))


def _surrounds(outer: Rectangle, inner: Rectangle) -> bool:
    """Decide whether a box is another one or a frame around it, in which its caption may be."""
    return (
        outer.x0 <= inner.x0 + 1 and outer.y0 <= inner.y0 + 1 and outer.x1 >= inner.x1 - 1 and outer.y1 >= inner.y1 - 1
    )


def _continues(line: Sequence[Run]) -> bool:
    """Decide whether a line continues one above it: it begins with a small letter of a word."""
    return line[0].text[:2].islower() and line[0].text[:2].isalpha()


def _is_chart(table: FoundTable) -> bool:
    """Decide whether boxes of questions, with their answers at the arrows between them, are a decision chart."""
    texts = [cell.text for cell in table.cells]
    if any(table.headers) or not any("?" in text for text in texts):
        return False
    answer_count = sum(load_tables().chart_answers.matches(text) for text in texts)
    return answer_count >= load_tables().regions.chart_answers_frac * len(texts)


def _join_lines(lines: Sequence[Sequence[Run]]) -> str:
    return join_text(run for line in lines for run in line)


def _without_notes(lines: Sequence[list[Run]]) -> Sequence[list[Run]]:
    """Leave out the plain sentences below a bold caption: they are a note on the table."""
    is_bold = lines[0][-1].is_bold
    plain_ixs = (ix for ix in range(1, len(lines)) if is_bold and not all(run.is_bold for run in lines[ix]))
    end = next(plain_ixs, len(lines))
    return lines[:end] if load_roles().sentence_ends.matches(_join_lines(lines[end:])) else lines


def _without_sentence(lines: Sequence[list[Run]]) -> Sequence[list[Run]]:
    """Leave out the sentence below the bold lines of a heading: it is text of the section, and no title."""
    end = next((ix for ix, line in enumerate(lines) if not _is_of_title(line)), len(lines))
    is_heading = end > 0 and all(run.is_bold for line in lines[:end] for run in line)
    text = _join_lines(lines[end:])
    return lines[:end] if is_heading and _is_sentence(text) else lines


def _is_sentence(text: str) -> bool:
    """Decide whether words are a statement: a question, a remark in parentheses or the lead to the table is none."""
    inner = text.rstrip(".!")
    is_remark = text.startswith("(") and inner.find(")") == len(inner) - 1
    is_statement = load_roles().sentence_ends.matches(text) and text.rstrip('"”’)]')[-1:] in (".", "!")
    return len(text.split()) >= _SENTENCE_WORDS and is_statement and not is_remark


def _is_of_title(line: Sequence[Run]) -> bool:
    """Decide whether a line begins in bold type, as the title does, and is no note with a bold label."""
    return line[0].is_bold and not load_roles().callouts.matches(join_text(line))


def _follows(above: Rectangle, below: Rectangle) -> bool:
    """Decide whether a box is right under another of the same width, so that one caption covers both."""
    gap = load_tables().regions.caption_gap_pt
    return abs(above.x0 - below.x0) <= 4 and abs(above.x1 - below.x1) <= 4 and 0 <= below.y0 - above.y1 <= gap


def _find_line_between(runs: Sequence[Run], above: Rectangle, below: Rectangle) -> str:
    """Return the words of a printed line between two boxes of one width, which name the lower one; empty for none."""
    gap = Rectangle(below.x0, above.y1, below.x1, below.y0)
    lines = find_lines(run for run in runs if gap.holds(run, slack=0.0))
    text = _join_lines(lines) if len(lines) == 1 else ""
    return "" if load_roles().sentence_ends.matches(text) else text


def _is_side_by_side(left: Rectangle, right: Rectangle) -> bool:
    """Decide whether two boxes of one height are set side by side, so that one caption covers both."""
    gap = load_tables().regions.caption_gap_pt
    is_level = abs(left.y0 - right.y0) <= 4 and abs(left.y1 - right.y1) <= 4
    return is_level and -4 < right.x0 - left.x1 <= gap


def _is_continued(run: Run) -> bool:
    return load_tables().captions.continued.pattern.search(run.text) is not None


def _row(document_id: str, number: int, table: FoundTable) -> dict[str, Any]:
    region = table.region
    return {
        "table_id": f"{document_id}:p{region.page:04d}:t{number}",
        "document_id": document_id,
        "page": region.page,
        "title": table.title,
        "markdown": _markdown(table),
        "cells": [
            {
                "row_ix": cell.row_ix,
                "col_ix": cell.col_ix,
                "row_path": cell.row_path,
                "col_path": cell.col_path,
                "text": cell.text,
                "bbox": _bbox(cell.box),
            }
            for cell in table.cells
        ],
        "bbox": _bbox(region),
        "has_headers": any(table.headers),
        "publisher_id": None,
    }


def _bbox(box: Rectangle | TableRegion) -> dict[str, float]:
    return {"x0_pt": box.x0, "y0_pt": box.y0, "x1_pt": box.x1, "y1_pt": box.y1}


def _markdown(table: FoundTable) -> str:
    """Write each part as one Markdown table: the header paths in the first row, groups before the row's name."""
    markdown_parts = []
    for part in table.parts:
        columns = range(part.first, part.last + 1)
        lines = [_markdown_line([table.headers[column] for column in columns]), _markdown_line(["---"] * len(columns))]
        current_headers = [table.headers[column] for column in columns]
        by_row: dict[int, dict[int, Cell]] = {}
        for cell in table.cells:
            if cell.col_ix in columns:
                by_row.setdefault(cell.row_ix, {})[cell.col_ix] = cell
        for cells in by_row.values():
            texts = [cells[column].text if column in cells else "" for column in columns]
            is_single_column = {column: cell.column_count == 1 for column, cell in cells.items()}
            headers = [
                cells[column].col_path if is_single_column.get(column) else current_headers[column - part.first]
                for column in columns
            ]
            if headers != current_headers:
                refined = [
                    new_header.removeprefix(f"{table.headers[column]}{PATH_SEPARATOR}")
                    if new_header != old_header
                    else ""
                    for column, old_header, new_header in zip(columns, current_headers, headers, strict=True)
                ]
                lines.append(_markdown_line([f"**{text}**" if text else "" for text in refined]))
                current_headers = headers
            leading = cells[min(cells)]
            group = leading.row_path
            if group and group != leading.text:
                texts[0] = group if group.endswith(texts[0]) else f"{group}{PATH_SEPARATOR}{texts[0]}"
            lines.append(_markdown_line(texts))
        markdown_parts.append("\n".join(lines))
    markdown_parts += [cell.text for cell in table.cells if cell.col_ix == NOTE_COLUMN]
    return "\n\n".join(markdown_parts)


def _markdown_line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"
