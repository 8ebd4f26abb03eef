"""Tables that the publisher tagged: rows and cells are stated, header paths are found as in any other grid.

Only cells with text have tags on a page.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType

from taxkg_assets.extraction.authored.structure_tree import TagPlace, find_places
from taxkg_assets.extraction.layout.regions import TableRegion
from taxkg_assets.extraction.layout.ruling import Ruling, merge_rules
from taxkg_assets.extraction.layout.text_runs import find_runs, is_amount, split_leaders
from taxkg_assets.extraction.pdf.model import Page, Span
from taxkg_assets.extraction.tables.cells import NOTE_COLUMN, PATH_SEPARATOR, Cell, FoundTable, is_text_box
from taxkg_assets.extraction.tables.grid import Rectangle
from taxkg_assets.extraction.tables.row_cells import CellRow, RowCell, bounding_box_of
from taxkg_assets.extraction.tables.tables import find_caption, find_tables, read_grid
from taxkg_assets.extraction.tables.tag_grid import build_grid
from taxkg_assets.extraction.tables.untagged import has_tall_rules, keep_headed_grids
from taxkg_assets.extraction.tables.worksheet_parts import find_inner_tables, is_amount_row
from taxkg_assets.extraction.tables.worksheets import are_worksheet_rows, read_worksheet
from taxkg_assets.rules.models.roles import load_roles
from taxkg_assets.rules.models.tables import load_tables

_NO_RULING = Ruling((), ())
# A drawing that begins this far above the tagged cells has words of the table above.
_REACH_PT = 24.0
_NO_EARLIER_HEADERS: Mapping[tuple[int, ...], tuple[str, ...]] = MappingProxyType({})


def read_tagged_page(
    page: Page,
    *,
    furniture_spans: Collection[int],
    earlier_headers: Mapping[tuple[int, ...], tuple[str, ...]] = _NO_EARLIER_HEADERS,
) -> list[FoundTable]:
    """Extract the tables of a page with reliable tags.

    Tags determine where tables are. If layout finds the same cells there, the reading with more complete header paths
    is used.

    Args:
        page: Page whose tags can be relied on.
        furniture_spans: Numbers of the spans (`span_ix`) of running heads and feet.
        earlier_headers: Headers of tables whose header cells are tagged on an earlier page, by the path of the table's
            tag.

    Returns:
        Tables in tag order, then grids without a tag.
    """
    tagged_tables = find_tagged_tables(page, furniture_spans=furniture_spans, earlier_headers=earlier_headers)
    # Worksheets and what is in them are read by their tags alone: a page with no other table needs no second reading.
    is_needed = any(table.region.kind == "ruled" for table in tagged_tables) or has_tall_rules(page)
    drawn_tables = find_tables(page, is_face=False) if is_needed else []
    untagged_tables = [
        table
        for table in keep_headed_grids(drawn_tables)
        if not any(_overlaps(table.region, tagged_table.region) for tagged_table in tagged_tables)
    ]
    chosen_tables = [
        table
        for tagged_table in tagged_tables
        for table in _choose(tagged_table, _draw_alone(page, tagged_table, drawn_tables))
    ]
    return chosen_tables + untagged_tables


def _draw_alone(page: Page, table: FoundTable, drawn_tables: Sequence[FoundTable]) -> Sequence[FoundTable]:
    """Read the drawing of a tagged table without the words of the table above it, where one frame is around both."""
    overlapping_tables = [other for other in drawn_tables if _overlaps(table.region, other.region)]
    top = min((other.region.y0 for other in overlapping_tables), default=table.region.y0)
    if table.region.kind != "ruled" or top >= table.region.y0 - _REACH_PT:
        return drawn_tables
    places = find_places(page.tags)
    path = page.tags[table.region.tag_ix].path
    is_own = [place.table_ix < 0 or page.tags[place.table_ix].path[: len(path)] == path for place in places]
    own_spans = tuple(span for span in page.spans if span.tag_ix < 0 or is_own[span.tag_ix])
    if len(own_spans) == len(page.spans):
        return drawn_tables
    redrawn_tables = [
        other for other in find_tables(replace(page, spans=own_spans), is_face=False) if any(other.headers)
    ]
    if not redrawn_tables or score_headers(redrawn_tables) < score_headers(overlapping_tables):
        return drawn_tables
    # A cell over several columns of the table is a header, and no title.
    headers = " ".join(header for other in redrawn_tables for header in other.headers)
    titles = [
        next((title for title in (other.title, table.title) if title not in headers), "") for other in redrawn_tables
    ]
    return [replace(other, title=title) for other, title in zip(redrawn_tables, titles, strict=True)]


def _choose(table: FoundTable, drawn_tables: Sequence[FoundTable]) -> list[FoundTable]:
    """Choose between a tagged table and the layout's reading of the same cells, which may be several tables."""
    if table.region.kind != "ruled":
        return [table]
    overlapping_tables = [other for other in drawn_tables if _overlaps(table.region, other.region)]
    tagged_texts = Counter(cell.text for cell in table.cells)
    drawn_texts = Counter(cell.text for other in overlapping_tables for cell in other.cells)
    agreement_frac = _share_equal(tagged_texts, drawn_texts)
    is_joined = (
        bool(overlapping_tables)
        and all(any(other.headers) for other in overlapping_tables)
        and _joins_cells(table, overlapping_tables)
    )
    if is_joined:
        agreement_frac = max(agreement_frac, _share_equal(_count_words([table]), _count_words(overlapping_tables)))
    limits = load_tables().tagged
    is_smaller = drawn_texts.total() < limits.size_frac * tagged_texts.total()
    # A reading that runs several tagged tables together would answer for each of them with the rows of another.
    is_larger = _count_letters([table]) < limits.size_frac * _count_letters(overlapping_tables)
    score = score_headers([table])
    needed_score = score - (0.0 if table.has_header_tags else limits.header_slack)
    # If the tags have all headers, the drawn lines are used only to divide the same cells better.
    least_agreement_frac = limits.full_agreement_frac if score == 1.0 and not is_joined else limits.agreement_frac
    if (
        is_smaller
        or is_larger
        or agreement_frac < least_agreement_frac
        or score_headers(overlapping_tables) < needed_score
    ):
        return [table]
    if score == 1.0 and (
        _ends_early(table, overlapping_tables)
        or (tagged_texts == drawn_texts and _names_all(table, overlapping_tables))
    ):
        # The drawing tears headers whose words are in several types, and divides the same cells no better.
        return [table]
    path = table.path if len(overlapping_tables) == 1 else ()
    return [
        replace(
            other, region=replace(other.region, tag_ix=table.region.tag_ix), path=path, title=_title_of(table, other)
        )
        for other in overlapping_tables
    ]


