"""Pages read by their tags: headings and parents, run-ins, lists, paragraphs across breaks, furniture, callouts."""

from __future__ import annotations

from functools import cache

import pytest

from taxkg_assets.extraction.extract import Extraction, extract
from taxkg_assets.extraction.layout.printed_text import read_printed_text
from taxkg_assets.extraction.layout.regions import TableRegion
from taxkg_assets.extraction.structure.elements import find_blocks
from taxkg_assets.extraction.structure.tagged_page import Columns, find_units, split_columns
from taxkg_assets_tests.extraction.tagged_pdf import (
    COLUMNS,
    FOOT,
    LEFT,
    RIGHT,
    WORKSHEET,
    TaggedPdf,
    fill,
    make_booklet,
    make_tables,
    put_head,
)
from taxkg_assets_tests.extraction.typeset import identity_of


@cache
def _read() -> Extraction:
    return make_booklet().extract()


def _owners() -> dict[str, str]:
    heading = dict(_read().frames["anchors"].select("anchor_id", "heading").iter_rows())
    return {
        text: heading[anchor] for text, anchor in _read().frames["sections"].select("text", "anchor_id").iter_rows()
    }


def test_headings_with_their_parents() -> None:
    anchors = _read().frames["anchors"]
    heading = dict(anchors.select("anchor_id", "heading").iter_rows())
    found = [
        (text, heading.get(parent, "")) for text, parent in anchors.select("heading", "parent_anchor_id").iter_rows()
    ]
    assert found == [
        ("General Rules", ""),
        ("Wild swarms.", "General Rules"),
        ("Late Harvest", "General Rules"),
        ("Wax and Pollen", ""),
        ("Pollen", "Wax and Pollen"),
    ]


def test_a_title_that_is_tagged_after_the_text_opens_no_section() -> None:
    """A cover whose text comes before its masthead in the order of the tags: the text continues on the next page."""
    pdf = TaggedPdf().to(RIGHT, 60).put("H2", "Reminders", face="b", size=14).put("P", *fill(6))
    pdf.to(LEFT, 60).put("H2", "Publication 9077", face="b", size=12).put("H1", "Yields of Hives", face="b", size=27)
    pdf.put("H2", "For use in preparing", size=14).put("P", *fill(3, about="offices"))
    pdf.turn()
    with pdf.tag("P"):
        pdf.run("Wild swarms. ", "b").run("A swarm that nobody owns").to(LEFT, pdf.y + 11.2)
        pdf.lines("is reported by the person who takes it into a hive.")
    pdf.put("P", *fill(6))
    frames = pdf.extract().frames
    heading = dict(frames["anchors"].select("anchor_id", "heading").iter_rows())
    parents = frames["anchors"].select("heading", "parent_anchor_id").iter_rows()
    assert [(text, heading.get(parent, "")) for text, parent in parents] == [
        ("Reminders", ""),
        ("Wild swarms.", "Reminders"),
    ]
    titles = frames["elements"].filter(role="DocTitle")["text"].to_list()
    assert titles == ["Publication 9077", "Yields of Hives", "For use in preparing"]


def test_a_bold_due_date_stays_in_its_sentence_and_a_day_of_release_does_not() -> None:
    pdf = TaggedPdf().put("P", *fill(4))
    with pdf.tag("P"):
        pdf.set("The return of a barge for the calendar year").run("is due by ")
        with pdf.tag("Span"):
            pdf.run("March 5, 2031", "b")
        pdf.run(". Later returns").to(LEFT, pdf.y + 11.2).lines("cost a fee.")
    pdf.put("P", *fill(4)).to(LEFT, FOOT - 30).put("P", "Mar 15, 2030")
    elements = pdf.extract().frames["elements"]
    texts = elements.filter(role="BodyText")["text"].to_list()
    assert any(text.endswith("is due by March 5, 2031. Later returns cost a fee.") for text in texts)
    assert elements.filter(role="PageArtifact")["text"].to_list() == ["Mar 15, 2030"]


