"""Titles of tables that stand apart from them, and what else is no heading: a masthead's year, an aside."""

from __future__ import annotations

import pytest

from taxkg_assets_tests.extraction.tagged_pdf import LEFT, WORKSHEET, TaggedPdf, fill, make_booklet


@pytest.mark.parametrize(
    ("heading", "title"),
    [("Wax Worksheet for Lines 3 and 4", "Wax Worksheet for Lines 3 and 4"), ("How To Weigh the Wax", "")],
)
def test_a_worksheet_takes_its_title_from_the_heading_above_its_notes(heading: str, title: str) -> None:
    pdf = make_booklet().turn()
    pdf.put("H2", heading, face="b", size=14)
    pdf.put("P", "Use these lines to find the pounds of wax", *fill(3))
    with pdf.tag("Table"):
        for number, words in enumerate(WORKSHEET, 1):
            pdf.row((60, f"{number}."), (80, words), (430, f"{number}."), (450, "_______"))
    tables = pdf.extract().frames["tables"]
    assert tables["title"].to_list() == [title]


def test_the_year_of_a_masthead_is_part_of_the_title() -> None:
    pdf = TaggedPdf().to(LEFT, 40)
    with pdf.tag("P"):
        pdf.run("20 ", size=26).run("31", "b", size=26)
    pdf.to(LEFT, 80).put("H1", "Yields of Hives", face="b", size=27)
    pdf.put("H2", "Reminders", face="b", size=14, gap=20).put("P", *fill(6))
    frames = pdf.extract().frames
    assert frames["elements"].filter(role="DocTitle")["text"].to_list() == ["20 31", "Yields of Hives"]
    assert not frames["sections"]["text"].str.contains("20 31").any()


def test_a_sentence_in_parentheses_owns_nothing_though_it_is_tagged_as_a_heading() -> None:
    pdf = make_booklet().turn()
    pdf.put("H2", "Instructions for Keepers", face="b", size=14)
    pdf.put("H3", "(Read also the notice on the back of Copy Z.)").put("P", *fill(4))
    anchors = pdf.extract().frames["anchors"]
    assert "Instructions for Keepers" in anchors["heading"].to_list()
    assert not anchors["heading"].str.starts_with("(").any()


def test_an_answer_in_bold_type_heads_nothing() -> None:
    pdf = make_booklet().turn()
    pdf.put("H2", "Questions on Wax", face="b", size=14)
    for answer in ("Yes.", "No."):
        with pdf.tag("P"):
            pdf.run(f"{answer} ", "b").run("Enter the pounds of wax on line 3.").to(LEFT, pdf.y + 14)
    frames = pdf.extract().frames
    assert frames["anchors"].filter(page=3)["heading"].to_list() == ["Questions on Wax"]
    texts = frames["sections"].filter(page=3)["text"].to_list()
    assert texts == ["Yes. Enter the pounds of wax on line 3.", "No. Enter the pounds of wax on line 3."]