def _title_of(table: FoundTable, part: FoundTable) -> str:
    """Title a part of a tagged table: a number over a column of it is no title by itself."""
    is_number = is_amount(part.title)
    return ", ".join(filter(None, (table.title, part.title))) if is_number else part.title


def _names_all(table: FoundTable, drawn_tables: Sequence[FoundTable]) -> bool:
    """Decide whether the tagged headers of each column have all words that the drawing has over it."""
    if not table.has_header_tags or len(drawn_tables) != 1 or len(drawn_tables[0].headers) != len(table.headers):
        return False
    pairs = zip(table.headers, drawn_tables[0].headers, strict=True)
    return all(set(drawn_header.split()) <= set(tagged_header.split()) for tagged_header, drawn_header in pairs)


def _joins_cells(table: FoundTable, drawn_tables: Sequence[FoundTable]) -> bool:
    """Decide whether tags join columns, so that no header is over either, or rows: then equal words are enough."""
    columns = len(table.headers)
    is_narrower = not any(table.headers) and all(columns < len(other.headers) < 2 * columns for other in drawn_tables)
    return is_narrower or sum(_is_stack(cell.text) for cell in table.cells) > 1


def _ends_early(table: FoundTable, drawn_tables: Sequence[FoundTable]) -> bool:
    """Decide whether the drawing ends above the last rows of the tagged table, such as a total below its last line."""
    bottom = max((other.region.y1 for other in drawn_tables), default=0.0)
    below = Counter(cell.row_ix for cell in table.cells if (cell.box.y0 + cell.box.y1) / 2 > bottom)
    return any(count > 1 for count in below.values())


