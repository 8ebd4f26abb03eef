"""Frames around text are no tables; short names next to long texts are one, however few rows a page has of them."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.layout.regions import TableRegion
from taxkg_assets.extraction.tables.cells import NOTE_COLUMN, Cell, FoundTable, is_text_box
from taxkg_assets.extraction.tables.grid import Rectangle
from taxkg_assets.extraction.tables.parts import Part
from taxkg_assets.extraction.tables.tables import build_tables
from taxkg_assets_tests.extraction.drawn import Canvas, source_of

_BOX = Rectangle(40.0, 60.0, 90.0, 72.0)
_PASSAGE = " ".join(["Keepers clean the hive before the first frost."] * 4)


def _table(*rows: tuple[str, ...], column: int = 0) -> FoundTable:
    cells = [
        Cell(i, column + j, "", "", text, _BOX) for i, row in enumerate(rows) for j, text in enumerate(row) if text
    ]
    region = TableRegion(1, 40.0, 60.0, 400.0, 300.0, "ruled")
    return FoundTable(region, "", ("", ""), (Part(0, 1, 1),), tuple(cells))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((("Straw hive", _PASSAGE), ("Wooden hive", _PASSAGE)), False),
        ((("Straw hive", _PASSAGE),), False),
        ((("Straw hive", _PASSAGE, _PASSAGE), ("Wooden hive", _PASSAGE, _PASSAGE)), False),
        ((("", _PASSAGE), ("Wooden hive", _PASSAGE)), False),
        ((("2031 Honey Table",), (_PASSAGE, _PASSAGE)), True),
        ((("2031 Honey Table", _PASSAGE), (_PASSAGE, _PASSAGE)), True),
        ((("2031 Honey Table", _PASSAGE), ("", _PASSAGE)), True),
        (((_PASSAGE, _PASSAGE), (_PASSAGE, _PASSAGE)), True),
        ((("Straw hive", "$4"), ("Wooden hive", "$7")), False),
        ((("Straw hive", " ".join([_PASSAGE] * 6)),), True),
    ],
)
def test_a_frame_of_passages_is_text(rows: tuple[tuple[str, ...], ...], *, expected: bool) -> None:
    assert is_text_box(_table(*rows)) is expected


def test_a_table_of_notes_alone_is_no_text_box() -> None:
    assert not is_text_box(_table(("Note. Boats on land pay nothing.",), column=NOTE_COLUMN))


def test_the_last_page_of_a_table_of_terms_keeps_its_two_rows() -> None:
    canvas = Canvas(1)
    line = "keepers clean the hive before the first frost of"
    for i, name in enumerate(("Straw hive", "Wooden hive")):
        canvas.text(104, 43 + 48 * i, name)
        for j in range(3):
            canvas.text(204, 43 + 48 * i + 12 * j, f"{line} {i}{j}")
    canvas.grid([100, 200, 500], [40.0, 88.0, 136.0])
    (table,) = build_tables(source_of(canvas)).to_dicts()
    assert [cell["row_path"] for cell in table["cells"] if cell["col_ix"] == 1] == ["Straw hive", "Wooden hive"]
