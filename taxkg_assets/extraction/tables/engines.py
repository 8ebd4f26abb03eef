"""Who reads the tables of a document: our own fast path, PyMuPDF's finder as a second opinion, or docling.

One interface: bytes and pages in, tables by page out, with what went wrong as warnings. Whatever another engine needs
and does not find, the document is read all the same, by our own.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from taxkg_assets.extraction.authored.structure_tree import has_table_tag
from taxkg_assets.extraction.layout.printed_text import PrintedText
from taxkg_assets.extraction.layout.regions import TableRegion
from taxkg_assets.extraction.layout.text_runs import Run, is_amount, join_text
from taxkg_assets.extraction.pdf.library import load_layout, pymupdf
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.extraction.tables.cells import PATH_SEPARATOR, Cell, FoundTable
from taxkg_assets.extraction.tables.continued import ContinuedTables
from taxkg_assets.extraction.tables.grid import Rectangle
from taxkg_assets.extraction.tables.parts import Part
from taxkg_assets.extraction.tables.regions import find_drawings
from taxkg_assets.extraction.tables.tables import find_tables, find_title, find_unread_boxes
from taxkg_assets.extraction.tables.tagged import read_tagged_page
from taxkg_assets.extraction.tables.untagged import find_untagged_tables
from taxkg_assets.rules.models.tables import load_tables

DOCLING_REMEDY = "Install it with `pip install '.[docling]'` in the checkout, or set TAXKG_TABLE_ENGINE=own."
MODELS_REMEDY = "Fetch its models with `docling-tools models download`, or set TAXKG_TABLE_ENGINE=own."


@dataclass(frozen=True, slots=True)
class TableReadings:
    """The tables of each page, and the engine's warnings."""

    found: dict[int, list[FoundTable]]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GridCell:
    """One cell as an engine returns it.

    Attributes:
        row_ix: 0-based first row.
        col_ix: 0-based first column.
        text: Words of the cell.
        box: Rectangle in points.
        row_span: Number of rows.
        col_span: Number of columns.
        is_column_header: Whether it is a header of columns.
        is_row_header: Whether it names a row.
        is_row_section: Whether it names the group of the rows below it.
    """

    row_ix: int
    col_ix: int
    text: str
    box: Rectangle
    row_span: int = 1
    col_span: int = 1
    is_column_header: bool = False
    is_row_header: bool = False
    is_row_section: bool = False


class TableEngine(Protocol):
    """Interface of an engine that extracts the tables of a document, except on form faces."""

    name: str

    def read(
        self, data: bytes, pages: Sequence[Page], *, faces: Collection[int], text: PrintedText | None = None
    ) -> TableReadings:
        """Extract the tables of a document.

        Args:
            data: Bytes of the PDF.
            pages: Pages of the document.
            faces: 1-based pages that show a form's face.
            text: Printed lines of the pages, where they are read already.

        Returns:
            Tables by 1-based page, from top to bottom, with the engine's warnings.
        """


class OwnEngine:
    """The built-in engine: drawn lines, gaps in the text, bold and shaded rows; see `tables`."""

    name = "own"

    def read(
        self, data: bytes, pages: Sequence[Page], *, faces: Collection[int], text: PrintedText | None = None
    ) -> TableReadings:
        """Extract tables by tags on tagged pages, and by drawn lines, gaps and shading on others.

        Args:
            data: Bytes of the PDF.
            pages: Pages of the document.
            faces: 1-based pages that show a form's face.
            text: Printed lines of the pages, where they are read already.

        Returns:
            Tables by 1-based page, from top to bottom, with the engine's warnings.
        """
        continued = ContinuedTables()
        return TableReadings({page.page: _read_page(page, page.page in faces, text, continued) for page in pages})


def _read_page(page: Page, is_face: bool, text: PrintedText | None, continued: ContinuedTables) -> list[FoundTable]:
    if not page.tags:
        return find_tables(page, is_face=is_face)
    if not has_table_tag(page.tags):
        return [] if is_face else find_untagged_tables(page)
    furniture = text.find_furniture(page) if text is not None else ()
    return continued.add(page, read_tagged_page(page, furniture_spans=furniture, earlier_headers=continued.headers))