def _is_stack(text: str) -> bool:
    """Decide whether a cell is several amounts and nothing else: those of rows that their tags join."""
    parts = text.split()
    return len(parts) > 1 and all(map(is_amount, parts))


def _share_equal(first_texts: Counter[str], second_texts: Counter[str]) -> float:
    """Compute the share of the smaller of two collections that the other one also has."""
    return (first_texts & second_texts).total() / max(min(first_texts.total(), second_texts.total()), 1)


def _count_letters(tables: Sequence[FoundTable]) -> int:
    """Count the letters of tables; what a header states about several columns counts once."""
    parts = {part for table in tables for path in table.headers for part in path.split(PATH_SEPARATOR)}
    return sum(map(len, parts)) + sum(len(cell.text) for table in tables for cell in table.cells)


def _count_words(tables: Iterable[FoundTable]) -> Counter[str]:
    """Count the words of the headers and cells of tables."""
    texts = (text for table in tables for text in (*table.headers, *(cell.text for cell in table.cells)))
    return Counter(word for text in texts for word in text.split())


def score_headers(tables: Sequence[FoundTable]) -> float:
    """Return the share of row and column headers that the cells have; first cells of rows do not count.

    Args:
        tables: Tables read from the same cells.

    Returns:
        Share from 0 to 1; 0.0 where no row has a second cell.
    """
    header_count = cell_count = 0
    for table in tables:
        first_columns: dict[int, int] = {}
        for cell in table.cells:
            first_columns[cell.row_ix] = min(first_columns.get(cell.row_ix, cell.col_ix), cell.col_ix)
        values = [cell for cell in table.cells if cell.col_ix > first_columns[cell.row_ix]]
        header_count += sum(bool(cell.col_path) + bool(cell.row_path) for cell in values)
        cell_count += len(values)
    return header_count / (2 * cell_count) if cell_count else 0.0


def _overlaps(first_region: TableRegion, second_region: TableRegion) -> bool:
    """Decide whether two regions share more than half of the smaller one."""
    width = min(first_region.x1, second_region.x1) - max(first_region.x0, second_region.x0)
    height = min(first_region.y1, second_region.y1) - max(first_region.y0, second_region.y0)
    smaller_area = min(
        (first_region.x1 - first_region.x0) * (first_region.y1 - first_region.y0),
        (second_region.x1 - second_region.x0) * (second_region.y1 - second_region.y0),
    )
    return width > 0 and height > 0 and width * height > 0.5 * smaller_area


def find_tagged_tables(
    page: Page,
    *,
    furniture_spans: Collection[int] = (),
    earlier_headers: Mapping[tuple[int, ...], tuple[str, ...]] = _NO_EARLIER_HEADERS,
) -> list[FoundTable]:
    """Extract the tagged tables of a page in tag order; a table with fewer than two rows or columns stays text.

    Args:
        page: Page with tags; a page without tags has no tables here.
        furniture_spans: Numbers of the spans (`span_ix`) of running heads and feet.
        earlier_headers: Headers of tables whose header cells are tagged on an earlier page, by the path of the table's
            tag.
    """
    places = find_places(page.tags)
    if not any(place.table_ix >= 0 for place in places):
        return []
    tables: list[FoundTable] = []
    page_runs = find_runs(split_leaders(page.spans), ruling=_NO_RULING)
    ruling = merge_rules(page.rules)
    for table_ix, tagged_rows in _collect(page, places, furniture_spans).items():
        rows = _join_wrapped_names(tagged_rows)
        path = page.tags[table_ix].path
        lead_count = 0 if path in earlier_headers else _count_lead_rows(rows)
        body = rows[lead_count:]
        if not _has_columns(body):
            continue
        inner_tables: list[FoundTable] = []
        if are_worksheet_rows(body):
            body, inner_tables = _take_inner(page, body, ruling)
            table: FoundTable | None = read_worksheet(page.page, body)
        else:
            grid = build_grid(page, body, ruling)
            carried_headers = earlier_headers.get(path, ())
            table = (
                read_grid(page, grid, _count_header_rows(body), carried_headers=carried_headers)
                if grid is not None
                else None
            )
        if table is None or is_text_box(table):
            continue
        box = bounding_box_of([run for row in rows for cell in row for run in cell.runs])
        caption = find_caption(page_runs, box)
        # Lines go to the first region that holds them: the tables inside a worksheet come before it.
        for inner_table in inner_tables:
            title = ", ".join(part for part in (caption, inner_table.title) if part)
            tables.append(
                replace(inner_table, title=title, region=replace(inner_table.region, kind="inner", tag_ix=table_ix))
            )
        tables.append(_complete(table, rows[:lead_count], caption=caption, box=box, tag_ix=table_ix, path=path))
    return tables


