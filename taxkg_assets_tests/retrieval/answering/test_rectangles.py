"""Pieces of an answer are placed at the printed lines that say them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import polars as pl
import pytest

from taxkg_assets.retrieval.answering.rectangles import add_rectangles, locate_quote
from taxkg_assets.retrieval.answering.units import Piece, Unit

TEXT = "Enter the rent. Do not enter duty."


def read(element_ids: Collection[str]) -> pl.DataFrame:
    def line(start: int, end: int, top: float) -> dict[str, Any]:
        return {"start": start, "end": end, "page": 2, "x0_pt": 10.0, "y0_pt": top, "x1_pt": 90.0, "y1_pt": top + 9}

    rows = [{"element_id": "e1", "text": TEXT, "pieces": [line(0, 16, 100.0), line(16, 35, 110.0)]}]
    return pl.DataFrame([row for row in rows if row["element_id"] in element_ids], infer_schema_length=None)


@pytest.mark.parametrize(
    ("quote", "tops"),
    [
        ("Enter the rent.", [100.0]),
        ("Do not enter duty.", [110.0]),
        ("Box 3. Rent Enter the rent. Do not enter duty.", [100.0, 110.0]),
        ("Something else.", []),
    ],
)
def test_a_piece_has_the_rectangles_of_its_lines(quote: str, tops: list[float]) -> None:
    unit = Unit(rank=1, label="", pieces=[Piece(role="sentence", text=quote, node_id="e1")])
    (placed,) = add_rectangles([unit], read)
    assert [box.y0 for box in placed.pieces[0].bboxes] == tops
    assert {box.page for box in placed.pieces[0].bboxes} <= {2}


def test_what_the_program_says_has_no_place() -> None:
    unit = Unit(rank=1, label="", pieces=[Piece(role="note", text="(2 more in this list)", node_id="e1")])
    assert add_rectangles([unit], read)[0].pieces[0].bboxes == []


def test_a_quote_may_begin_with_its_heading() -> None:
    assert locate_quote("Rent. Enter the rent.", TEXT) == (0, 15)
