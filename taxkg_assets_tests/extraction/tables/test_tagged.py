"""Tagged tables: header paths, worksheets, captions, furniture, and the pages that they go on."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl
import pytest

from taxkg_assets.extraction.extract import Extraction, extract
from taxkg_assets.extraction.tables.tagged import find_tagged_tables
from taxkg_assets_tests.extraction.tagged_pdf import COLUMNS, FOOT, LEFT, TaggedPdf, fill, make_tables


@cache
def _read() -> Extraction:
    return make_tables().extract()


def _cells(page: int) -> list[dict[str, Any]]:
    frame = _read().frames["tables"]
    return list(frame.filter(frame["page"] == page)["cells"].to_list()[0])


@pytest.mark.parametrize(
    ("text", "row_path", "col_path"),
    [
        ("11.5", "Clover", "Spring > Dry"),
        ("12.5", "Clover", "Spring > Wet"),
        ("23.5", "Heather", "Autumn > Dry"),
        ("34.5", "Linden", "Autumn > Wet"),
    ],
)
def test_headers_over_several_columns_lead_to_each_cell(text: str, row_path: str, col_path: str) -> None:
    cell = next(cell for cell in _cells(1) if cell["text"] == text)
    assert (cell["row_path"], cell["col_path"]) == (row_path, col_path)


@pytest.mark.parametrize(("text", "col_path"), [("41.5", "Spring > Dry"), ("54.5", "Autumn > Wet")])
def test_a_table_on_the_next_page_takes_its_headers(text: str, col_path: str) -> None:
    cell = next(cell for cell in _cells(2) if cell["text"] == text)
    assert cell["col_path"] == col_path
    assert _read().frames["tables"]["title"].to_list()[:2] == ["Table 1. Yields by Flower"] * 2


def test_a_foot_tagged_as_a_cell_is_in_no_table() -> None:
    tables = _read().frames["tables"]
    assert "-1-" not in [cell["text"] for cells in tables["cells"].to_list() for cell in cells]
    roles = dict(_read().frames["elements"].select("text", "role").iter_rows())
    assert roles["-1-"] == "PageArtifact"
    page = make_tables().pages()[0]
    foot = {span.span_ix for span in page.spans if span.text == "-1-"}
    with_foot, without = find_tagged_tables(page), find_tagged_tables(page, furniture_spans=foot)
    assert any(cell.text == "-1-" for cell in with_foot[0].cells)
    assert not any(cell.text == "-1-" for cell in without[0].cells)


def test_a_numbered_caption_is_no_heading_whatever_its_tag() -> None:
    assert "Table 1. Yields by Flower" not in _read().frames["anchors"]["heading"].to_list()


@pytest.mark.parametrize(
    ("text", "row_path"),
    [
        ("Enter the pounds of wax", "2."),
        ("_______", "1. > Enter the pounds of honey"),
        ("4.", "4."),
    ],
)
def test_rows_of_a_worksheet(text: str, row_path: str) -> None:
    cell = next(cell for cell in _cells(3) if cell["text"] == text)
    assert (cell["row_path"], cell["col_path"]) == (row_path, "")


def test_the_number_at_the_amount_is_left_out() -> None:
    assert [cell["text"] for cell in _cells(3)].count("2.") == 1


def _titled() -> TaggedPdf:
    """A table between two paragraphs of one section, with a bold title that is tagged as a paragraph."""
    pdf = TaggedPdf().put("H2", "Sale of Honey", face="b", size=14)
    pdf.put("P", "Honey that is sold counts in the month of its sale", *fill(3))
    pdf.put("P", "Prices of a Pound", face="b", gap=10)
    with pdf.tag("Table"):
        pdf.row(*zip(COLUMNS[:3], ("Kind", "Spring", "Autumn"), strict=True), kind="TH", face="b")
        pdf.row(*zip(COLUMNS[:3], ("Clover", "2.50", "3.50"), strict=True))
        pdf.row(*zip(COLUMNS[:3], ("Heather", "4.50", "5.50"), strict=True))
    pdf.to(LEFT, pdf.y).put("P", "Honey that is given away counts in no month.", gap=14)
    return pdf.to(290, FOOT).bare("-1-", size=8)


def test_a_title_owns_its_table_and_not_what_follows() -> None:
    read = _titled().extract()
    heading = dict(read.frames["anchors"].select("anchor_id", "heading").iter_rows())
    owners = {text: heading[anchor] for text, anchor in read.frames["sections"].select("text", "anchor_id").iter_rows()}
    assert owners["Honey that is given away counts in no month."] == "Sale of Honey"
    tables = read.frames["sections"].filter(read.frames["sections"]["table_id"].is_not_null())
    assert [heading[anchor] for anchor in tables["anchor_id"]] == ["Prices of a Pound"]


def test_a_table_that_continues_is_owned_by_its_first_title() -> None:
    pdf = TaggedPdf().put("H2", "Sale of Honey", face="b", size=14).put("P", *fill(3))
    for page, title in enumerate(("Prices of a Pound", "Prices of a Pound—Continued")):
        pdf.put("P", title, face="b", size=12, gap=10)
        with pdf.tag("Table"):
            pdf.row(*zip(COLUMNS[:3], ("Kind", "Spring", "Autumn"), strict=True), kind="TH", face="b")
            pdf.row(*zip(COLUMNS[:3], ("Clover", "2.50", "3.50"), strict=True))
            pdf.row(*zip(COLUMNS[:3], ("Heather", "4.50", "5.50"), strict=True))
        if page == 0:
            pdf.turn().put("H2", "Sale of Wax", face="b", size=14).put("P", *fill(3))
    frames = pdf.extract().frames
    heading = dict(frames["anchors"].select("anchor_id", "heading").iter_rows())
    parents = {heading[anchor]: heading[above] for anchor, above in _parents(frames).items() if above is not None}
    tables = frames["sections"].filter(pl.col("table_id").is_not_null())
    assert [heading[anchor] for anchor in tables["anchor_id"]] == ["Prices of a Pound"] * 2
    assert parents["Prices of a Pound—Continued"] == parents["Prices of a Pound"] == "Sale of Honey"


def _parents(frames: dict[str, pl.DataFrame]) -> dict[str, str | None]:
    return dict(frames["anchors"].select("anchor_id", "parent_anchor_id").iter_rows())


def test_a_paragraph_continues_behind_a_table_with_a_title() -> None:
    pdf = TaggedPdf().put("H2", "Sale of Honey", face="b", size=14)
    with pdf.tag("P"):
        pdf.lines("Honey that is sold counts in the month of its sale, and honey that is given").to(LEFT, 400)
        begun = pdf.y
        with pdf.tag("Div"):
            pdf.put("P", "Prices of a Pound", face="b", size=12, gap=10)
            with pdf.tag("Table"):
                pdf.row(*zip(COLUMNS[:3], ("Kind", "Spring", "Autumn"), strict=True), kind="TH", face="b")
                pdf.row(*zip(COLUMNS[:3], ("Clover", "2.50", "3.50"), strict=True))
                pdf.row(*zip(COLUMNS[:3], ("Heather", "4.50", "5.50"), strict=True))
        assert pdf.y > begun
        pdf.turn().lines("away counts in no month.")
    texts = pdf.extract().frames["sections"]["text"].to_list()
    assert any(text.endswith("honey that is given away counts in no month.") for text in texts)


def test_rows_of_blanks_head_nothing_and_blanks_at_the_end_are_rows() -> None:
    pdf = TaggedPdf().put("H2", "Statement of a Hive", face="b", size=14)
    with pdf.tag("Table"):
        pdf.row((60, "Name of the hive:"), (260, "Number of the hive:"), face="b")
        pdf.row((60, "Name of the keeper:"), (260, "Number of the keeper:"), face="b")
        pdf.row((60, "Share of:"), (200, "Spring"), (320, "Autumn"), kind="TH", face="b")
        pdf.row((60, "Honey"), (200, "2.50"), (320, "3.50"))
        pdf.row((60, "Wax"), (200, "4.50"), (320, "5.50"))
        pdf.row((60, "Sum of all hives"), face="b")
        pdf.row((60, "Sum of the year"), face="b")
    cells = [cell for cells in pdf.extract().frames["tables"]["cells"].to_list() for cell in cells]
    found = {cell["text"]: (cell["row_path"], cell["col_path"]) for cell in cells}
    assert (found["3.50"], found["4.50"]) == (("Honey", "Autumn"), ("Wax", "Spring"))
    assert "Name of the hive: Number of the hive:" in found
    assert not {"Sum of all hives", "Sum of the year"} & {path for path, _ in found.values()} - found.keys()
    assert {"Sum of all hives", "Sum of the year"} <= found.keys()


def test_heads_with_colons_that_name_no_blank_stay_headers() -> None:
    pdf = TaggedPdf().put("H2", "Rates of Honey", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, "IF your honey was:"), (260, "THEN the rate is:"), kind="TH", face="b")
        pdf.row((60, "Over:"), (260, "In spring:"), kind="TH", face="b")
        for amount, rate in (("$100", ".20"), ("$200", ".30"), ("$300", ".40")):
            pdf.row((60, amount), (260, rate))
    cells = [cell for cells in pdf.extract().frames["tables"]["cells"].to_list() for cell in cells]
    found = {cell["text"]: cell["col_path"] for cell in cells}
    assert found[".30"] == "THEN the rate is: > In spring:"


def test_factors_of_a_formula_name_nothing() -> None:
    pdf = TaggedPdf().put("H2", "Share of Honey", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, "$12,000"), (130, "x"), (160, "$4,000"), (230, "="), (260, "$2,400"))
        pdf.row((60, "$20,000"))
    cells = [cell for cells in pdf.extract().frames["tables"]["cells"].to_list() for cell in cells]
    assert all(cell["row_path"] in ("", cell["text"]) for cell in cells)


def test_check_marks_are_no_factors() -> None:
    pdf = TaggedPdf().put("H2", "Boats in the Harbor", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, "Barge"), (200, "X"), (320, "$4,000"))
        pdf.row((60, "Yacht"), (200, "X"), (320, "$5,000"))
        pdf.row((60, "Raft"), (320, "$6,000"))
    cells = [cell for cells in pdf.extract().frames["tables"]["cells"].to_list() for cell in cells]
    assert {cell["text"]: cell["row_path"] for cell in cells}["$5,000"] == "Yacht"


def test_one_row_or_one_column_stays_text() -> None:
    pdf = TaggedPdf().put("P", *fill(4))
    with pdf.tag("Table"):
        pdf.row((60, "Lone"), (200, "row"))
    with pdf.tag("Table"):
        for word in ("Clover", "Heather", "Linden"):
            pdf.row((60, word))
    assert find_tagged_tables(pdf.pages()[0]) == []
    assert pdf.extract().frames["tables"].is_empty()


def test_paragraphs_that_are_tagged_as_rows_next_to_an_icon_stay_text() -> None:
    pdf = TaggedPdf().put("H1", "Honey", face="b", size=14).put("P", *fill(4))
    with pdf.tag("Table"):
        pdf.row((60, "Instructions for the Honey Worksheet"), face="b")
        pdf.row((60, "TIP"), (100, "Honey that was given away does not count."))
        pdf.row((60, "Line 1. Enter the pounds that were sold.")).row((60, "Line 2. Enter the pounds that were kept."))
    assert find_tagged_tables(pdf.source().pages[0]) == []
    sections = pdf.extract().frames["sections"]
    assert "Honey that was given away does not count." in sections["text"].to_list()


def test_a_title_and_directions_that_are_tagged_as_a_table_stay_text() -> None:
    words = " ".join(f"Read down to line {number} of the column." for number in range(5))
    pdf = TaggedPdf().put("H1", "Honey", face="b", size=14).put("P", *fill(4))
    with pdf.tag("Table"):
        pdf.row((60, "2031 Honey Table"), face="b")
        pdf.row((60, words), (200, words))
    assert find_tagged_tables(pdf.pages()[0]) == []


def test_a_page_without_tagged_tables_has_none() -> None:
    assert find_tagged_tables(TaggedPdf().put("P", *fill(4)).pages()[0]) == []


def test_answers_of_a_worksheet_stand_under_their_question() -> None:
    pdf = TaggedPdf().put("H2", "Swarm Worksheet", face="b", size=12)
    with pdf.tag("Table"):
        pdf.row((60, "1."), (80, "Enter the swarms of the year"), (430, "1."), (450, "_______"))
        pdf.row((60, "2."), (80, "Is line 1 more than the hives that you own?"))
        pdf.row((90, "Yes."), (130, "Report the swarms that left."))
        pdf.row((90, "No."), (130, "Stop here."))
        pdf.row((60, "3."), (80, "Enter the swarms that came back"), (430, "3."), (450, "_______"))
    (cells,) = pdf.extract().frames["tables"]["cells"].to_list()
    paths = {cell["text"]: cell["row_path"] for cell in cells}
    queried = "2. > Is line 1 more than the hives that you own?"
    assert paths["Report the swarms that left."] == f"{queried} > Yes."
    assert paths["Stop here."] == f"{queried} > No."
    assert paths["Enter the swarms that came back"] == "3."


def _addressed() -> TaggedPdf:
    pdf = TaggedPdf().put("H2", "Where To Send the Honey", face="b", size=14).put("P", *fill(12))
    pdf.y += 10
    with pdf.tag("Table"):
        pdf.row((60, "IF you live in"), (300, "THEN use this address"), kind="TH", face="b")
        for state, town in (("Clover", "Beeville"), ("Heather", "Hivetown")):
            with pdf.tag("TR"):
                with pdf.tag("TD"):
                    pdf.to(60, pdf.y + 4).run(state)
                with pdf.tag("TD"):
                    for line in ("Department of the Treasury", "Internal Revenue Service", f"{town}, XX 00001"):
                        pdf.to(300, pdf.y).set(line, size=8)
            pdf.to(LEFT, pdf.y)
    return pdf.put("P", *fill(4))


@pytest.mark.parametrize("is_tagged", [True, False])
def test_an_address_keeps_the_name_of_the_office(is_tagged: bool) -> None:
    frames = extract(_addressed().bytes(is_tagged=is_tagged), document_id="addressed").frames
    texts = [" ".join(text.split()) for text in frames["elements"].filter(pl.col("role") != "PageArtifact")["text"]]
    assert sum(text.count("Department of the Treasury Internal Revenue Service") for text in texts) == 2
    if is_tagged:
        cells = {cell["row_path"]: cell["text"] for cell in frames["tables"]["cells"].to_list()[0] if cell["row_path"]}
        assert cells["Clover"] == "Department of the Treasury Internal Revenue Service Beeville, XX 00001"


def test_a_caption_whose_number_is_tagged_behind_its_title_is_no_heading() -> None:
    pdf = TaggedPdf().put("H2", "Sale of Wax", face="b", size=14).put("P", *fill(4))
    pdf.y += 12
    pdf.to(100, pdf.y).put("P", "Prices of Wax by Season", face="b", size=12, gap=0)
    with pdf.tag("Table"):
        with pdf.tag("TR"), pdf.tag("TD"):
            pdf.to(LEFT, pdf.y - 1.12 * 12).set("Table 2.", size=12)
        pdf.row(*zip(COLUMNS[:3], ("Kind", "Spring", "Autumn"), strict=True), kind="TH", face="b")
        pdf.row(*zip(COLUMNS[:3], ("White", "2.50", "3.50"), strict=True))
        pdf.row(*zip(COLUMNS[:3], ("Yellow", "4.50", "5.50"), strict=True))
    pdf.to(LEFT, pdf.y).put("P", "Wax that is burnt counts in no month.", gap=14)
    assert pdf.extract().frames["anchors"]["heading"].to_list() == ["Sale of Wax"]