class PymupdfEngine:
    """The built-in engine, with PyMuPDF's table finder for regions that the built-in engine cannot read."""

    name = "pymupdf"

    def read(
        self, data: bytes, pages: Sequence[Page], *, faces: Collection[int], text: PrintedText | None = None
    ) -> TableReadings:
        """Extract tables with the built-in engine, then with PyMuPDF where it could not.

        Args:
            data: Bytes of the PDF.
            pages: Pages of the document.
            faces: 1-based pages that show a form's face.
            text: Printed lines of the pages, where they are read already.

        Returns:
            Tables by 1-based page, from top to bottom, with the engine's warnings.
        """
        tables_by_page = OwnEngine().read(data, pages, faces=faces, text=text).found
        # The finder sees a sideways page as it is printed, not turned upright.
        unread = {
            page.page: [] if page.sideways else find_unread_boxes(page, is_face=page.page in faces) for page in pages
        }
        if any(unread.values()):
            load_layout()
            with pymupdf.open(stream=data, filetype="pdf") as document:
                for page in pages:
                    for box in unread[page.page]:
                        tables_by_page[page.page] = _add_further_tables(
                            tables_by_page[page.page], read_pymupdf_tables(document[page.page - 1], page, box)
                        )
        return TableReadings(tables_by_page)


class DoclingEngine:
    """docling's layout and table models, with the built-in engine where docling finds none or is not installed."""

    name = "docling"

    def read(
        self, data: bytes, pages: Sequence[Page], *, faces: Collection[int], text: PrintedText | None = None
    ) -> TableReadings:
        """Extract tables with docling, or with the built-in engine where docling finds none or cannot run.

        Args:
            data: Bytes of the PDF.
            pages: Pages of the document.
            faces: 1-based pages that show a form's face.
            text: Printed lines of the pages, where they are read already.

        Returns:
            Tables by 1-based page, from top to bottom, with the engine's warnings.
        """
        own_tables = OwnEngine().read(data, pages, faces=faces, text=text).found
        try:
            from docling.datamodel.base_models import DocumentStream
            from docling.document_converter import DocumentConverter
        except ImportError:
            return TableReadings(
                own_tables, (f"docling is not installed; tables were read by our own engine. {DOCLING_REMEDY}",)
            )
        try:
            stream = DocumentStream(name="document.pdf", stream=io.BytesIO(data))
            document = DocumentConverter().convert(stream).document
        except Exception as missing:
            # Models that are absent show in many ways: no file, no network, no permission.
            reason = " ".join(f"{type(missing).__name__}: {missing}".split())[:200]
            warning = f"docling could not read ({reason}); tables were read by our own engine. {MODELS_REMEDY}"
            return TableReadings(own_tables, (warning,))
        docling_tables = read_docling_tables(document.tables, pages)
        return TableReadings(
            {
                page_number: _add_further_tables(docling_tables[page_number], tables)
                if page_number in docling_tables and page_number not in faces
                else tables
                for page_number, tables in own_tables.items()
            }
        )


ENGINES: Mapping[str, TableEngine] = {engine.name: engine for engine in (OwnEngine(), PymupdfEngine(), DoclingEngine())}


def build_found_table(page: Page, box: Rectangle, cells: Sequence[GridCell]) -> FoundTable | None:
    """Convert an engine's cells to a table with row and column header paths.

    Args:
        page: Page of the table.
        box: Rectangle of the table.
        cells: Cells as the engine returns them.

    Returns:
        The table; None if it has fewer than two columns or no body.
    """
    width = max((cell.col_ix + cell.col_span for cell in cells), default=0)
    body = [cell for cell in cells if not cell.is_column_header and not cell.is_row_section and cell.text]
    if width < 2 or not body:
        return None
    headers = tuple(_header_path(cells, column) for column in range(width))
    name_columns = {cell.col_ix for cell in body if cell.is_row_header} or {0}
    sections = sorted((cell.row_ix, cell.text) for cell in cells if cell.is_row_section)
    first_row = min(cell.row_ix for cell in body)
    body_cells = []
    for cell in sorted(body, key=lambda cell: (cell.row_ix, cell.col_ix)):
        names = sorted(
            (other.col_ix, other.text)
            for other in body
            if other.col_ix in name_columns
            and other.col_ix < cell.col_ix
            and other.row_ix <= cell.row_ix < other.row_ix + other.row_span
        )
        group = [text for row_ix, text in sections if row_ix < cell.row_ix][-1:]
        path = PATH_SEPARATOR.join([*group, *(text for _, text in names)])
        header = headers[cell.col_ix]
        body_cells.append(
            Cell(
                cell.row_ix - first_row, cell.col_ix, path or ("" if header else cell.text), header, cell.text, cell.box
            )
        )
    region = TableRegion(page.page, box.x0, box.y0, box.x1, box.y1, "ruled")
    part = Part(0, width - 1, len(name_columns))
    return FoundTable(region, find_title(page, box), headers, (part,), tuple(body_cells))


