"""Printed worksheets: rows that repeat their numbers at the amounts, with or without a frame."""

from __future__ import annotations

from taxkg_assets.extraction.tables.tables import find_tables
from taxkg_assets_tests.extraction.typeset import LEFT, Booklet

LEADER = " . . . . . . . . . . . . . . . . "
REPEAT_X = 300.0


def _line(booklet: Booklet, number: str, words: str, *, repeat: str) -> None:
    """Set a row: its number, its words, dots, and the number again."""
    y = booklet.y
    booklet.to(LEFT, y).set((number, "b"))
    booklet.to(LEFT + 22, y).set((words, ""), (LEADER if repeat else "", ""))
    if repeat:
        booklet.to(REPEAT_X, y).set((repeat, "b"))
    booklet.x = LEFT


def _worksheet() -> Booklet:
    booklet = Booklet().head("Worksheet for Moorings")
    _line(booklet, "1.", "Enter the fees", repeat="1.")
    _line(booklet, "2a.", "Enter the length of", repeat="")
    booklet.to(LEFT + 22, booklet.y).set(("the ship", ""), (LEADER, ""))
    booklet.to(REPEAT_X, booklet.y - 11.2).set(("2a.", "b"))
    _line(booklet, "b.", "Enter its width", repeat="2b.")
    booklet.to(LEFT + 22, booklet.y).lines("If line 2b is blank, go to line 3.")
    _line(booklet, "3.", "Add lines 1 and 2a", repeat="3.")
    return booklet.to(LEFT, booklet.y + 30).lines("Words below the worksheet.")


def test_rows_of_an_unframed_worksheet_are_found_by_their_repeated_numbers() -> None:
    (table,) = find_tables(_worksheet().source().pages[0])
    assert table.title == "Worksheet for Moorings"
    assert [(cell.row_path, cell.text) for cell in table.cells if cell.col_ix > 0] == [
        ("1.", "Enter the fees"),
        ("2a.", "Enter the length of the ship"),
        ("2b.", "Enter its width"),
        ("2b.", "If line 2b is blank, go to line 3."),
        ("3.", "Add lines 1 and 2a"),
    ]


def test_numbered_paragraphs_and_lists_of_contents_are_no_worksheet() -> None:
    booklet = Booklet()
    for number in ("1.", "2.", "3.", "4."):
        booklet.set((f"{number} ", "b"), ("Hoist the sails and leave", "")).set(("Pages", ""), (LEADER, ""), ("12", ""))
    assert find_tables(booklet.source().pages[0]) == []
