"""A heading whose note in parentheses continues in the next row has both rows."""

from __future__ import annotations

from taxkg_assets.extraction.extract import extract
from taxkg_assets_tests.extraction.typeset import Booklet, filler


def _headings(second: str) -> list[str]:
    booklet = Booklet().head("Boats").lines(*filler(4), gap=4)
    booklet.set(("Notes for the Crew of Boats ", "b"), ("(see also", "i"), size=13.0, gap=14)
    booklet.set((second, "i")).lines(*filler(4), gap=4)
    return extract(booklet.bytes(), document_id="sample").frames["anchors"]["heading"].to_list()


def test_the_row_that_closes_the_parenthesis_is_part_of_the_heading() -> None:
    assert "Notes for the Crew of Boats (see also page 4)" in _headings("page 4)")


def test_a_row_that_closes_nothing_is_no_part_of_the_heading() -> None:
    assert not any("Sails" in heading and "Crew" in heading for heading in _headings("Sails are kept ashore"))
