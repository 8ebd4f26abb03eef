"""Reading order, paragraphs and roles on small typeset pages."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest

from taxkg_assets.extraction.layout.regions import FaceBox, TableRegion
from taxkg_assets.extraction.structure.elements import build_elements, find_blocks
from taxkg_assets_tests.extraction.typeset import LEFT, RIGHT, Booklet, blocks_of, filler, identity_of
from tools.rule_switch import every_rule


def _two_columns() -> Booklet:
    """Title across the page, two columns under it, a foot."""
    booklet = Booklet().set(("Instructions for Form 9999-X and Schedules", "b"), size=24)
    booklet.to(LEFT, 120).head("Left Heading").lines(*filler(12))
    booklet.lines("An indented paragraph of the left column stands", "here in two lines.", indent=12)
    booklet.to(RIGHT, 120).head("Right Heading").lines(*filler(10))
    return booklet.to(280, 755).set(("-1-", ""), size=9)


def test_columns_are_read_one_after_the_other() -> None:
    order = [block.text for block in blocks_of(_two_columns()) if block.role != "BodyText"]
    assert order == ["Instructions for Form 9999-X and Schedules", "Left Heading", "Right Heading", "-1-"]


def test_roles_of_title_heading_text_and_foot() -> None:
    blocks = blocks_of(_two_columns())
    assert [block.role for block in blocks] == [
        "DocTitle",
        "SectionHeader",
        "BodyText",
        "BodyText",
        "SectionHeader",
        "BodyText",
        "PageArtifact",
    ]
    assert blocks[3].text == "An indented paragraph of the left column stands here in two lines."


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("The pay was re-", "ported late this year.", "The pay was reported late this year."),
        ("She is self-", "employed this year.", "She is self-employed this year."),
        ("See the page IRS.gov/", "Forms for the form.", "See the page IRS.gov/Forms for the form."),
        ("A plan under 401(k)", "(11) is meant.", "A plan under 401(k)(11) is meant."),
        ("A plan under paragraph (1)", "(B) is meant.", "A plan under paragraph (1)(B) is meant."),
        ("The price (a sum)", "(in coins) is meant.", "The price (a sum) (in coins) is meant."),
    ],
)
def test_lines_join_as_one_would_read_them(first: str, second: str, joined: str) -> None:
    booklet = Booklet().lines("They are self-employed, and more words stand on this line.").lines(first, second, gap=9)
    assert blocks_of(booklet)[-1].text == joined


def test_the_second_line_of_a_caption_is_no_heading() -> None:
    booklet = Booklet().lines(*filler(3))
    booklet.to(LEFT + 60, 140).set(("Table A-1. ", ""), ("Yield of Hives", "b"), size=11)
    booklet.set(("Late Convention", "b"), size=11, indent=50)
    booklet.to(LEFT, 170).lines("Year 1 2 3")
    regions = {1: [TableRegion(1, LEFT, 165.0, LEFT + 260, 185.0, "ruled")]}
    blocks = find_blocks(booklet.source(), identity=identity_of(), regions=regions, face_boxes={})
    caption = [block for block in blocks if "Table A-1" in block.text or block.text == "Late Convention"]
    assert [(block.role, block.table_id) for block in caption] == [("TableBlock", "sample:p0001:t0")] * 2


def test_list_items_are_blocks_of_their_own() -> None:
    booklet = Booklet().lines(*filler(3))
    booklet.set(("•", ""), ("  ", ""), ("Wages of the year,", "")).set(("  including tips.", ""), indent=3)
    booklet.set(("•", ""), ("  ", ""), ("Interest.", ""))
    items = [block.text for block in blocks_of(booklet) if block.role == "ListBlock"]
    assert items == ["• Wages of the year, including tips.", "• Interest."]


def test_a_list_item_continues_at_the_margin_where_its_first_line_is_full() -> None:
    booklet = Booklet().head("Moorings").lines("A line that is as wide as the column and ends it here.")
    booklet.set(("•", ""), (" ", ""), ("Fees of the harbor that you paid before the ship", ""), indent=12)
    booklet.lines("came in.")
    booklet.set(("•", ""), (" ", ""), ("Fees of the lock.", ""), indent=12).lines("Report them when they are due.")
    texts = [block.text for block in blocks_of(booklet)]
    assert texts[2:] == [
        "• Fees of the harbor that you paid before the ship came in.",
        "• Fees of the lock.",
        "Report them when they are due.",
    ]


def test_a_list_item_continues_behind_and_below_a_blank() -> None:
    booklet = Booklet().lines("A line that is as wide as the column and ends it here.")
    booklet.set(("•", ""), (" ", ""), ("My ship came in on", "")).set(("[insert the date of", ""), indent=70)
    booklet.set(("arrival] and left again.", ""), indent=6)
    assert [block.text for block in blocks_of(booklet)][1:] == [
        "• My ship came in on [insert the date of arrival] and left again."
    ]


def test_bold_lines_that_begin_with_a_line_of_the_form_are_a_heading() -> None:
    booklet = Booklet().lines(*filler(2)).set(("Line 3b—Repayment of amounts that were", "b"), gap=9)
    booklet.set(("income of earlier", "b")).set(("years", "b")).lines("See the other booklet.", "It says more.", gap=4)
    assert [(block.role, block.text) for block in blocks_of(booklet)][1:] == [
        ("SubsectionHeader", "Line 3b—Repayment of amounts that were income of earlier years"),
        ("BodyText", "See the other booklet. It says more."),
    ]


def test_entries_of_an_index_are_apart_and_keep_their_further_lines() -> None:
    booklet = Booklet().lines("This is how to use the index", "of the booklet.")
    booklet.set(("Boats, hire of 12", ""), gap=9).set(("Fees:", ""))
    booklet.set(("Paid by the owner of", ""), indent=11).set(("the ship 13", ""), indent=22)
    booklet.set(("Refunds 14, 16", ""), indent=11).set(("Harbors 15-17", "")).set(("Locks (See Harbors)", ""))
    booklet.set(("Moorings 20", "")).set(("Ports 21", "")).lines("Words below it", "are text again.", gap=9)
    assert [block.text for block in blocks_of(booklet)] == [
        "This is how to use the index of the booklet.",
        "Boats, hire of 12",
        "Fees:",
        "Paid by the owner of the ship 13",
        "Refunds 14, 16",
        "Harbors 15-17",
        "Locks (See Harbors)",
        "Moorings 20",
        "Ports 21",
        "Words below it are text again.",
    ]


def test_lines_of_a_text_that_end_with_the_numbers_of_lines_are_no_entries() -> None:
    lines = [f"pay the fee of the harbor that is on line {number}" for number in range(11, 18)]
    booklet = Booklet().lines("When the ship is in, read the list and", *lines, "and keep the receipt.")
    assert [block.text for block in blocks_of(booklet)] == [
        " ".join(["When the ship is in, read the list and", *lines, "and keep the receipt."])
    ]


def test_a_row_of_labels_to_fill_in_is_no_heading() -> None:
    booklet = Booklet().head("Statement of the Owner").set(("Owner's name:", "b"), ("   ", ""), ("Its number:", "b"))
    booklet.lines("Give the reason for the fee on the lines below.", gap=8)
    with every_rule():
        roles = [(block.role, block.text) for block in blocks_of(booklet)]
    assert roles[1:] == [
        ("BodyText", "Owner's name: Its number:"),
        ("BodyText", "Give the reason for the fee on the lines below."),
    ]


def test_the_mark_of_a_list_at_the_top_of_a_page_is_no_running_head() -> None:
    """Marks at the top of many columns are alike, as the heads of pages are."""
    booklet = Booklet()
    names = ("Fees of the harbor", "Tolls of the lock", "Pay of the pilot", "Hire of a boat", "Rent of a shed")
    for ix, name in enumerate(names):
        booklet = booklet.turn() if ix else booklet
        booklet.to(LEFT, 30).set(("•", "")).to(LEFT + 14, 30).set((name, "")).to(LEFT).lines(*filler(5))
    items = [block.text for block in blocks_of(booklet) if block.role == "ListBlock"]
    assert items == [f"• {name}" for name in names]


def test_callouts_by_label_and_by_icon() -> None:
    booklet = Booklet().lines(*filler(4))
    booklet.set(("Caution: ", "b"), ("Do not fold the paper copy.", "i"), gap=10)
    booklet.lines(*filler(2), gap=10)
    top = booklet.y + 10
    booklet.to(LEFT + 35, top).set(("Keep the receipt with your records.", "i"))
    booklet.to(LEFT, top - 2).set(("TIP", "b"), size=9)
    roles = {block.text: block.role for block in blocks_of(booklet)}
    assert roles["Caution: Do not fold the paper copy."] == "Callout"
    assert roles["Keep the receipt with your records."] == "Callout"
    assert roles["TIP"] == "PageArtifact"


def test_bold_address_is_no_heading() -> None:
    booklet = Booklet().lines(*filler(3)).set(("Office of Returns", "b"), indent=20, gap=12)
    booklet.set(("Springfield, ZZ 00000", "b"), indent=20).lines(*filler(2), gap=12)
    assert {block.role for block in blocks_of(booklet)} == {"BodyText"}


def test_entries_of_a_table_of_contents_are_no_headings() -> None:
    booklet = Booklet().lines(*filler(8)).head("Contents")
    booklet.set(("What Is New", "b")).set(("Who Must File . . . . . . . . . . 3", "")).head("Reminders").lines(
        *filler(3)
    )
    headers = [block.text for block in blocks_of(booklet) if block.role == "SectionHeader"]
    assert headers == ["Contents", "Reminders"]


def test_table_region_and_face_take_their_text() -> None:
    booklet = Booklet().lines(*filler(4)).to(LEFT, 200).set(("Age", "b")).set(("Under 30", "")).turn()
    booklet.lines("1 Wages", "2 Tips")
    boxes = [FaceBox(2, key, "", True, 0, 0, 9, 9, (), 1.0) for key in ("box_1", "box_2")]
    region = TableRegion(1, 40, 195, 200, 230, "ruled")
    source = booklet.source()
    blocks = find_blocks(source, identity=identity_of(), regions={1: [region]}, face_boxes={2: boxes})
    elements = build_elements(blocks, document_id="sample")
    assert elements.filter(elements["role"] == "TableBlock")["table_id"].to_list() == ["sample:p0001:t0"]
    assert set(elements.filter(elements["page"] == 2)["role"]) == {"FormField"}
    assert elements["element_id"].is_sorted()


def test_lines_of_one_box_of_a_face_are_one_field() -> None:
    booklet = Booklet().lines("1 Wages of", "all kinds", "$").to(LEFT, 200).lines("2 Tips").to(LEFT, 300).lines("$")
    boxes = [
        FaceBox(1, "box_1", "", False, 40, 55, 140, 110, (), 1.0),
        FaceBox(1, "box_2", "", False, 40, 195, 140, 220, (), 1.0),
    ]
    blocks = find_blocks(booklet.source(), identity=identity_of("form"), regions={}, face_boxes={1: boxes})
    assert [(block.role, block.text) for block in blocks] == [
        ("FormField", "1 Wages of all kinds $"),
        ("FormField", "2 Tips"),
        ("PageArtifact", "$"),
    ]


def test_two_boxes_in_one_cell_and_a_line_through_two_boxes_are_distinguished() -> None:
    booklet = Booklet().lines("e Name of the owner").to(LEFT, 150).lines("f Address of the owner")
    booklet.to(LEFT, 300).set(("3", "b"), (" Fees of the year    ", ""), ("4", "b"), (" Tax of the year", ""))
    boxes = [FaceBox(1, f"box_{key}", "", False, 40, 55, 300, 170, (), 1.0) for key in "ef"]
    boxes += [FaceBox(1, "box_3", "", False, 40, 295, 130, 320, (), 1.0)]
    boxes += [FaceBox(1, "box_4", "", False, 130, 295, 300, 320, (), 1.0)]
    blocks = find_blocks(booklet.source(), identity=identity_of("form"), regions={}, face_boxes={1: boxes})
    assert [block.text for block in blocks] == [
        "e Name of the owner",
        "f Address of the owner",
        "3 Fees of the year",
        "4 Tax of the year",
    ]


def test_words_under_a_bold_tag_go_on_where_the_first_line_is_full() -> None:
    booklet = Booklet().lines(*filler(3))
    booklet.set(("777 ", "b"), ("Guide for owners of boats that lie in two harbours or", ""), gap=9)
    booklet.lines("more", indent=20)
    booklet.set(("778 ", "b"), ("Rents", ""), gap=9).lines("A new paragraph.", indent=20)
    texts = [block.text for block in blocks_of(booklet)]
    assert texts[1:] == [
        "777 Guide for owners of boats that lie in two harbours or more",
        "778 Rents",
        "A new paragraph.",
    ]


def test_bold_words_centered_over_a_table_head_it() -> None:
    booklet = Booklet().lines(*filler(3)).to(110, 150).set(("Yearly Fees", "b")).to(LEFT, 180).set(("Age", ""))
    region = TableRegion(1, 40, 175, 240, 200, "ruled")
    blocks = find_blocks(booklet.source(), identity=identity_of("other"), regions={1: [region]}, face_boxes={})
    assert {block.text: block.role for block in blocks}["Yearly Fees"] in ("SubsectionHeader", "SectionHeader")


def test_a_note_that_the_text_continues_elsewhere_does_not_part_it() -> None:
    booklet = (
        Booklet().lines(*filler(3), "The rest of the words that are").lines("(Continued on the back of Copy D)", gap=9)
    )
    booklet.turn().lines("set on the next page.")
    roles = {block.text: block.role for block in blocks_of(booklet)}
    assert roles["(Continued on the back of Copy D)"] == "PageArtifact"


def test_words_set_flush_right_are_one_paragraph() -> None:
    booklet, font = Booklet(), pymupdf.Font("helv")
    texts = ("For notes on", "how to file this", "paper, see the", "back of it.")
    for text in texts:
        booklet.to(300 - font.text_length(text, 10), booklet.y).set((text, ""))
    assert [block.text for block in blocks_of(booklet)] == [" ".join(texts)]


def test_the_first_section_is_no_part_of_the_title_above_it() -> None:
    page = Booklet()
    page.to(40, 60).set(("Instructions for Form 9999", "b"), size=20)
    page.to(40, 84).set(("What's New", "b"), size=14)
    page.to(40, 110).lines(*["The harbour has a new register in which each keeper writes the oil of the lamp."] * 6)
    roles = [(block.role, block.text) for block in blocks_of(page)]
    assert roles[:2] == [("DocTitle", "Instructions for Form 9999"), ("SectionHeader", "What's New")]


def test_a_caption_over_a_table_heads_no_section() -> None:
    booklet = Booklet().set(("Publication 9999", "b"), size=24).to(LEFT, 120).head("Berths").lines(*filler(6))
    booklet.set(("Table 2. Dues by Length", "b"), size=12, gap=12)
    top = booklet.y
    booklet.lines("Short boats 1", "Long boats 2").lines(*filler(3), gap=20)
    region = TableRegion(1, LEFT, top, 300, top + 26, "ruled")
    identity = identity_of("publication", form="Pub. 9999")
    blocks = find_blocks(booklet.source(), identity=identity, regions={1: [region]}, face_boxes={})
    assert [block.role for block in blocks if block.text.startswith("Table 2.")] == ["TableBlock"]
    assert [block.text for block in blocks if block.is_heading] == ["Berths"]


def test_large_type_after_the_first_section_is_no_title() -> None:
    booklet = Booklet().set(("Instructions for Form 9999-X", "b"), size=18).to(LEFT, 120).head("Changes", size=13)
    booklet.lines(*filler(4)).head("General Instructions", size=16).lines(*filler(4)).head("Boats at Sea", size=16)
    blocks = blocks_of(booklet.lines(*filler(20)))
    assert [block.text for block in blocks if block.role == "DocTitle"] == ["Instructions for Form 9999-X"]


def test_a_heading_continues_under_its_own_words_next_to_a_tag() -> None:
    booklet = Booklet().set(("Form 9999", "b"), size=20).to(LEFT, 120)
    booklet.set(("Part III", "b"), size=11).to(LEFT + 55, 120).set(("Shares of the Harbour and", "b"), size=11)
    booklet.set(("Other Things Afloat", "b"), size=11).to(LEFT, 160).lines(*filler(12))
    headings = [block.text for block in blocks_of(booklet) if block.is_heading]
    assert headings == ["Part III Shares of the Harbour and Other Things Afloat"]


def test_large_plain_type_heads_a_section_and_a_cover_has_none() -> None:
    booklet = Booklet().set(("Publication 9999", "b"), size=14).set(("Boats", "b"), size=26)
    booklet.set(("For use in preparing", ""), size=15, gap=40).set(("Box 2. Berths", ""), size=13, gap=300)
    booklet.lines(*filler(6)).turn().set(("Dues of the Harbour", ""), size=13).lines(*filler(20))
    booklet.set(("Words in passing are no heading.", ""), size=13).lines(*filler(3))
    blocks = blocks_of(booklet, identity=identity_of("publication", form="Pub. 9999"))
    assert [block.text for block in blocks if block.role == "DocTitle"][-1] == "For use in preparing"
    assert [(block.role, block.text) for block in blocks if block.is_heading] == [
        ("BoxHeader", "Box 2. Berths"),
        ("SectionHeader", "Dues of the Harbour"),
    ]


def test_a_face_says_what_it_is_and_for_which_reader_its_copy_is() -> None:
    booklet = Booklet().to(LEFT, 25).set(("CORRECTED (if checked)", "")).to(LEFT, 60).set(("Form 9999-X", ""))
    booklet.to(LEFT, 90).set(("Boats at Sea", "b"), size=11).to(LEFT, 120).set(("Copy B", "b"))
    booklet.to(LEFT, 140).set(("For Sailor", "b")).to(LEFT, 160).set(("Keep it dry.", ""))
    booklet.to(LEFT, 190).set(("Show this paper to the keeper of the harbour.", ""))
    booklet.to(LEFT, 300).lines("1 Wages").to(LEFT, 330).lines("2 Tips")
    booklet.to(LEFT, 360).set(("Form 9999-X", "")).to(300, 360).set(("www.irs.gov/Form9999X", ""))
    boxes = [FaceBox(1, f"box_{ix}", "", False, 40, y, 140, y + 20, (), 1.0) for ix, y in ((1, 295), (2, 325))]
    identity = replace(identity_of("form"), title="Form 9999-X (2031) — Boats at Sea")
    blocks = find_blocks(booklet.source(), identity=identity, regions={}, face_boxes={1: boxes})
    assert {(block.role, block.text) for block in blocks} == {
        ("FormField", "CORRECTED (if checked)"),
        ("DocTitle", "Form 9999-X"),
        ("DocTitle", "Boats at Sea"),
        ("PageArtifact", "Copy B"),
        ("PageArtifact", "For Sailor"),
        ("FormField", "Keep it dry."),
        ("BodyText", "Show this paper to the keeper of the harbour."),
        ("FormField", "1 Wages"),
        ("FormField", "2 Tips"),
        ("PageArtifact", "Form 9999-X"),
        ("PageArtifact", "www.irs.gov/Form9999X"),
    }


def test_pieces_of_a_faces_title_and_year_in_large_type_are_its_title() -> None:
    booklet = Booklet().to(LEFT, 300).lines("1 Wages").to(LEFT, 330).lines("2 Tips")
    booklet.to(LEFT, 368).set(("Form", "b"), size=7).to(80, 360).set(("Z-9", "b"), size=24)
    booklet.to(240, 360).set(("Boats", "b"), size=14).to(240, 376).set(("at Sea", "b"), size=14)
    booklet.to(400, 360).set(("2 0", ""), size=24).to(500, 370).set(("Sea 4", ""), size=8)
    boxes = [FaceBox(1, f"box_{ix}", "", False, 40, y, 140, y + 20, (), 1.0) for ix, y in ((1, 295), (2, 325))]
    identity = replace(identity_of("form", form="Z-9"), title="Form Z-9 (2031) — Boats at Sea")
    blocks = find_blocks(booklet.source(), identity=identity, regions={}, face_boxes={1: boxes})
    titles = {block.text for block in blocks if block.role == "DocTitle"}
    assert titles == {"Form", "Z-9", "Boats", "at Sea", "2 0"}


def test_labels_side_by_side_in_a_box_are_read_one_after_the_other() -> None:
    booklet = Booklet().to(LEFT, 104).set(("13", "b"), size=8)
    for x, words in ((110, ("Old age", "plan")), (70, ("Hired", "sailor"))):
        booklet.to(x, 100).set((words[0], ""), size=6).set((words[1], ""), size=6)
    booklet.to(LEFT, 200).lines("2 Tips")
    boxes = [FaceBox(1, "box_13", "", False, 40, 95, 200, 130, (), 1.0)]
    boxes += [FaceBox(1, "box_2", "", False, 40, 195, 200, 220, (), 1.0)]
    blocks = find_blocks(booklet.source(), identity=identity_of("form"), regions={}, face_boxes={1: boxes})
    assert blocks[0].text == "13 Hired sailor Old age plan"


@pytest.mark.parametrize(
    "rows",
    [
        (("Boats", "see page 3"), ("Rafts", "see page 4")),
        (("Enter the", "larger of"), ("three lines,", "or none")),
    ],
)
def test_rows_of_a_list_or_of_a_sentence_with_gaps_in_a_box_stay_rows(rows: tuple[tuple[str, str], ...]) -> None:
    booklet = Booklet().to(LEFT, 104).set(("13", "b"), size=8)
    for ix, words in enumerate(rows):
        for x, text in zip((70, 120), words, strict=True):
            booklet.to(x, 100 + 8 * ix).set((text, ""), size=6)
    booklet.to(LEFT, 200).lines("2 Tips")
    boxes = [FaceBox(1, "box_13", "", False, 40, 95, 200, 130, (), 1.0)]
    boxes += [FaceBox(1, "box_2", "", False, 40, 195, 200, 220, (), 1.0)]
    blocks = find_blocks(booklet.source(), identity=identity_of("form"), regions={}, face_boxes={1: boxes})
    assert blocks[0].text == " ".join(["13", *(text for words in rows for text in words)])


def test_the_page_number_of_a_first_page_is_higher_where_a_date_is_below_it() -> None:
    booklet = Booklet().lines(*filler(6)).to(290, 733).set(("Q-1", "b")).to(LEFT, 750).set(("Mar 5, 2031", "b"))
    for number in (2, 3, 4, 5):
        booklet.turn().lines(*filler(6)).to(290, 742).set((f"Q-{number}", "b"))
    roles = {block.text: block.role for block in blocks_of(booklet)}
    assert {roles[f"Q-{number}"] for number in (1, 2, 3, 4, 5)} == {"PageArtifact"}
    lone = Booklet().lines(*filler(6)).to(290, 733).set(("Q-1", "b"))
    assert {block.text: block.role for block in blocks_of(lone)}["Q-1"] != "PageArtifact"


def test_lines_of_a_bold_heading_in_the_type_of_the_text_are_one_heading() -> None:
    booklet = Booklet().head("Instructions", size=26).lines(*filler(6))
    booklet.set(("Interests in Boats and Nets of Owners That Are Held in", "b"), gap=10)
    booklet.set(("Harbor Associations", "b"), gap=3).lines(*filler(5), gap=4)
    booklet.set(("Fees", "b"), gap=10).set(("Late Fees", "b"), gap=3).lines(*filler(5), gap=4)
    headings = [block.text for block in blocks_of(booklet) if block.role.endswith("Header")]
    assert headings == [
        "Interests in Boats and Nets of Owners That Are Held in Harbor Associations",
        "Fees",
        "Late Fees",
    ]
