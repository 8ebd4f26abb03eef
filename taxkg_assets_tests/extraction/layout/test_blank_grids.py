"""On a page with a grid to fill in, the words of one cell are one text, and the names of its parts are headings."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.layout.blank_grids import find_blank_grid
from taxkg_assets.extraction.layout.printed_text import read_printed_text
from taxkg_assets_tests.extraction.drawn import Canvas, source_of
from taxkg_assets_tests.extraction.typeset import Booklet, blocks_of, filler

_HEADS = (
    ("A. Weight", "of the catch"),
    ("B. Share", "of the crew"),
    ("C. Weight", "that was sold"),
    ("D. Rest", "kept"),
)
_WIDTH, _ROW = 120.0, 16.0


def _draw(*, rows: int, is_filled: bool = False) -> Canvas:
    """Draw four columns with heads of two lines above rows of cells."""
    canvas = Canvas()
    for ix, head in enumerate(_HEADS):
        left = 60 + _WIDTH * ix
        canvas.cell(left, 100, left + _WIDTH, 130)
        for row, text in enumerate(head):
            canvas.text(left + 8, 104 + 11 * row, text)
        for row in range(rows):
            top = 130 + _ROW * row
            canvas.cell(left, top, left + _WIDTH, top + _ROW)
            if is_filled:
                canvas.text(left + 8, top + 3, "12.50")
    return canvas


@pytest.mark.parametrize(("rows", "is_filled", "is_grid"), [(4, False, True), (4, True, False), (2, False, False)])
def test_a_grid_has_many_blank_cells_in_several_rows_and_columns(rows: int, is_filled: bool, is_grid: bool) -> None:
    source = source_of(_draw(rows=rows, is_filled=is_filled))
    grid = find_blank_grid(source.pages[0], read_printed_text(source).lines[1])
    assert grid == ((60, 100, 540, 194) if is_grid else None)


def test_a_frame_around_text_is_no_grid() -> None:
    canvas = Canvas()
    canvas.cell(60, 100, 540, 300)
    canvas.text(70, 110, "The catch is weighed on the day on which it is landed.")
    source = source_of(canvas)
    assert find_blank_grid(source.pages[0], read_printed_text(source).lines[1]) is None


def test_the_words_of_a_cell_of_a_blank_grid_are_one_text() -> None:
    booklet = Booklet().head("Tracking the Catch").lines(*filler(4), gap=4)
    for ix, head in enumerate(_HEADS):
        left = 42 + _WIDTH * ix
        booklet.page.draw_rect((left, 200, left + _WIDTH, 232))
        for row, text in enumerate(head):
            booklet.to(left + 8, 204 + 12 * row).set((text, "b"), size=9)
        for row in range(5):
            booklet.page.draw_rect((left, 232 + _ROW * row, left + _WIDTH, 232 + _ROW * (row + 1)))
    texts = [block.text for block in blocks_of(booklet)]
    assert [" ".join(head) for head in _HEADS] == [text for text in texts if text[1:3] == ". "]