def test_pieces_of_a_line_that_meet_are_joined_without_a_blank() -> None:
    """A link is tagged apart from the comma after it, a fraction is in pieces, and a raised number is not a letter."""
    pdf = TaggedPdf().put("P", *fill(4))
    with pdf.tag("P"):
        pdf.y += 4
        pdf.run("See ")
        with pdf.tag("Link"):
            pdf.run("Late Harvest")
        pdf.run(", later, for 5")
        with pdf.tag("Span"):
            pdf.run("1", size=8)
        pdf.run("/")
        with pdf.tag("Span"):
            pdf.run("2", size=8)
        pdf.run(" pounds.")
    texts = pdf.extract().frames["sections"]["text"].to_list()
    assert texts[-1] == "See Late Harvest, later, for 5 1/2 pounds."


def test_a_full_stop_after_a_link_ends_its_sentence() -> None:
    pdf = TaggedPdf().put("P", *fill(4))
    with pdf.tag("P"):
        pdf.y += 4
        pdf.run("See ")
        with pdf.tag("Link"):
            pdf.run("Late Harvest")
        pdf.run(".")
    frames = pdf.extract().frames
    assert frames["sections"]["text"].to_list()[-1] == "See Late Harvest."
    assert "." not in frames["elements"].filter(role="PageArtifact")["text"].to_list()


def test_a_heading_takes_the_full_stop_that_is_set_in_plain_type() -> None:
    pdf = TaggedPdf().put("H2", "Wax and Pollen", face="b", size=14)
    with pdf.tag("P"):
        pdf.run("Old combs", "b").run(". Melt them before the moths come.")
    pdf.put("P", *fill(4))
    frames = pdf.extract().frames
    assert "Old combs." in frames["anchors"]["heading"].to_list()
    assert frames["sections"]["text"].to_list()[0] == "Melt them before the moths come."


def test_a_run_in_heading_at_the_head_of_many_pages_is_no_running_head() -> None:
    pdf = TaggedPdf().put("H2", "Wax and Pollen", face="b", size=14).put("P", *fill(4))
    for number, name in enumerate(("A lost swarm", "A comb that broke", "The old queen", "Honey in barrels"), 1):
        pdf.turn().to(LEFT, 26)
        with pdf.tag("P"):
            with pdf.tag("Span"):
                pdf.run(f"Exception {number}.", "b")
            pdf.x += 6
            pdf.run(name)
            pdf.to(LEFT, pdf.y + 11.2).lines("is reported by the person who takes it into a hive.")
        pdf.put("P", *fill(12))
    headings = pdf.extract().frames["anchors"]["heading"].to_list()
    assert [text for text in headings if text.startswith("Exception")] == [f"Exception {n}." for n in range(1, 5)]


def test_a_page_that_is_one_picture_floats_in_the_text() -> None:
    pdf = TaggedPdf().put("H2", "Wax and Pollen", face="b", size=14)
    with pdf.tag("P"):
        pdf.lines("Wax counts with the honey that it came with", *fill(5, about="wax")[:-1])
        pdf.turn()
        with pdf.tag("Figure"):
            pdf.set("Buy Your Honey Early", "b", size=20).lines(*fill(6))
        pdf.turn().lines("unless it was sold before the honey was.")
    pdf.put("H3", "Pollen", face="b", size=11).put("P", *fill(4, about="pollen"))
    frames = pdf.extract().frames
    heading = dict(frames["anchors"].select("anchor_id", "heading").iter_rows())
    parents = frames["anchors"].select("heading", "parent_anchor_id").iter_rows()
    assert [(text, heading.get(parent, "")) for text, parent in parents] == [
        ("Wax and Pollen", ""),
        ("Buy Your Honey Early", ""),
        ("Pollen", "Wax and Pollen"),
    ]
    text = frames["sections"].sort("paragraph_ix")["text"][0]
    assert (text[:10], text[-21:]) == ("Wax counts", "before the honey was.")


