"""The place of each tag: its block, list item, cell, row and table."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.authored.structure_tree import TagPlace, find_places, has_heading_tag
from taxkg_assets.extraction.pdf.tags import Tag


def _places(*tags: tuple[str, int]) -> list[TagPlace]:
    return find_places([Tag(kind, parent, (ix,)) for ix, (kind, parent) in enumerate(tags)])


def test_inline_tags_lie_in_the_block_that_holds_them() -> None:
    paragraph, link, span = _places(("P", -1), ("Link", 0), ("Span", 1))
    assert paragraph is link is span
    assert (paragraph.block_ix, paragraph.kind, paragraph.level) == (0, "P", 0)


def test_an_inline_tag_in_no_block_is_its_own() -> None:
    assert _places(("Span", -1))[0].block_ix == 0


@pytest.mark.parametrize(
    ("kind", "level"), [("H", 1), ("Title", 1), ("H1", 1), ("H3", 3), ("H6", 6), ("P", 0), ("H7", 0)]
)
def test_levels_of_headings(kind: str, level: int) -> None:
    assert _places((kind, -1))[0].level == level


def test_a_paragraph_in_a_heading_is_of_its_level_and_a_list_is_not() -> None:
    places = _places(("H2", -1), ("P", 0), ("L", 0))
    assert [place.level for place in places] == [2, 2, 0]


def test_marks_and_words_of_list_items() -> None:
    tags = (("L", -1), ("LI", 0), ("Lbl", 1), ("LBody", 1), ("P", 3), ("L", 3), ("LI", 5), ("LBody", 6))
    places = _places(*tags)
    assert [place.item_ix for place in places] == [-1, 1, 1, 1, 1, 1, 6, 6]
    assert [place.is_mark for place in places] == [False, False, True, False, False, False, False, False]


def test_cells_of_the_outermost_table() -> None:
    tags = (("Table", -1), ("TR", 0), ("TH", 1), ("P", 2), ("TD", 1), ("Table", 4), ("TR", 5), ("TH", 6))
    places = _places(*tags)
    assert {place.table_ix for place in places} == {0}
    assert [place.row_ix for place in places] == [-1, 1, 1, 1, 1, 1, 1, 1]
    assert [place.cell_ix for place in places] == [-1, -1, 2, 2, 4, 4, 4, 4]
    assert [place.is_header for place in places] == [False, False, True, True, False, False, False, False]


def test_a_table_in_a_list_item_is_no_item() -> None:
    assert [place.item_ix for place in _places(("LI", -1), ("Table", 0), ("TR", 1))] == [0, -1, -1]


def test_figures_captions_and_contents() -> None:
    places = _places(("Figure", -1), ("Caption", 0), ("P", 1), ("TOC", -1), ("TOCI", 3))
    assert [place.figure_ix for place in places] == [0, 0, 0, -1, -1]
    assert [place.caption_ix for place in places] == [-1, 1, 1, -1, -1]
    assert [place.contents_ix for place in places] == [-1, -1, -1, 3, 4]


def test_headings_among_tags() -> None:
    assert has_heading_tag([Tag("P", -1, (0,)), Tag("H4", -1, (1,))])
    assert not has_heading_tag([Tag("P", -1, (0,)), Tag("L", -1, (1,))])
