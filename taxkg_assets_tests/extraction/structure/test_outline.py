"""The outline of a document of which some pages are read by their structure tags, and others by their layout."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taxkg_assets.extraction.structure.outline import find_outline
from taxkg_assets_tests.extraction.typeset import Booklet, blocks_of, filler, identity_of

_IDENTITY = identity_of("publication", form="")


def _parents(levels: dict[str, int]) -> dict[str, str]:
    """Return the parent of each heading, given the levels of those that the tags state."""
    booklet = Booklet().head("Keeping Bees", size=24.0).turn()
    for text, size in (("Hives", 17.0), ("Queens", 13.0), ("Swarms", 17.0), ("Drones", 13.0), ("Meadows", 17.0)):
        booklet.head(text, size=size).lines(*filler(4), gap=4)
    blocks = [replace(block, level=levels.get(block.text, -1)) for block in blocks_of(booklet, identity=_IDENTITY)]
    headings = find_outline(blocks, identity=_IDENTITY)
    texts = [heading.text for heading in headings]
    return {heading.text: texts[heading.parent] if heading.parent >= 0 else "" for heading in headings}


def test_a_heading_that_no_tag_states_holds_no_tagged_heading_of_its_own_type() -> None:
    parents = _parents({"Hives": 2, "Queens": 3, "Drones": 3, "Meadows": 2})
    assert parents == {"Hives": "", "Queens": "Hives", "Swarms": "", "Drones": "Swarms", "Meadows": ""}


@pytest.mark.parametrize(
    ("remark", "is_heading"), [("(see also the dues of carts)", True), ("(for boats) are those of a year.", False)]
)
def test_bold_words_with_a_remark_in_parentheses_are_a_heading(remark: str, is_heading: bool) -> None:
    booklet = Booklet().head("Dues").lines(*filler(8))
    booklet.set(("Berths ", "b"), (remark, "i"), size=12, gap=12).lines(*filler(8), gap=6)
    headings = [heading.text for heading in find_outline(blocks_of(booklet), identity=identity_of())]
    assert (f"Berths {remark}" in headings) == is_heading


@pytest.mark.parametrize(("is_run_in", "parent"), [(True, "Paperwork Reduction Act Notice"), (False, "")])
def test_the_closing_notice_holds_its_run_ins_and_no_heading_of_another_topic(is_run_in: bool, parent: str) -> None:
    booklet = Booklet().head("Dues").lines(*filler(8)).head("Paperwork Reduction Act Notice").lines(*filler(4), gap=4)
    if is_run_in:
        booklet.set(("Numbers of boats. ", "b"), ("Write to the harbor about them.", ""), gap=10)
    else:
        booklet.turn().head("Numbers of boats.", size=12).lines(*filler(8), gap=6)
    headings = find_outline(blocks_of(booklet), identity=identity_of())
    [number] = [heading for heading in headings if heading.text == "Numbers of boats."]
    assert (headings[number.parent].text if number.parent >= 0 else "") == parent