def test_a_framed_title_of_a_table_opens_no_section() -> None:
    """The title is tagged as a heading in a table of one row, and comes before the text around it."""
    pdf = TaggedPdf().put("H2", "Yields of Hives", face="b", size=14).put("P", *fill(4))
    with pdf.tag("Table"), pdf.tag("TR"), pdf.tag("TD"):
        pdf.put("H3", "Honey Worksheet", face="b", size=12)
    with pdf.tag("Table"):
        for number, words in enumerate(WORKSHEET, 1):
            pdf.row((60, f"{number}."), (80, words), (430, f"{number}."), (450, "_______"))
    pdf.to(LEFT, pdf.y).put("H4", "Late Yields", face="b", size=11, gap=20).put("P", *fill(4))
    anchors = pdf.extract().frames["anchors"]
    heading = dict(anchors.select("anchor_id", "heading").iter_rows())
    parents = [
        (text, heading.get(parent, "")) for text, parent in anchors.select("heading", "parent_anchor_id").iter_rows()
    ]
    assert parents == [
        ("Yields of Hives", ""),
        ("Honey Worksheet", "Yields of Hives"),
        ("Late Yields", "Yields of Hives"),
    ]


def test_the_tags_decide_what_is_a_heading_and_its_level_breaks_ties() -> None:
    """Two sizes of type and three levels: what has no type of its own is placed by its tag."""
    pdf = TaggedPdf().put("H1", "Hives", face="b", size=12).put("P", *fill(4))
    pdf.put("H2", "Queens", face="b", size=12).put("P", *fill(4))
    pdf.put("H3", "Drones", size=10).put("P", *fill(4))
    anchors = pdf.extract().frames["anchors"]
    heading = dict(anchors.select("anchor_id", "heading").iter_rows())
    parents = {
        text: heading.get(above, "") for text, above in anchors.select("heading", "parent_anchor_id").iter_rows()
    }
    assert parents == {"Hives": "", "Queens": "Hives", "Drones": "Queens"}


def test_a_run_in_owns_its_paragraph() -> None:
    assert _owners()["A swarm that nobody owns is reported by the person who takes it into a hive."] == "Wild swarms."


def test_list_items_are_whole_with_their_marks() -> None:
    sections = _read().frames["sections"]
    items = sections.filter(sections["role"] == "ListBlock")["text"].to_list()
    assert items == ["• clover that was sown,", "• heather that grew wild."]


@pytest.mark.parametrize(
    ("words", "parts", "pages"),
    [
        ("second kind and is weighed in the same week in which it is taken", 2, {1}),
        ("line number 3 of it unless it was sold before the honey was.", 2, {1, 2}),
    ],
)
def test_a_paragraph_continues_in_the_next_column_and_on_the_next_page(words: str, parts: int, pages: set[int]) -> None:
    row = next(row for row in _read().frames["sections"].iter_rows(named=True) if words in row["text"])
    assert len(row["element_ids"]) == parts
    assert {piece["page"] for piece in row["pieces"]} == pages
    assert "-1-" not in row["text"]


def test_the_tags_join_what_looks_like_two_paragraphs() -> None:
    """The second part begins like a paragraph of its own, and the layout takes it for one."""
    pdf = TaggedPdf()
    with pdf.tag("P"):
        pdf.lines(*fill(5)[:4], "The rule is that of the county.").to(RIGHT).lines("Bees are kept as before", *fill(3))
    pdf.put("P", *fill(4))
    for use_tags in (True, False):
        texts = extract(pdf.bytes(), document_id="x", use_tags=use_tags).frames["sections"]["text"].to_list()
        assert any("of the county. Bees are kept as before" in text for text in texts) == use_tags


def test_running_feet_in_open_tags_are_furniture() -> None:
    roles = dict(_read().frames["elements"].select("text", "role").iter_rows())
    assert (roles["-1-"], roles["-2-"]) == ("PageArtifact", "PageArtifact")
    assert not any("-1-" in text or "-2-" in text for text in _owners())


def test_an_icon_makes_a_callout_and_is_no_text() -> None:
    rows = dict(make_tables().extract().frames["elements"].select("text", "role").iter_rows())
    assert rows["Bees that swarm in a storm are not counted before they have settled."] == "Callout"
    assert rows["CAUTION"] == "PageArtifact"


def test_each_block_knows_whether_the_layout_agrees() -> None:
    pdf = make_booklet()
    # Set far apart, so that the layout sees two paragraphs.
    with pdf.tag("P"):
        pdf.to(LEFT, 400).set("Propolis is counted when it is sold to").set("others and not before.", gap=16)
    blocks = find_blocks(pdf.source(), identity=identity_of(), regions={}, face_boxes={})
    source = {block.text: block.source for block in blocks}
    assert source["Propolis is counted when it is sold to others and not before."] == "tags"
    assert source["General Rules"] == "both"


