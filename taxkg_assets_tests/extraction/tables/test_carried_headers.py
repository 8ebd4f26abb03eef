"""Tables that continue without headers: each column's header once, and rows named by both ends of their ranges."""

from __future__ import annotations

from taxkg_assets.extraction.layout.regions import TableRegion
from taxkg_assets.extraction.tables.carried_headers import carry_headers
from taxkg_assets.extraction.tables.cells import Cell, FoundTable
from taxkg_assets.extraction.tables.grid import Rectangle
from taxkg_assets.extraction.tables.parts import Part

_BOX = Rectangle(40.0, 60.0, 90.0, 72.0)
_HEADERS = ("Yield > At least", "Yield > But less than", "Fee")


def _table(page: int, headers: tuple[str, ...], cells: tuple[Cell, ...]) -> FoundTable:
    region = TableRegion(page, 40.0, 60.0, 400.0, 300.0, "ruled")
    return FoundTable(region, "", headers, (Part(0, 2, 1),), cells, path=(0, 4))


def test_a_continued_table_has_each_header_once_and_rows_with_both_ends() -> None:
    first = _table(1, _HEADERS, (Cell(0, 0, "", "Yield > At least", "0", _BOX),))
    rest = (
        Cell(1, 0, "40", "", "40", _BOX),
        Cell(1, 1, "40", "Yield", "50", _BOX),
        Cell(1, 2, "40", "Northern Harbour", "7.50", _BOX),
    )
    _, continued = carry_headers([first, _table(2, ("", "", ""), rest)])
    assert [(cell.row_path, cell.col_path, cell.text) for cell in continued.cells] == [
        ("", "Yield > At least", "40"),
        ("40", "Yield > But less than", "50"),
        ("40 > 50", "Fee > Northern Harbour", "7.50"),
    ]


def test_the_open_group_continues_over_the_page() -> None:
    box, none = _BOX, ("", "")
    first = (Cell(0, 0, "Birds > Gulls", "", "101", box), Cell(0, 1, "Birds > Gulls > 101", "", "Herring gull", box))
    rest = (
        Cell(0, 0, "102", "", "102", box),
        Cell(0, 1, "102", "", "Common gull", box),
        Cell(2, 0, "Fish", "", "201", box),
        Cell(2, 1, "Fish > 201", "", "Eel", box),
    )
    _, continued = carry_headers([_table(1, none, first), _table(2, none, rest)])
    paths = ["Birds > Gulls", "Birds > Gulls > 102", "Fish", "Fish > 201"]
    assert [cell.row_path for cell in continued.cells] == paths


def test_numbers_of_other_lengths_are_no_codes_of_the_open_group() -> None:
    box, none = _BOX, ("", "")
    first = (Cell(0, 0, "Birds > Gulls", "", "101", box), Cell(0, 1, "Birds > Gulls > 101", "", "Herring gull", box))
    rest = (Cell(0, 0, "12", "", "12", box), Cell(0, 1, "12", "", "Common gull", box))
    _, continued = carry_headers([_table(1, none, first), _table(2, none, rest)])
    assert [cell.row_path for cell in continued.cells] == ["12", "12"]


def test_a_second_column_that_ends_no_range_names_nothing() -> None:
    headers = ("Hive", "Wax", "Fee")
    rest = (Cell(1, 0, "A", "", "A", _BOX), Cell(1, 1, "A", "", "50", _BOX), Cell(1, 2, "A", "", "7.50", _BOX))
    _, continued = carry_headers([_table(1, headers, rest), _table(2, ("", "", ""), rest)])
    assert [cell.row_path for cell in continued.cells] == ["", "A", "A"]
