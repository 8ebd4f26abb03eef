"""Where the text of another section follows, a paragraph that ends without a full stop has ended."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.extract import extract
from taxkg_assets_tests.extraction.tagged_pdf import COLUMNS, LEFT, RIGHT, TaggedPdf, fill, put_head

_RESUMED = "www.bees.example shows the hives of all towns and all years."


def _put_table(pdf: TaggedPdf) -> None:
    with pdf.tag("Table"):
        put_head(pdf)
        for flower, base in (("Clover", 11), ("Heather", 21), ("Linden", 31)):
            pdf.row(*zip(COLUMNS, (flower, *(f"{base + ix}.5" for ix in range(4))), strict=True))
    pdf.to(LEFT, pdf.y)


def _begin() -> TaggedPdf:
    pdf = TaggedPdf().put("H2", "Where To Write", face="b", size=14).put("P", *fill(6))
    return pdf.put("P", "Write to the Harbour Office", "Town of Bees")


def _read_owners(pdf: TaggedPdf, *, is_tagged: bool = True) -> tuple[str | None, str | None, bool]:
    """End with text in small letters at the head of a page, and a smaller heading.

    Gives the owner of the text, the parent of the heading and whether the text is a row of its own.
    """
    pdf.turn().put("P", _RESUMED, gap=20).put("H3", "Small Hives", face="b", size=11, gap=10)
    frames = extract(pdf.put("P", *fill(4, about="wax")).bytes(is_tagged=is_tagged), document_id="x").frames
    names = dict(frames["anchors"].select("anchor_id", "heading").iter_rows())
    parents = dict(frames["anchors"].select("heading", "parent_anchor_id").iter_rows())
    [(owner, text)] = [
        (row["anchor_id"], row["text"])
        for row in frames["sections"].iter_rows(named=True)
        if row["text"].endswith(_RESUMED)
    ]
    return names.get(owner), names.get(parents["Small Hives"]), text == _RESUMED


@pytest.mark.parametrize(
    ("has_text_above", "has_text_below", "is_tagged"),
    [
        (True, True, True),
        (True, True, False),
        (False, True, True),
        (False, True, False),
    ],
)
def test_the_text_of_another_section_ends_a_cut_paragraph(
    has_text_above: bool, has_text_below: bool, is_tagged: bool
) -> None:
    pdf = _begin().put("H2", "Counting Hives", face="b", size=14, gap=10)
    if has_text_above:
        pdf.put("P", *fill(4), gap=6)
        pdf.put("P", "All hives count.")
    _put_table(pdf)
    if has_text_below:
        pdf.put("P", "The table ends the page as said.", gap=20)
    owners = _read_owners(pdf, is_tagged=is_tagged)
    assert owners == ("Counting Hives", "Counting Hives", True)


def test_a_paragraph_continues_after_a_table_of_its_own_section() -> None:
    pdf = _begin()
    with pdf.tag("Caption"):
        pdf.put("P", "Pounds of Honey by Flower", face="b", size=12, gap=8)
        pdf.put("P", "All pounds are those of one season.")
    _put_table(pdf)
    assert _read_owners(pdf) == ("Where To Write", "Where To Write", False)


def _read_columns(last: str, first: str, *, has_divisions: bool = True) -> list[str]:
    """Read a page with a paragraph at the foot of a column and one at the head of the next, each with its tag."""
    pdf = TaggedPdf()
    with pdf.tag("Div" if has_divisions else "NonStruct"):
        pdf.put("H2", "Notice to Beekeepers", face="b", size=14).put("P", *fill(6)).put("P", *fill(3), last)
    pdf.to(RIGHT)
    with pdf.tag("Div" if has_divisions else "NonStruct"):
        pdf.put("P", first, *fill(3, about="wax")).put("P", *fill(4))
    return pdf.extract().frames["sections"]["text"].to_list()


@pytest.mark.parametrize(
    ("last", "first", "is_one"),
    [
        ("The office counts the hives of all towns that were", "moved and those that stay.", True),
        ("The office counts all hives in the county on the Form", "9-B of the town that they are in.", True),
        ("The office counts all hives.", "moved hives are counted twice.", False),
        ("Count the hives", "Queens are counted with the hive they are in.", False),
    ],
)
def test_a_sentence_that_tags_of_two_columns_cut_is_whole(last: str, first: str, is_one: bool) -> None:
    texts = _read_columns(last, first)
    assert any(f"{last} {first}" in text for text in texts) == is_one


def test_a_word_with_hyphens_keeps_them_between_two_columns() -> None:
    texts = _read_columns("The office counts the hives of every man-of-", "war that sails from the county.")
    assert any("every man-of-war that sails" in text for text in texts)


@pytest.mark.parametrize(("indent", "gap", "is_one"), [(0, 0, True), (12, 0, False), (0, 14, False)])
def test_a_sentence_that_tags_of_two_lines_cut_is_whole(indent: int, gap: int, is_one: bool) -> None:
    pdf = TaggedPdf().put("H2", "Notice to Beekeepers", face="b", size=14).put("P", *fill(6))
    pdf.put("P", *fill(3), "A fine is due for the hives that")
    pdf.to(LEFT + indent, pdf.y).put("P", "cannot be counted. Move them in the spring.", gap=gap)
    texts = pdf.extract().frames["sections"]["text"].to_list()
    assert any("the hives that cannot be counted." in text for text in texts) == is_one