def test_pages_without_tags_are_read_by_layout() -> None:
    blocks = find_blocks(make_booklet().source(), identity=identity_of(), regions={}, face_boxes={})
    assert {block.source for block in blocks if block.role == "BodyText"} <= {"both", "tags"}
    plain = TaggedPdf().put("P", "A few words.").source()
    assert {b.source for b in find_blocks(plain, identity=identity_of(), regions={}, face_boxes={})} == {"layout"}


def test_units_are_blocks_items_and_tables() -> None:
    source = make_tables().source()
    page = source.pages[0]
    lines = read_printed_text(source).lines[1]
    table = next(ix for ix, tag in enumerate(page.tags) if tag.kind == "Table")
    units = find_units(page, lines, regions=[TableRegion(1, 0, 0, 0, 0, "ruled", table)])
    assert [unit.place.kind for unit in units[:3]] == ["H1", "P", "H3"]
    assert [unit.table_ix for unit in units] == [-1, -1, -1, table]
    # A table that is not read as such gives a unit for each of its cells.
    assert len(find_units(page, lines, regions=[])) > 20


def test_marks_join_the_words_of_their_item() -> None:
    source = make_booklet().source()
    units = find_units(source.pages[0], read_printed_text(source).lines[1], regions=[])
    items = [unit for unit in units if unit.place.item_ix >= 0]
    assert [(unit.has_mark, unit.is_item_start, unit.only_marks) for unit in items] == [(True, True, False)] * 2


def test_a_unit_is_split_where_it_rises_to_another_column() -> None:
    source = make_booklet().source()
    page = source.pages[0]
    units = find_units(page, read_printed_text(source).lines[1], regions=[])
    unit = next(unit for unit in units if "Honey that" in unit.lines[0].text)
    segments = split_columns(unit.lines)
    assert [len(lines) for lines in segments] == [2, 1]
    columns = Columns(page, [unit.lines for unit in units if unit is not units[0] and len(unit.lines) > 3][:1])
    assert columns.locate(segments[0])[0] == 0
    assert columns.locate(segments[1])[0] == 1
    assert split_columns([]) == [[]]


def test_a_foot_of_the_document_is_not_joined_to_the_next_page() -> None:
    pdf = make_booklet()
    pdf.turn().put("P", *fill(5)).to(290, FOOT).bare("-3-", size=8)
    assert not any("-3-" in text for text in pdf.extract().frames["sections"]["text"])


def test_a_number_over_its_title_is_one_heading_and_a_part_holds_chapters() -> None:
    """The number of a chapter is tagged as a paragraph, that of a part too, and the part is set smaller."""
    pdf = TaggedPdf().put("P", "Publication 9077", face="b", size=26)
    pdf.to(LEFT, 150)
    for part, chapters in (("One", ("1", "2")), ("Two", ("3",))):
        pdf.put("P", f"Part {part}.", face="b", size=17).put("H1", f"Honey of Kind {part}", face="b", size=17)
        pdf.put("P", *fill(3))
        for chapter in chapters:
            pdf.put("P", f"{chapter}.", face="b", size=18).put("H1", f"Hives of Row {chapter}", face="b", size=18)
            pdf.put("P", *fill(3))
    anchors = pdf.extract().frames["anchors"]
    heading = dict(anchors.select("anchor_id", "heading").iter_rows())
    found = [
        (text, key, heading.get(above, ""))
        for text, key, above in anchors.select("heading", "key", "parent_anchor_id").iter_rows()
    ]
    first, second = "Part One. Honey of Kind One", "Part Two. Honey of Kind Two"
    assert found == [
        (first, "part_I", ""),
        ("1. Hives of Row 1", None, first),
        ("2. Hives of Row 2", None, first),
        (second, "part_II", ""),
        ("3. Hives of Row 3", None, second),
    ]


def _headings_on(pdf: TaggedPdf, page: int) -> list[str]:
    anchors = pdf.extract().frames["anchors"]
    return [text for number, text in anchors.select("page", "heading").iter_rows() if number == page]


