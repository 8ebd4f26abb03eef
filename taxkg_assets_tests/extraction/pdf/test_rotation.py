"""Pages set sideways are read like upright ones, and their rectangles lie where the page prints the words."""

from __future__ import annotations

from typing import Any

import pymupdf
import pytest

from taxkg_assets.extraction.extract import extract
from taxkg_assets.extraction.pdf.reader import read_source

_KINDS = ("Moss", "Grass", "Herbs", "Shrubs", "Trees")
_WIDE, _HIGH = 612.0, 792.0


def _table(*, rotate: int) -> bytes:
    """Set a ruled table whose text runs upwards (90), downwards (270) or on its head (180), with a page number."""
    document: Any = pymupdf.open()
    page = document.new_page(width=_WIDE, height=_HIGH)

    def at(across: float, down: float) -> tuple[float, float]:
        if rotate == 180:
            return (_WIDE - across, _HIGH - down)
        return (down, _HIGH - across) if rotate == 90 else (_WIDE - down, across)

    rows = [("Kind of roof", "Life in years", "Rate in percent"), *((kind, "12", "8.5") for kind in _KINDS)]
    page.insert_text(at(60, 80), "Table 4. Lives of Roofs", fontname="hebo", fontsize=11, rotate=rotate)
    for row in range(len(rows) + 1):
        page.draw_line(at(60, 100 + 24 * row), at(510, 100 + 24 * row), width=0.5)
    for column in range(4):
        page.draw_line(at(60 + 150 * column, 100), at(60 + 150 * column, 100 + 24 * len(rows)), width=0.5)
    for row, cells in enumerate(rows):
        for column, text in enumerate(cells):
            font = "helv" if row else "hebo"
            place = at(66 + 150 * column, 116 + 24 * row)
            page.insert_text(place, text, fontname=font, fontsize=9, rotate=rotate)
    page.insert_text((300, 22 if rotate == 180 else 770), "Page 3", fontsize=8, rotate=180 if rotate == 180 else 0)
    return bytes(document.tobytes())


@pytest.mark.parametrize(("rotate", "sideways"), [(90, 1), (270, -1), (180, 2)])
def test_a_sideways_table_keeps_its_headers_and_its_place(rotate: int, sideways: int) -> None:
    data = _table(rotate=rotate)
    assert [page.sideways for page in read_source(data, document_id="sample").pages] == [sideways]
    frames = extract(data, document_id="sample").frames
    (table,) = frames["tables"].to_dicts()
    assert table["title"] == "Table 4. Lives of Roofs"
    rates = [cell for cell in table["cells"] if cell["col_path"] == "Rate in percent"]
    assert [cell["row_path"] for cell in rates] == list(_KINDS)
    document: Any = pymupdf
    with document.open(stream=data) as opened:
        shown = opened[0].search_for("8.5")
    assert len(shown) == len(rates)
    for cell in rates:
        box = pymupdf.Rect(*(cell["bbox"][name] for name in ("x0_pt", "y0_pt", "x1_pt", "y1_pt")))
        assert sum(box.contains((found.tl + found.br) / 2) for found in shown) == 1
    whole = pymupdf.Rect(0, 0, _WIDE, _HIGH)
    pieces = [piece for row in frames["sections"].to_dicts() for piece in row["pieces"]]
    boxes = [row["bbox"] for row in frames["elements"].to_dicts()] + pieces
    assert all(whole.contains((box["x0_pt"], box["y0_pt"], box["x1_pt"], box["y1_pt"])) for box in boxes)
    furniture = frames["elements"].filter(role="PageArtifact")
    assert furniture["text"].to_list() == ["Page 3"]
