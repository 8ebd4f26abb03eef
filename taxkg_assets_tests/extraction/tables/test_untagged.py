"""Grids that are drawn on a tagged page, whose cells the publisher tagged as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from taxkg_assets_tests.extraction.tagged_pdf import HEIGHT, LEFT, TaggedPdf, fill

_COLUMNS = (LEFT + 4, 110.0, 180.0, 250.0)
_RIGHT = 310.0


def _draw_grid(pdf: TaggedPdf, top: float, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Draw a frame, a rule below the heads and one between columns; set each column under a tag of its own."""
    edges = [LEFT, *(x - 8 for x in _COLUMNS[1 : len(heads)]), _RIGHT]
    foot = top + 26.0 + 13.0 * len(rows)
    lines = [(LEFT, y, _RIGHT, y) for y in (top, top + 20.0, foot)] + [(x, top, x, foot) for x in edges]
    pdf.draw(" ".join(f"{x0} {HEIGHT - y0} m {x1} {HEIGHT - y1} l S" for x0, y0, x1, y1 in lines))
    for x, head, *column in zip(_COLUMNS, heads, *rows, strict=False):
        pdf.to(x, top + 5.0).put("P", head, face="b", gap=0.0)
        for ix, text in enumerate(column):
            pdf.to(x, top + 23.0 + 13.0 * ix).put("P", text, gap=0.0)
    pdf.to(LEFT, foot)


def _read(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the tables of a page with two grids and the texts of its sections that are no table."""
    pdf = TaggedPdf().put("H1", "Yields of Hives", face="b", size=14).put("P", *fill(4)).put("P", "Yields", face="b")
    _draw_grid(pdf, pdf.y + 4, heads, rows)
    pdf.put("P", "b. Hives on the hill", face="b", gap=2.0)
    _draw_grid(pdf, pdf.y + 2, heads, [[row[0], *(f"9{text}" for text in row[1:])] for row in rows])
    pdf.put("P", *fill(4), gap=12.0)
    frames = pdf.extract().frames
    sections = frames["sections"]
    return frames["tables"].to_dicts(), sections.filter(sections["table_id"].is_null())["text"].to_list()


_ROWS = [[str(year), f"{year}1.50", f"{year}2.50", f"{year}3.50"] for year in range(1, 6)]


def test_a_grid_of_headed_columns_is_a_table_without_a_tag() -> None:
    tables, texts = _read(("Year", "Spring", "Summer", "Autumn"), _ROWS)
    assert [table["title"] for table in tables] == ["Yields", "b. Hives on the hill"]
    cell = next(cell for cell in tables[1]["cells"] if cell["text"] == "932.50")
    assert (cell["row_path"], cell["col_path"]) == ("3", "Summer")
    assert not any("32.50" in text for text in texts)


@pytest.mark.parametrize("heads", [("Year", "Spring"), ("Year", "", "Summer", "")])
def test_few_columns_or_columns_without_heads_stay_text(heads: tuple[str, ...]) -> None:
    tables, texts = _read(heads, [row[: len(heads)] for row in _ROWS])
    assert not tables
    assert any("31.50" in text for text in texts)