def _renumber(rows: Sequence[CellRow]) -> list[CellRow]:
    """Number the cells of rows without the columns that only other rows of the worksheet have."""
    used_numbers = sorted({cell.number for row in rows if is_amount_row(row) for cell in row})
    return [[replace(cell, number=bisect_left(used_numbers, cell.number)) for cell in row] for row in rows]


def _take_inner(page: Page, rows: Sequence[CellRow], ruling: Ruling) -> tuple[list[CellRow], list[FoundTable]]:
    """Read the tables with headers inside a worksheet; also return the rows that are left."""
    outer_rows = list(rows)
    tables: list[FoundTable] = []
    for row_ixs in find_inner_tables(rows):
        inner_rows = [rows[ix] for ix in row_ixs]
        grid = build_grid(page, _renumber(inner_rows), ruling)
        table = read_grid(page, grid, 1) if grid is not None else None
        if table is not None:
            tables.append(replace(table, has_header_tags=False))
            outer_rows = [row for row in outer_rows if not any(row is other for other in inner_rows)]
    return outer_rows, tables


def _join_wrapped_names(rows: Sequence[CellRow]) -> list[CellRow]:
    """Join a name that is wrapped over two rows: the first has nothing else, the second continues in small letters."""
    joined_rows: list[CellRow] = []
    for row in rows:
        above = joined_rows[-1] if joined_rows else None
        if above is not None and len(above) == 1 and len(row) > 1 and _continues_name(above[0], row[0]):
            name = replace(row[0], runs=[*above[0].runs, *row[0].runs])
            joined_rows[-1] = [name, *row[1:]]
        else:
            joined_rows.append(row)
    return joined_rows


def _continues_name(above: RowCell, below: RowCell) -> bool:
    text_above, text_below = above.text, below.text
    is_name = above.number == below.number == 0 and above.is_bold == below.is_bold and text_above[:1].isupper()
    gap = below.runs[0].y0 - above.runs[-1].y1
    return is_name and text_above[-1:].isalpha() and text_below[:1].islower() and gap < above.runs[-1].size_pt


def _count_lead_rows(rows: Sequence[CellRow]) -> int:
    """Count the rows of one cell that a table begins with: its title, or notes on how to use it.

    Where more such rows follow, they head groups of rows, and so do as many of the last ones as ever follow each other.
    """
    are_single_cells = [len(row) == 1 and not row[0].is_numbered for row in rows]
    lead_count = next((ix for ix, is_single in enumerate(are_single_cells) if not is_single), len(rows))
    if lead_count == len(rows):
        return 0
    last_lead_cell = rows[lead_count - 1][0] if lead_count else None
    if (
        last_lead_cell is None
        or not last_lead_cell.is_bold
        or last_lead_cell.is_header
        or all(cell.is_bold for cell in rows[lead_count])
    ):
        return lead_count
    if lead_count == 1:
        return 0 if any(are_single_cells[lead_count:]) else lead_count
    are_heads = [is_single and row[0].is_bold for row, is_single in zip(rows, are_single_cells, strict=True)]
    head_run_lengths = [sum(1 for _ in run) for is_head, run in groupby(are_heads[lead_count:]) if is_head]
    return max(lead_count - max(head_run_lengths, default=0), 0)


def _has_columns(rows: Sequence[CellRow]) -> bool:
    """Decide whether any row has words in two cells: rows of one cell each, some next to an icon, are paragraphs."""
    return any(sum(not load_roles().icons.matches(cell.text) for cell in row) > 1 for row in rows)


