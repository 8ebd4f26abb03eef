"""Boxes by their number, in each revision of a form."""

from __future__ import annotations

import polars as pl
import pytest

from taxkg_assets.serving.boxes import match_key

BOXES = pl.DataFrame(
    [
        ("f9--2029", "2029", "box_7", None),
        ("f9--2030", "2030", "box_7b", "7"),
        ("f9--2030", "2030", "box_7a", "7"),
        ("f9--2030", "2030", "box_8a", None),
        ("f9--2030", "2030", "box_9", "9-10"),
    ],
    schema=["document_id", "revision", "box_key", "group_id"],
    orient="row",
)


@pytest.mark.parametrize(
    ("number", "found"),
    [
        ("7", [("2030", "box_7a"), ("2029", "box_7")]),
        ("7b", [("2030", "box_7b")]),
        ("8", []),
        ("9", [("2030", "box_9")]),
    ],
)
def test_a_number_that_a_face_divides_means_its_first_field(number: str, found: list[tuple[str, str]]) -> None:
    assert match_key(BOXES, number).select("revision", "box_key").rows() == found
