"""Where the text of another section follows, a paragraph that ends without a full stop has ended."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.extract import extract
from taxkg_assets_tests.extraction.tagged_pdf import COLUMNS, LEFT, TaggedPdf, fill, put_head

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