def test_large_type_that_the_maker_did_not_tag_is_a_heading_next_to_tagged_ones() -> None:
    pdf = make_booklet()
    pdf.to(LEFT, 300).put("P", "Where are hives kept?", size=16, gap=20).put("P", "Hives are kept in gardens", *fill(3))
    pdf.put("P", "Swarms", face="b", size=14, gap=20).put("P", "Swarms are kept in the shade", *fill(3))
    assert _headings_on(pdf, 2) == ["Pollen", "Where are hives kept?", "Swarms"]


def test_on_a_page_without_tagged_headings_type_decides() -> None:
    pdf = make_booklet().turn()
    pdf.put("P", "Queens and Drones", face="b", gap=8).put("P", "Queens are not counted", *fill(4), gap=6)
    assert _headings_on(pdf, 3) == ["Queens and Drones"]


@pytest.mark.parametrize("tag", ["Caption", "Div"])
def test_the_title_of_a_table_owns_it_and_nothing_after_it(tag: str) -> None:
    """Between a title and its table is a note of the same caption, or on the title's line the note on filing."""
    pdf = make_booklet().turn()
    with pdf.tag(tag):
        if tag == "Caption":
            pdf.put("P", "Pounds of Honey by Flower", face="b", size=12, gap=8)
            pdf.put("P", "All pounds are those of one season that ended before the", "last swarm of it was counted.")
        else:
            pdf.put("P", "Pounds of Honey by Flower", face="b", size=12, gap=8)
            pdf.to(LEFT + 300, pdf.y - 13.44).put("P", "Keep for Your Records", size=12, gap=0).to(LEFT, pdf.y)
    with pdf.tag("Table"):
        put_head(pdf)
        for flower, base in (("Clover", 11), ("Heather", 21), ("Linden", 31)):
            pdf.row(*zip(COLUMNS, (flower, *(f"{base + ix}.5" for ix in range(4))), strict=True))
    pdf.to(LEFT, pdf.y).put("P", "Pollen is weighed in the week", *fill(4), gap=20)
    with pdf.tag("P"):
        pdf.run("Weights.", "b").set(" They are read twice.").to(LEFT, pdf.y).lines(*fill(2))
    frames = pdf.extract().frames
    heading = dict(frames["anchors"].select("anchor_id", "heading").iter_rows())
    parents = dict(frames["anchors"].select("heading", "parent_anchor_id").iter_rows())
    rows = frames["sections"].filter(frames["sections"]["page"] == 3)
    owners = [(row["table_id"] is not None, heading[row["anchor_id"]]) for row in rows.iter_rows(named=True)]
    title = "Pounds of Honey by Flower"
    note = [(False, title)] if tag == "Caption" else []
    assert owners == [*note, (True, title), (False, "Pollen"), (False, "Weights.")]
    assert heading[parents["Weights."]] == "Pollen"


def test_a_heading_of_contents_that_is_tagged_with_the_last_entry_of_a_column_is_apart() -> None:
    pdf = (
        TaggedPdf()
        .put("H1", "Instructions for Form 9077", face="b", size=20)
        .put("P", "Contents Page", face="b", gap=8)
    )
    for words in ("Hives 2", "Combs 4"):
        pdf.put("P", words)
    with pdf.tag("P"):
        pdf.set("Swarms 6", gap=4).to(RIGHT, 110)
        with pdf.tag("Span"):
            pdf.set("Contents", "b")
    pdf.put("P", "Queens 8").put("P", "Drones 9").to(LEFT, 300).put("H2", "Hives", face="b", size=14).put("P", *fill(5))
    frames = pdf.extract().frames
    texts = frames["sections"]["text"].to_list()
    assert texts[texts.index("Swarms 6") :][:3] == ["Swarms 6", "Contents", "Queens 8"]
    # The first one is a heading, though it is tagged as text, and owns the entries.
    heading = dict(frames["anchors"].select("anchor_id", "heading").iter_rows())
    owners = [heading.get(owner) for owner in frames["sections"]["anchor_id"]]
    assert owners == ["Contents"] * 6 + ["Hives"]


