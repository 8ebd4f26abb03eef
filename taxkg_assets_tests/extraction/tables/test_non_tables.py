"""Text that is no table (contents, prose, charts, callouts), and cells without a header."""

from __future__ import annotations

from taxkg_assets import schemas
from taxkg_assets.extraction.structure.elements import find_blocks
from taxkg_assets.extraction.tables.tables import build_tables, find_cells_without_path, find_table_regions
from taxkg_assets_tests.extraction.drawn import Canvas, source_of
from taxkg_assets_tests.extraction.typeset import identity_of


def test_a_list_of_contents_is_no_table() -> None:
    canvas = Canvas()
    for i, title in enumerate(("Introduction", "Income", "Expenses", "Index")):
        canvas.text(60, 104 + 12 * i, title)
        canvas.leader(120, 240, 104 + 12 * i)
        canvas.right(290, 104 + 12 * i, str(3 * i + 2))
    assert find_table_regions(canvas.page()) == []


def test_prose_in_two_columns_between_lines_is_no_table() -> None:
    canvas = Canvas()
    for y in (60, 300, 560):
        canvas.line(42, y, 570, y)
    for i in range(44):
        for x in (42, 312):
            canvas.text(x, 64 + 11 * i, "words that run on over the whole width of a column of text")
    assert find_table_regions(canvas.page()) == []


def _chart() -> Canvas:
    """Questions in boxes, with arrows to the next box and to a line on the right, and the answers next to them."""
    canvas = Canvas(1)
    for ix, name in enumerate(("harbor", "pier", "boat", "oar")):
        y = 100 + 50 * ix
        canvas.cell(120, y, 380, y + 26)
        canvas.text(126, y + 3, f"Is the {name} that you keep for the whole of the year")
        canvas.text(126, y + 13, "your own?")
        canvas.line(250, y + 26, 250, y + 50)
        canvas.text(256, y + 34, "Yes")
        canvas.line(380, y + 13, 460, y + 13)
        canvas.text(386, y + 3, "No")
    canvas.line(460, 113, 460, 310)
    return canvas


def test_boxes_of_questions_with_arrows_are_no_table() -> None:
    assert build_tables(source_of(_chart())).is_empty()
    blocks = find_blocks(source_of(_chart()), identity=identity_of(), regions={}, face_boxes={})
    texts = [block.text for block in blocks]
    assert "Is the pier that you keep for the whole of the year your own?" in texts
    assert texts.count("Yes") == texts.count("No") == 4


def test_a_callout_frame_is_no_table() -> None:
    canvas = Canvas()
    canvas.cell(100, 100, 400, 160)
    for i in range(4):
        canvas.text(110, 104 + 12 * i, "Keep the notice until the end of the year")
    assert find_table_regions(canvas.page()) == []


def test_only_the_first_cell_of_a_row_may_stand_for_its_own_name() -> None:
    own = {
        "row_path": "Ash",
        "col_path": "",
        "text": "Ash",
        "bbox": dict.fromkeys(("x0_pt", "y0_pt", "x1_pt", "y1_pt"), 1.0),
    }
    cells = [{"row_ix": 0, "col_ix": column, **own} for column in (0, 1)]
    tables = schemas.Tables.sample(overrides=[{"has_headers": True, "cells": cells}])
    assert find_cells_without_path(tables)["col_ix"].to_list() == [1]