def read_docling_tables(tables: Sequence[Any], pages: Sequence[Page]) -> dict[int, list[FoundTable]]:
    """Convert docling's tables to ours; a table of several pages counts for the page where it begins.

    Args:
        tables: Table items of docling's document.
        pages: Pages of the document.

    Returns:
        Tables by 1-based page.
    """
    by_number = {page.page: page for page in pages if not page.sideways}
    tables_by_page: dict[int, list[FoundTable]] = {}
    for item in tables:
        if not item.prov or item.prov[0].page_no not in by_number:
            continue
        page = by_number[item.prov[0].page_no]
        box = _docling_box(item.prov[0].bbox, page)
        cells = [
            GridCell(
                row_ix=cell.start_row_offset_idx,
                col_ix=cell.start_col_offset_idx,
                text=" ".join(cell.text.split()),
                box=_docling_box(cell.bbox, page) if cell.bbox is not None else box,
                row_span=cell.row_span,
                col_span=cell.col_span,
                is_column_header=cell.column_header,
                is_row_header=cell.row_header,
                is_row_section=cell.row_section,
            )
            for cell in item.data.table_cells
        ]
        table = build_found_table(page, box, cells)
        if table is not None:
            tables_by_page.setdefault(page.page, []).append(table)
    return tables_by_page


def _docling_box(bbox: Any, page: Page) -> Rectangle:
    """Convert a rectangle of docling, which counts from the bottom or the top of the page."""
    origin = str(getattr(bbox.coord_origin, "value", bbox.coord_origin))
    tops = (page.height_pt - bbox.t, page.height_pt - bbox.b) if origin == "BOTTOMLEFT" else (bbox.t, bbox.b)
    return Rectangle(bbox.l, min(tops), bbox.r, max(tops))


def read_pymupdf_tables(pymupdf_page: Any, page: Page, box: Rectangle) -> list[FoundTable]:
    """Convert the tables that PyMuPDF's finder reads in one region.

    Args:
        pymupdf_page: PyMuPDF's page.
        page: The same page as read.
        box: Rectangle to search.

    Returns:
        Tables that are filled with short texts.
    """
    found_tables = []
    limits = load_tables().regions
    _, runs = find_drawings(page, is_face=False)
    for table in pymupdf_page.find_tables(clip=(box.x0, box.y0, box.x1, box.y1)).tables:
        cells = _pymupdf_cells(table, runs)
        words = [len(cell.text.split()) for cell in cells if cell.text]
        is_full = len(words) >= limits.min_fill_frac * table.row_count * table.col_count
        is_prose = not words or sum(words) / len(words) > limits.max_mean_words or max(words) > limits.max_cell_words
        found_table = build_found_table(page, Rectangle(*table.bbox), cells) if is_full and not is_prose else None
        if found_table is not None and table.row_count > 1:
            found_tables.append(found_table)
    return found_tables


def _pymupdf_cells(table: Any, runs: Sequence[Run]) -> list[GridCell]:
    """Return the cells of PyMuPDF's table, with our own reading of their text, which keeps its blanks.

    A place without rectangle belongs to the cell to its left. The first row is the header unless it holds amounts:
    PyMuPDF takes a caption above the frame for one.
    """
    cells: list[GridCell] = []
    for row_ix, row in enumerate(table.rows):
        for col_ix, rectangle in enumerate(row.cells):
            if rectangle is not None:
                next_column = next(
                    (k for k in range(col_ix + 1, len(row.cells)) if row.cells[k] is not None), len(row.cells)
                )
                box = Rectangle(*rectangle)
                text = join_text(run for run in runs if box.holds(run))
                cells.append(GridCell(row_ix, col_ix, text, box, col_span=next_column - col_ix))
    first_row_cells = [cell for cell in cells if cell.row_ix == 0]
    if any(is_amount(cell.text) for cell in first_row_cells if cell.text):
        return cells
    return [replace(cell, is_column_header=cell.row_ix == 0) for cell in cells]


def _header_path(cells: Sequence[GridCell], column: int) -> str:
    headers_above = [
        cell
        for cell in cells
        if cell.is_column_header and cell.text and cell.col_ix <= column < cell.col_ix + cell.col_span
    ]
    return PATH_SEPARATOR.join(cell.text for cell in sorted(headers_above, key=lambda cell: cell.row_ix))


def _add_further_tables(own_tables: Sequence[FoundTable], other_tables: Sequence[FoundTable]) -> list[FoundTable]:
    """Return the tables of one engine, and those of another that overlap none of them, from top to bottom."""
    further_tables = [
        table
        for table in other_tables
        if not any(_overlaps(table.region, own_table.region) for own_table in own_tables)
    ]
    return sorted([*own_tables, *further_tables], key=lambda table: (table.region.y0, table.region.x0))


def _overlaps(a: TableRegion, b: TableRegion) -> bool:
    return a.x0 < b.x1 - 3 and b.x0 < a.x1 - 3 and a.y0 < b.y1 - 3 and b.y0 < a.y1 - 3