@pytest.mark.parametrize(("lead", "is_joined"), [("as follows.", False), ("as those of the", True)])
def test_a_table_that_is_tagged_inside_a_paragraph_ends_it_after_a_sentence(lead: str, is_joined: bool) -> None:
    pdf = TaggedPdf().put("H2", "Wax and Pollen", face="b", size=14).put("P", *fill(12)).put("P", *fill(12))
    with pdf.tag("P"):
        pdf.lines(*fill(3)[:2], f"The yields of the year are counted {lead}")
        with pdf.tag("Table"):
            put_head(pdf)
            for flower, base in (("Clover", 11), ("Heather", 21), ("Linden", 31)):
                pdf.row(*zip(COLUMNS, (flower, *(f"{base + ix}.5" for ix in range(4))), strict=True))
        pdf.to(LEFT, pdf.y).lines("Wild flowers count where they grow.", gap=20)
    pdf.put("P", *fill(4))
    texts = pdf.extract().frames["sections"]["text"].to_list()
    assert any(text.startswith("Wild flowers") for text in texts) != is_joined
    assert any(f"{lead} Wild flowers" in text for text in texts) == is_joined


@pytest.mark.parametrize(("drop", "role"), [(16, "Callout"), (40, "BodyText")])
def test_the_word_of_an_icon_may_be_below_a_callout_of_one_line(drop: int, role: str) -> None:
    pdf = TaggedPdf().put("H2", "Wax and Pollen", face="b", size=14).put("P", *fill(4))
    with pdf.tag("P"):
        pdf.to(LEFT + 40, 200).set("Count each hive once.").to(LEFT, 200 + drop)
        with pdf.tag("Figure"):
            pdf.run("TIP", "b", size=8)
    pdf.to(LEFT, 300).put("P", *fill(4, about="wax"))
    rows = dict(pdf.extract().frames["elements"].select("text", "role").iter_rows())
    assert (rows["Count each hive once."], rows["TIP"]) == (role, "PageArtifact")


@pytest.mark.parametrize("gap", [3, 4])
@pytest.mark.parametrize("is_tagged", [True, False])
def test_an_icon_marks_only_the_paragraph_that_it_is_next_to(gap: int, is_tagged: bool) -> None:
    pdf = TaggedPdf().put("H2", "Wax and Pollen", face="b", size=14).put("P", *fill(4))
    pdf.to(LEFT + 40, 200).put("P", "Count each hive once.", gap=0)
    pdf.put("P", "Keep the list of hives for", "three years in the shed.", gap=gap).to(LEFT, 211.2 + gap)
    with pdf.tag("Figure"):
        pdf.run("TIP", "b", size=8)
    data = pdf.to(LEFT, 300).put("P", *fill(4, about="wax")).bytes(is_tagged=is_tagged)
    elements = extract(data, document_id="x").frames["elements"]
    assert elements.filter(role="Callout")["text"].to_list() == ["Keep the list of hives for three years in the shed."]


def test_the_title_of_the_closing_notice_needs_no_full_stop() -> None:
    pdf = TaggedPdf().put("H2", "Wax and Pollen", face="b", size=14).put("P", *fill(4))
    with pdf.tag("P"):
        pdf.run("Old combs.", "b").run(" They are melted.").to(LEFT, pdf.y + 20)
    with pdf.tag("P"):
        pdf.run("Paperwork Reduction Act Notice ", "b").run("The town asks").to(LEFT, pdf.y + 11.2)
        pdf.lines("for this to count the hives.")
    frames = pdf.extract().frames
    anchors = dict(frames["anchors"].select("heading", "parent_anchor_id").iter_rows())
    assert anchors["Paperwork Reduction Act Notice"] is None
    assert frames["sections"]["text"].to_list()[-1] == "The town asks for this to count the hives."


@pytest.mark.parametrize("number", ["3", "3-2", "3-B"])
def test_a_numbered_caption_opens_no_section(number: str) -> None:
    pdf = TaggedPdf().put("H2", "Wax and Pollen", face="b", size=14).put("P", *fill(12))
    pdf.put("P", f"Figure {number}. Which Hive To Open", face="b", size=12, gap=12)
    with pdf.tag("Table"):
        put_head(pdf)
        for flower, base in (("Clover", 11), ("Heather", 21), ("Linden", 31)):
            pdf.row(*zip(COLUMNS, (flower, *(f"{base + ix}.5" for ix in range(4))), strict=True))
    pdf.to(LEFT, pdf.y).put("H3", "Pollen", face="b", size=11, gap=20).put("P", *fill(4))
    anchors = pdf.extract().frames["anchors"]
    names = dict(anchors.select("anchor_id", "heading").iter_rows())
    found = [(text, names.get(parent)) for text, parent in anchors.select("heading", "parent_anchor_id").iter_rows()]
    assert found == [("Wax and Pollen", None), ("Pollen", "Wax and Pollen")]