def _count_header_rows(rows: Sequence[CellRow]) -> int:
    """Count the leading rows whose cells are all tagged as headers; a table of headers alone has none."""
    return next((ix for ix, row in enumerate(rows) if not all(cell.is_header for cell in row)), 0)


def _complete(
    table: FoundTable, lead_rows: Sequence[CellRow], *, caption: str, box: Rectangle, tag_ix: int, path: tuple[int, ...]
) -> FoundTable:
    """Add to a table its title, and its leading notes as cells of no column."""
    titles: list[RowCell] = []
    notes: list[RowCell] = []
    limits = load_tables().tagged
    for row in lead_rows:
        is_title = (row[0].is_bold or row[0].is_header) and len(row[0].text) <= limits.title_chars
        (titles if is_title else notes).append(row[0])
    cells = [
        Cell(ix, NOTE_COLUMN, cell.text, "", cell.text, bounding_box_of(cell.runs)) for ix, cell in enumerate(notes)
    ]
    cells += [replace(cell, row_ix=cell.row_ix + len(notes)) for cell in table.cells]
    parts = dict.fromkeys([caption, *(cell.text for cell in titles), table.title])
    title = ", ".join(part for part in parts if part)
    region = replace(table.region, x0=box.x0, y0=box.y0, x1=box.x1, y1=box.y1, tag_ix=tag_ix)
    return replace(table, region=region, title=title, cells=tuple(cells), path=path)


def _filled(cells: Iterable[RowCell]) -> CellRow:
    """Keep the cells with text, in their order."""
    return sorted((cell for cell in cells if cell.runs), key=lambda cell: cell.number)


def _collect(page: Page, places: Sequence[TagPlace], furniture_spans: Collection[int] = ()) -> dict[int, list[CellRow]]:
    """Collect the cells of each table by row, both in the order of their tags."""
    cells_by_row_and_table: dict[int, dict[int, dict[int, RowCell]]] = defaultdict(dict)
    furniture_places: list[tuple[TagPlace, Span]] = []
    for span in page.spans:
        place = places[span.tag_ix] if span.tag_ix >= 0 else None
        if place is None or place.cell_ix < 0 or place.row_ix < 0 or not span.text.strip():
            continue
        if span.span_ix in furniture_spans:
            if not load_roles().icons.matches(span.text.strip()):
                furniture_places.append((place, span))
            continue
        row = cells_by_row_and_table[place.table_ix].setdefault(place.row_ix, {})
        number = page.tags[place.cell_ix].path[-1]
        row.setdefault(place.cell_ix, RowCell(number, place.is_header)).spans.append(span)
    # From the nearest line of the cell outwards: an address of three lines has two that look like a running head.
    for place, span in [*furniture_places, *reversed(furniture_places)]:
        row = cells_by_row_and_table[place.table_ix].get(place.row_ix, {})
        cell = row.get(place.cell_ix, RowCell(page.tags[place.cell_ix].path[-1], place.is_header))
        other_cells = [other for ix, other in row.items() if ix != place.cell_ix]
        if span not in cell.spans and (_shares_line(span, other_cells) or _is_next_line(span, cell)):
            row.setdefault(place.cell_ix, cell).spans.append(span)
    tables: dict[int, list[CellRow]] = {}
    for table_ix, rows in cells_by_row_and_table.items():
        for row in rows.values():
            for cell in row.values():
                cell.runs = find_runs(split_leaders(cell.spans), ruling=_NO_RULING)
        tables[table_ix] = [filled_cells for row in rows.values() if (filled_cells := _filled(row.values()))]
    return tables


def _shares_line(span: Span, cells: Iterable[RowCell]) -> bool:
    """Decide whether a number at the edge of the page shares a line with its row: it is no page number."""
    middle_y = (span.y0 + span.y1) / 2
    return any(abs((other.y0 + other.y1) / 2 - middle_y) <= 1.0 for cell in cells for other in cell.spans)


def _is_next_line(span: Span, cell: RowCell) -> bool:
    """Decide whether a span is set right above or below words of its own cell, as a line of an address is."""
    middle_y = (span.y0 + span.y1) / 2
    return any(abs((other.y0 + other.y1) / 2 - middle_y) <= 1.3 * span.size_pt for other in cell.spans)
