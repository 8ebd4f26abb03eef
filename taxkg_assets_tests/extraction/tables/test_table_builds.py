"""Cells and paths of tables in real PDFs, one for each way to build a table."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.tables.tables import build_tables
from taxkg_assets_tests.extraction import table_pdfs


def _tables(data: bytes) -> list[dict[str, Any]]:
    return list(build_tables(read_source(data, document_id="sample")).iter_rows(named=True))


def _paths(table: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {cell["text"]: (cell["row_path"], cell["col_path"]) for cell in table["cells"]}


def test_horizontals_alone_make_a_table_with_spanning_headers_and_groups() -> None:
    (table,) = _tables(table_pdfs.half_ruled())
    assert table["title"] == "Table 5. Harbour Duty by Length and Season"
    paths = _paths(table)
    assert paths["36"] == ("Sailing boats: > 20 to 39 feet", "Summer > Weekly")
    assert paths["33"] == ("Sailing boats: > 40 feet or more, with or without an engine of its own", "Winter")
    assert paths["15"] == ("Motor boats: > 20 feet or more", "Summer > Daily")
    assert "Sailing boats:" not in paths
    assert all("Boats on land" not in text for text in paths)


def test_columns_of_amounts_without_any_line_are_tables_with_their_captions() -> None:
    fares, locks = _tables(table_pdfs.unruled())
    assert (fares["title"], locks["title"]) == ("Table 6. Ferry Fares", "Table 7. Lock Fees")
    assert _paths(fares)["22.75"] == ("16 to 40 miles", "Vehicle")
    assert _paths(locks)["16"] == ("South", "Night")
    assert len(fares["cells"]) == 4 * 4


def test_a_table_over_pages_carries_its_headers_to_each_of_them() -> None:
    tables = _tables(table_pdfs.over_pages())
    assert [table["page"] for table in tables] == [1, 2, 3]
    for berth, table in ((6, tables[0]), (12, tables[1]), (18, tables[2])):
        assert _paths(table)[f"${200 + berth}"] == (f"Berth {berth}", "Summer rent")
        assert _paths(table)[f"Berth {berth}"] == ("", "Berth")
        assert table["markdown"].startswith("| Berth | Spring rent | Summer rent | Winter rent |")
        assert table["title"].startswith("Table 8. Berth Rents")


def test_stacked_headers_and_names_over_several_rows_make_whole_paths() -> None:
    permits, fines = _tables(table_pdfs.stacked())
    assert _paths(permits)["15"] == ("Eastern > Week", "Permits issued > Visitors > 2029")
    assert _paths(permits)["54"] == ("Western > Week", "Permits issued > Residents > 2030")
    assert _paths(fines)["$20"] == ("Week", "Fine")


def test_words_wrap_inside_their_cells_and_a_note_belongs_to_no_column() -> None:
    (table,) = _tables(table_pdfs.words_only())
    paths = _paths(table)
    assert paths["Before the first day of June"] == ("Sailing boat of a resident", "When")
    assert paths["No office; use the letter box"] == ("Any boat of a visitor", "Office")
    note = "Note. Boats on land need no return at all."
    assert paths[note] == (note, "")
    assert table["markdown"].splitlines()[-1] == note


@pytest.mark.parametrize("build", ["half_ruled", "unruled", "over_pages", "stacked", "words_only"])
def test_every_cell_holds_the_text_that_is_in_its_rectangle(build: str) -> None:
    data = getattr(table_pdfs, build)()
    pages = read_source(data, document_id="sample").pages
    for table in _tables(data):
        for cell in table["cells"]:
            box = cell["bbox"]
            inside = {
                word
                for span in pages[table["page"] - 1].spans
                if box["x0_pt"] - 1 <= (span.x0 + span.x1) / 2 <= box["x1_pt"] + 1
                and box["y0_pt"] - 1 <= (span.y0 + span.y1) / 2 <= box["y1_pt"] + 1
                for word in span.text.split()
            }
            assert set(cell["text"].split()) <= inside
