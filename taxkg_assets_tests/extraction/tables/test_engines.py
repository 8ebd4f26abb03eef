"""Table engines behind one interface: the same tables in the same shape, and ours where another cannot work."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pymupdf
import pytest

from taxkg_assets.extraction.extract import extract
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.tables.engines import (
    DOCLING_REMEDY,
    ENGINES,
    MODELS_REMEDY,
    TableReadings,
    read_docling_tables,
    read_pymupdf_tables,
)
from taxkg_assets.extraction.tables.grid import Rectangle
from taxkg_assets_tests.extraction import table_pdfs


def _pages(data: bytes) -> Any:
    return read_source(data, document_id="sample").pages


def _read(name: str, data: bytes) -> Any:
    return ENGINES[name].read(data, _pages(data), faces=())


@pytest.fixture
def no_docling(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("docling", "docling.datamodel.base_models", "docling.document_converter"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def docling_without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """A docling that is installed but finds no models, as on a machine without a network."""

    class DocumentConverter:
        def convert(self, stream: Any) -> Any:
            raise FileNotFoundError(f"no models for {stream.name}")

    converter, models = ModuleType("docling.document_converter"), ModuleType("docling.datamodel.base_models")
    converter.DocumentConverter = DocumentConverter  # type: ignore[attr-defined]
    models.DocumentStream = SimpleNamespace  # type: ignore[attr-defined]
    for module in (ModuleType("docling"), ModuleType("docling.datamodel"), models, converter):
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.usefixtures("no_docling")
def test_without_docling_our_own_tables_come_with_one_warning() -> None:
    data = table_pdfs.stacked()
    readings = _read("docling", data)
    assert readings.found == _read("own", data).found
    assert [warning for warning in readings.warnings if DOCLING_REMEDY in warning] == list(readings.warnings)
    assert len(readings.warnings) == 1


@pytest.mark.usefixtures("docling_without_models")
def test_docling_without_models_is_named_with_its_remedy() -> None:
    data = table_pdfs.over_pages()
    readings = _read("docling", data)
    assert readings.found == _read("own", data).found
    (warning,) = readings.warnings
    assert "FileNotFoundError: no models" in warning
    assert MODELS_REMEDY in warning


def _cell(text: str, row: int, column: int, **columns: Any) -> SimpleNamespace:
    """A cell in the shape of docling_core's TableCell."""
    rows, cols = columns.pop("row_span", 1), columns.pop("col_span", 1)
    corner = SimpleNamespace(l=54 + 100 * column, t=100 + 20 * row, r=150 + 100 * column, b=118 + 20 * row)
    corner.coord_origin = "TOPLEFT"
    flags = {"column_header": False, "row_header": False, "row_section": False, **columns}
    return SimpleNamespace(
        text=text, bbox=corner, row_span=rows, col_span=cols,
        start_row_offset_idx=row, end_row_offset_idx=row + rows,
        start_col_offset_idx=column, end_col_offset_idx=column + cols, **flags,
    )  # fmt: skip


def test_docling_cells_get_header_paths_sections_and_rectangles() -> None:
    cells = [
        _cell("Boat", 0, 0, row_span=2, column_header=True),
        _cell("Duty", 0, 1, col_span=2, column_header=True),
        _cell("Summer", 1, 1, column_header=True),
        _cell("Winter", 1, 2, column_header=True),
        _cell("North harbour", 2, 0, col_span=3, row_section=True),
        _cell("Sailing\nboat", 3, 0, row_header=True),
        _cell("$7", 3, 1),
        _cell("$9", 3, 2),
    ]
    bbox = SimpleNamespace(l=54, t=700, r=350, b=600, coord_origin=SimpleNamespace(value="BOTTOMLEFT"))
    item = SimpleNamespace(prov=[SimpleNamespace(page_no=1, bbox=bbox)], data=SimpleNamespace(table_cells=cells))
    elsewhere = SimpleNamespace(prov=[], data=SimpleNamespace(table_cells=cells))
    pages = _pages(table_pdfs.words_only())
    ((number, (table,)),) = read_docling_tables([item, elsewhere], pages).items()
    assert number == 1
    paths = {cell.text: (cell.row_path, cell.col_path) for cell in table.cells}
    assert paths["$9"] == ("North harbour > Sailing boat", "Duty > Winter")
    assert paths["Sailing boat"] == ("North harbour", "Boat")
    assert (table.region.y0, table.region.y1) == (pages[0].height_pt - 700, pages[0].height_pt - 600)
    assert table.cells[1].box == Rectangle(154, 160, 250, 178)


def test_pymupdf_reads_a_ruled_region_into_the_same_shape() -> None:
    data = table_pdfs.over_pages()
    (page, *_), module = _pages(data), pymupdf
    own = _read("own", data).found[1][0]
    with module.open(stream=data, filetype="pdf") as document:  # type: ignore[no-untyped-call]
        region = own.region
        (table,) = read_pymupdf_tables(document[0], page, Rectangle(region.x0, region.y0, region.x1, region.y1))
    assert table.title == own.title
    assert {(cell.row_path, cell.col_path, cell.text) for cell in table.cells} == {
        (cell.row_path, cell.col_path, cell.text) for cell in own.cells
    }


def test_the_second_opinion_keeps_our_own_tables() -> None:
    for build in (table_pdfs.half_ruled, table_pdfs.stacked, table_pdfs.unruled):
        data = build()
        assert _read("pymupdf", data).found == _read("own", data).found


@pytest.mark.usefixtures("no_docling")
def test_a_document_says_which_engine_read_its_tables() -> None:
    data = table_pdfs.words_only()
    assert extract(data, document_id="sample").warnings == ()
    assert extract(data, document_id="sample", table_engine="pymupdf").warnings == (
        "Tables read with the engine pymupdf.",
    )
    said = extract(data, document_id="sample", table_engine="docling").warnings
    assert DOCLING_REMEDY in said[0]


def test_a_table_whose_cells_lost_their_headers_is_kept_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table_pdfs.stacked()
    well_read = extract(data, document_id="sample")
    found = {
        number: [
            replace(table, cells=tuple(replace(cell, row_path="", col_path="") for cell in table.cells))
            for table in tables
        ]
        for number, tables in _read("own", data).found.items()
    }
    monkeypatch.setitem(ENGINES, "own", SimpleNamespace(name="own", read=lambda *_, **__: TableReadings(found)))
    misread = extract(data, document_id="sample")
    assert well_read.frames["tables"].height
    assert not well_read.warnings
    assert misread.warnings == (
        f"Tables kept as text, as cells have no header: {', '.join(well_read.frames['tables']['table_id'])}.",
    )
    assert misread.frames["tables"].height == 0
    for name in ("elements", "sections"):
        assert misread.frames[name]["table_id"].null_count() == misread.frames[name].height
    assert misread.frames["elements"]["text"].to_list() == well_read.frames["elements"]["text"].to_list()
    assert set(misread.frames["sections"]["element_id"]) >= set(well_read.frames["sections"]["element_id"])