def test_the_number_of_a_table_that_is_tagged_after_the_text_is_part_of_the_table() -> None:
    pdf = TaggedPdf().put("H2", "Wax and Pollen", face="b", size=14).put("P", *fill(12))
    top = pdf.y + 12
    pdf.to(LEFT + 60, top).put("P", "Yields of Hives", face="b", size=12, gap=0).to(LEFT, pdf.y)
    with pdf.tag("Table"):
        put_head(pdf)
        for flower, base in (("Clover", 11), ("Heather", 21), ("Linden", 31)):
            pdf.row(*zip(COLUMNS, (flower, *(f"{base + ix}.5" for ix in range(4))), strict=True))
    pdf.to(LEFT, pdf.y).put("P", *fill(4), gap=20).to(LEFT, top).put("P", "Table 4.", size=12, gap=0)
    frames = pdf.extract().frames
    rows = [(row["text"][:15], row["table_id"] is not None) for row in frames["sections"].iter_rows(named=True)]
    assert rows == [("plain words on ", False), ("Table 4. Yields", True), ("plain words on ", False)]
    assert frames["elements"].filter(text="Table 4.")["table_id"].to_list() == ["tagged:p0001:t0"]


@pytest.mark.parametrize("between", [fill(3), ["Hives have parts."]])
@pytest.mark.parametrize("is_last", [False, True])
def test_the_number_of_a_figure_is_no_part_of_the_next_table(between: list[str], is_last: bool) -> None:
    pdf = TaggedPdf().put("H2", "Wax and Pollen", face="b", size=14).put("P", *fill(6))
    top = pdf.y + 12
    if not is_last:
        pdf.to(LEFT, top).put("P", "Figure 4.", face="b", gap=0)
    pdf.to(LEFT + 55, top).put("P", "Parts of a hive", gap=0).to(LEFT, pdf.y + 4).put("P", *between, gap=10)
    pdf.put("P", "Table 5. Yields of Hives", face="b", size=12, gap=10)
    with pdf.tag("Table"):
        put_head(pdf)
        for flower, base in (("Clover", 11), ("Heather", 21), ("Linden", 31)):
            pdf.row(*zip(COLUMNS, (flower, *(f"{base + ix}.5" for ix in range(4))), strict=True))
    pdf.to(LEFT, pdf.y).put("P", *fill(3), gap=20)
    if is_last:
        pdf.to(LEFT, top).put("P", "Figure 4.", face="b", gap=0)
    frames = pdf.extract().frames
    assert frames["elements"].filter(text="Figure 4.")["table_id"].to_list() == [None]
    assert "Figure 4." not in frames["tables"].write_json()


def test_the_title_of_a_table_whose_number_is_tagged_inside_it_is_part_of_the_table() -> None:
    pdf = TaggedPdf().put("H2", "Wax and Pollen", face="b", size=14).put("P", *fill(12))
    top = pdf.y + 12
    pdf.to(LEFT + 60, top).put("P", "Yields of Hives", face="b", size=12, gap=0).to(LEFT, pdf.y)
    with pdf.tag("Table"):
        with pdf.tag("TR"), pdf.tag("TH"):
            pdf.to(LEFT, top).set("Table 4.", size=12)
        put_head(pdf)
        for flower, base in (("Clover", 11), ("Heather", 21), ("Linden", 31)):
            pdf.row(*zip(COLUMNS, (flower, *(f"{base + ix}.5" for ix in range(4))), strict=True))
    pdf.to(LEFT, pdf.y).put("P", *fill(4), gap=20)
    rows = pdf.extract().frames["sections"].select("text", "table_id").iter_rows()
    assert [text[:15] for text, table_id in rows if table_id is None] == ["plain words on ", "plain words on "]
