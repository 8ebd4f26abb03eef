"""Numbered lines of forms: the number, its words and what repeats it are read as one line, in its part or step."""

from __future__ import annotations

import pymupdf

from taxkg_assets.extraction.extract import extract
from taxkg_assets.extraction.structure.anchors import build_anchors
from taxkg_assets.extraction.structure.blocks import Block
from taxkg_assets.extraction.structure.sections import build_sections
from taxkg_assets_tests.extraction.typeset import Booklet, blocks_of, identity_of

_FORM = identity_of("form", form="Schedule Q (Form 9999)")
_AMOUNT = 500.0


def _put(page: Booklet, x: float, y: float, text: str, face: str = "") -> None:
    page.to(x, y).set((text, face), size=9)


def _line(page: Booklet, y: float, number: str, text: str, *, at: str, x: float = 120.0) -> None:
    """Set a line as the IRS does: number, words with a first dot, dots one by one, the number at the amount."""
    _put(page, x, y, number, "b")
    _put(page, x + 20, y, f"{text} .")
    for dot in range(5):
        _put(page, _AMOUNT - 80 + 12 * dot, y, ".")
    _put(page, _AMOUNT, y, at, "b")


def _rule(page: Booklet, *, xs: tuple[float, ...], ys: tuple[float, float]) -> None:
    """Draw a row of cells."""
    for y in ys:
        page.page.draw_line((xs[0], y), (xs[-1], y))
    for x in xs:
        page.page.draw_line((x, ys[0]), (x, ys[-1]))


def _schedule() -> Booklet:
    page = Booklet()
    _put(page, 36, 100, "Part I", "b")
    _put(page, 36, 114, "Boats", "b")
    _put(page, 36, 130, "See the guide")
    _put(page, 36, 141, "to boats.")
    _line(page, 100, "1", "Boats that you own", at="1")
    _put(page, 120, 114, "2", "b")
    _put(page, 140, 114, "Boats that you rent out. List each of them with its length and the name")
    _put(page, 140, 125, "of the harbour")
    _put(page, _AMOUNT, 125, "2", "b")
    _put(page, 125, 139, "a", "b")
    _put(page, 140, 139, "Rowing boats")
    _put(page, _AMOUNT, 139, "2a", "b")
    _put(page, 125, 153, "b", "b")
    _put(page, 140, 153, "Sailing boats")
    _put(page, _AMOUNT, 153, "2b", "b")
    page.page.draw_line((36, 170), (576, 170))
    _put(page, 36, 180, "Part II", "b")
    _put(page, 36, 194, "Fees", "b")
    _line(page, 180, "3", "Fee for the harbour", at="3")
    _line(page, 194, "4", "Add lines 2b and 3", at="4")
    return page


def _named(blocks: list[Block]) -> dict[str | None, str]:
    return {block.named.key: block.text for block in blocks if block.named is not None}


def test_a_line_is_one_element_with_the_key_that_the_amount_repeats() -> None:
    lines = _named(blocks_of(_schedule(), identity=_FORM))
    assert lines["line_1"] == "1 Boats that you own"
    assert lines["line_2"].endswith("its length and the name of the harbour")
    assert lines["line_2a"] == "a Rowing boats"
    assert list(lines) == ["part_I", "line_1", "line_2", "line_2a", "line_2b", "part_II", "line_3", "line_4"]


def test_parts_in_the_margin_hold_their_lines_and_letters_stand_under_numbers() -> None:
    anchors = build_anchors(blocks_of(_schedule(), identity=_FORM), identity=_FORM, document_id="sample")
    names = dict(anchors.select("anchor_id", "heading").iter_rows())
    parents = {row["key"]: names.get(row["parent_anchor_id"]) for row in anchors.to_dicts()}
    assert parents["line_1"] == "Part I Boats"
    label = "Boats that you rent out. List each of them with its length and the name of the harbour"
    assert parents["line_2b"] == label
    assert parents["line_4"] == "Part II Fees"


def test_the_last_line_of_a_face_is_read_down_to_its_foot() -> None:
    """Its number counts on from the one above it, so that it is no page number; the number in the middle is one."""
    page = Booklet()
    for number, y in (("21", 706.0), ("22", 718.0), ("23", 730.0), ("24", 742.0)):
        _line(page, y, number, f"Fee number {number} for the harbour", at=number)
        for column in range(3):
            widget = pymupdf.Widget()
            widget.field_name, widget.field_type = f"f{number}_{column}", pymupdf.PDF_WIDGET_TYPE_TEXT
            widget.rect = pymupdf.Rect(515 + 20 * column, y - 9, 533 + 20 * column, y + 1)
            page.page.add_widget(widget)
    _put(page, 300, 760, "24")
    named = _named(blocks_of(page, identity=_FORM))
    assert list(named) == ["line_21", "line_22", "line_23", "line_24"]
    assert "Fee number 24" in named["line_24"]


def test_a_line_owns_its_own_words_and_a_part_the_remarks_below_its_label() -> None:
    blocks = blocks_of(_schedule(), identity=_FORM)
    anchors = build_anchors(blocks, identity=_FORM, document_id="sample")
    keys = dict(anchors.select("anchor_id", "key").iter_rows())
    owners = {
        row["text"]: keys[row["anchor_id"]] for row in build_sections(blocks, anchors, document_id="sample").to_dicts()
    }
    assert owners["See the guide to boats."] == "part_I"
    assert owners["3 Fee for the harbour"] == "line_3"


def test_two_columns_of_lines_are_read_one_after_the_other() -> None:
    page = Booklet()
    for ix in range(4):
        y = 200 + 16 * ix
        for x, number in ((42.0, 8 + ix), (320.0, 12 + ix)):
            _put(page, x, y, str(number), "b")
            _put(page, x + 18, y, f"Cost of kind {number} for your boat yard")
            _put(page, x + 210, y, str(number), "b")
    assert list(_named(blocks_of(page, identity=_FORM))) == [f"line_{number}" for number in range(8, 16)]


def test_a_brace_is_read_after_the_words_before_it() -> None:
    page = _schedule()
    _put(page, 120, 230, "5", "b")
    _put(page, 140, 230, "Enter:")
    page.to(172, 206).set(("{", ""), size=36)
    for ix, text in enumerate(("10 for a canoe", "20 for a raft", "30 for a ship")):
        _put(page, 195, 218 + 12 * ix, text)
    _put(page, _AMOUNT, 230, "5", "b")
    assert _named(blocks_of(page, identity=_FORM))["line_5"] == "5 Enter: 10 for a canoe 20 for a raft 30 for a ship"


def test_a_brace_takes_no_row_of_the_line_above() -> None:
    page = _schedule()
    _put(page, 120, 210, "5", "b")
    _put(page, 140, 210, "Subtract line 4 from line 3. If the result is zero, enter it on lines 6, 7, and")
    _put(page, 140, 221, "8, and go to line 7")
    _put(page, _AMOUNT, 221, "5", "b")
    _put(page, 120, 235, "6", "b")
    page.to(430, 206).set(("}", ""), size=36)
    for ix, text in enumerate(("If you own a canoe, see the guide", "All others, enter 20")):
        _put(page, 140, 235 + 12 * ix, text)
    _put(page, _AMOUNT, 240, "6", "b")
    named = _named(blocks_of(page, identity=_FORM))
    assert named["line_5"].endswith("enter it on lines 6, 7, and 8, and go to line 7")
    assert named["line_6"] == "6 If you own a canoe, see the guide All others, enter 20"


def test_numbers_in_a_booklet_are_no_lines_of_a_form() -> None:
    assert not _named(blocks_of(_schedule(), identity=identity_of("publication")))


def test_a_frame_around_numbered_lines_is_no_table_and_a_part_is_named_by_its_bold_words() -> None:
    page = Booklet()
    page.to(36, 40).set(("Form 9999", "b"), size=14)
    page.to(36, 90).set(("Part I", "b")).to(80, 90).set(("Fees.", "b"), (" Enter whole coins only on these lines.", ""))
    for ix in range(4):
        y = 120 + 16 * ix
        page.page.draw_line((36, y - 3), (576, y - 3))
        _put(page, 42, y, str(ix + 1), "b")
        page.to(60, y).set((f"Fee of kind {ix + 1} for the boat yard", ""), size=8)
        _put(page, _AMOUNT, y, str(ix + 1), "b")
    page.page.draw_line((36, 182), (576, 182))
    page.to(36, 760).set(("Form 9999 (2031)", "b"), size=8)
    frames = extract(page.bytes(), document_id="sample").frames
    headings = frames["anchors"].select("key", "heading").rows()
    assert frames["tables"].is_empty()
    assert headings[0] == ("part_I", "Part I Fees.")
    assert [key for key, _ in headings[1:]] == ["line_1", "line_2", "line_3", "line_4"]


def test_a_note_set_as_far_left_as_the_numbers_belongs_to_their_part() -> None:
    page = _schedule()
    _put(page, 115, 210, "Note: ", "b")
    _put(page, 140, 210, "Write no cents on these lines.")
    blocks = blocks_of(page, identity=_FORM)
    anchors = build_anchors(blocks, identity=_FORM, document_id="sample")
    keys = dict(anchors.select("anchor_id", "key").iter_rows())
    rows = build_sections(blocks, anchors, document_id="sample").to_dicts()
    assert [keys[row["anchor_id"]] for row in rows if row["text"].startswith("Note:")] == ["part_II"]


def test_amounts_that_are_filled_in_are_no_lines_and_a_second_field_is_lettered_on() -> None:
    page = _schedule()
    for y, amount in ((100, "0"), (125, "12"), (139, "3"), (180, "0"), (194, "7")):
        _put(page, _AMOUNT + 40, y, amount, "b")
    for y, number in ((220, "5"), (234, "6")):
        _put(page, 120, y, f"{number}a", "b")
        _put(page, 140, y, "Money paid to sailors .")
        _put(page, 270, y, f"{number}a", "b")
        _put(page, 340, y, "b", "b")
        _put(page, 365, y, "Part of it in kind .")
        _put(page, _AMOUNT, y, f"{number}b", "b")
    for y in (220, 234):
        _put(page, 300, y, "0", "b")
        _put(page, _AMOUNT + 40, y, "0", "b")
    lines = _named(blocks_of(page, identity=_FORM))
    keys = ["part_I", "line_1", "line_2", "line_2a", "line_2b", "part_II", "line_3", "line_4"]
    assert set(lines) == {*keys, "line_5a", "line_5b", "line_6a", "line_6b"}
    assert lines["line_5b"].startswith("b Part of it in kind")


def test_plain_words_between_rules_in_the_margin_name_what_is_next_to_them() -> None:
    page = _schedule()
    for y in (218, 252):
        page.page.draw_line((36, y), (576, y))
    _put(page, 36, 222, "Free of")
    _put(page, 36, 233, "all fees")
    _put(page, 118, 222, "I declare that my boat is free of the fees of the harbour and that I shall tell the keeper")
    _put(page, 118, 233, "when it is not.")
    _put(page, 36, 258, "Owner", "b")
    _put(page, 120, 258, "Name of the owner")
    blocks = blocks_of(page, identity=_FORM)
    anchors = build_anchors(blocks, identity=_FORM, document_id="sample")
    owners = dict(anchors.select("anchor_id", "heading").iter_rows())
    rows = build_sections(blocks, anchors, document_id="sample").to_dicts()
    assert [owners[row["anchor_id"]] for row in rows[-2:]] == ["Free of all fees", "Owner"]
    assert anchors.filter(anchors["heading"] == "Free of all fees")["parent_anchor_id"].to_list() == [None]


def test_words_of_one_cell_next_to_numbered_lines_are_one_field() -> None:
    page = _schedule()
    _rule(page, xs=(36, 120, 300, 420, 576), ys=(240, 275))
    for x, words in ((125, ("Name of", "the owner")), (305, ("First day", "at sea")), (425, ("Number of", "the boat"))):
        _put(page, x, 244, words[0])
        _put(page, x, 255, words[1])
    texts = [block.text for block in blocks_of(page, identity=_FORM) if block.role == "FormField"]
    assert texts[-3:] == ["Name of the owner", "First day at sea", "Number of the boat"]


def test_a_number_apart_from_its_letter_and_letters_column_by_column_are_lines_of_their_own() -> None:
    page = _schedule()
    for y, number, text in ((220, "5 a", "Wages"), (234, "b", "Tips"), (248, "c", "Add lines 5a and 5b")):
        _put(page, 120 if number[0] == "5" else 128, y, number, "b")
        _put(page, 145, y, text)
        _put(page, _AMOUNT, y, f"5{number[-1]}", "b")
    for x, y, letter, text in ((140, 270, "d", "Ferry"), (260, 270.3, "f", "Barge"), (140, 284, "e", "Raft")):
        _put(page, x, y, letter, "b")
        _put(page, x + 15, y, f"{text} boats")
    lines = _named(blocks_of(page, identity=_FORM))
    assert {key for key in lines if str(key).startswith("line_5")} == {f"line_5{letter}" for letter in "abcdef"}
    assert (lines["line_5a"], lines["line_5f"]) == ("5 a Wages", "f Barge boats")


def test_bold_words_below_rules_in_the_margin_hold_the_lines_next_to_them() -> None:
    page = Booklet()
    for y, words in ((98, ("Fees", "and dues")), (150, ("Relief",))):
        page.page.draw_line((36, y), (576, y))
        for ix, text in enumerate(words):
            page.to(36, y + 3 + 13 * ix).set((text, "b"), size=11)
    _line(page, 102, "1", "Boats that you own", at="1", x=92)
    _line(page, 116, "2", "Boats that you rent out", at="2", x=92)
    _line(page, 130, "3", "Add lines 1 and 2", at="3", x=92)
    _line(page, 154, "4", "Free boats", at="4", x=92)
    anchors = build_anchors(blocks_of(page, identity=_FORM), identity=_FORM, document_id="sample")
    names = dict(anchors.select("anchor_id", "heading").iter_rows())
    parents = {row["key"]: names.get(row["parent_anchor_id"]) for row in anchors.to_dicts()}
    assert (parents["line_1"], parents["line_3"], parents["line_4"]) == ("Fees and dues", "Fees and dues", "Relief")


def test_a_masthead_ends_at_its_rule_though_it_is_drawn_in_strokes() -> None:
    page = _schedule()
    page.to(200, 20).set(("Fees of the Harbour", "b"), size=20)
    _put(page, 36, 30, "Department of the Treasury")
    page.page.draw_line((36, 60), (300, 60))
    page.page.draw_line((300, 60), (576, 60))
    _put(page, 450, 66, "Number of the boat", "b")
    page.page.draw_line((36, 80), (576, 80))
    roles = {block.text: block.role for block in blocks_of(page, identity=_FORM)}
    assert (roles["Fees of the Harbour"], roles["Number of the boat"]) == ("DocTitle", "FormField")


def test_words_that_share_a_cell_with_numbered_lines_keep_their_place() -> None:
    page = _schedule()
    _rule(page, xs=(110, 480, 576), ys=(240, 315))
    _line(page, 250, "a", "Boats that leak", at="4a")
    _line(page, 268, "b", "Boats that do not leak", at="4b")
    _put(page, 120, 286, "Add the boats of both sorts, and those of your partner, and enter how many")
    _put(page, 120, 297, "there are")
    _put(page, _AMOUNT, 297, "4", "b")
    texts = [block.text for block in blocks_of(page, identity=_FORM) if block.role == "FormField"]
    assert [text.split()[0] for text in texts[-3:]] == ["a", "b", "Add"]


def test_a_line_is_labeled_by_its_words_up_to_the_leader_without_number_or_note() -> None:
    page = _schedule()
    _put(page, 140, 205, "If line 3 is blank, skip the rest", "b")
    anchors = build_anchors(blocks_of(page, identity=_FORM), identity=_FORM, document_id="sample")
    headings = dict(anchors.select("key", "heading").iter_rows())
    assert headings["line_1"] == "Boats that you own"
    assert headings["line_2a"] == "Rowing boats"
    assert headings["line_4"] == "Add lines 2b and 3"


def test_a_note_in_bold_below_a_line_is_a_sentence_of_its_own() -> None:
    page = _schedule()
    _put(page, 140, 205, "If line 3 is blank, skip the rest", "b")
    blocks = blocks_of(page, identity=_FORM)
    texts = [block.text for block in blocks]
    at = texts.index("4 Add lines 2b and 3")
    assert texts[at + 1] == "If line 3 is blank, skip the rest"
    anchors = build_anchors(blocks, identity=_FORM, document_id="sample")
    owners = dict(build_sections(blocks, anchors, document_id="sample").select("text", "anchor_id").iter_rows())
    assert owners[texts[at + 1]] == owners[texts[at]]


def test_bold_words_between_lines_head_those_below_them() -> None:
    page = _schedule()
    _put(page, 140, 208, "Owners and Renters:", "b")
    _line(page, 222, "5", "Fee for the mooring", at="5")
    anchors = build_anchors(blocks_of(page, identity=_FORM), identity=_FORM, document_id="sample")
    names = dict(anchors.select("anchor_id", "heading").iter_rows())
    parents = {row["key"] or row["heading"]: names.get(row["parent_anchor_id"]) for row in anchors.to_dicts()}
    assert parents["line_5"] == "Owners and Renters:"
    assert parents["Owners and Renters:"] == "Part II Fees"
    assert parents["line_4"] == "Part II Fees"


def test_labels_between_rules_that_lie_close_together_keep_their_lines() -> None:
    page = Booklet()
    for y in (90, 98, 200):
        page.page.draw_line((36, y), (576, y))
    _put(page, 36, 108, "Boats", "b")
    _put(page, 36, 212, "Fees", "b")
    for y, number in ((108, "1"), (122, "2"), (212, "3"), (226, "4")):
        _line(page, y, number, "Price of a boat", at=number)
    assert [key for key in _named(blocks_of(page, identity=_FORM)) if key] == ["line_1", "line_2", "line_3", "line_4"]


def _return(*, year: bool = False) -> Booklet:
    page = Booklet()
    if year:
        page.to(305, 60).set(("20", "b"), size=20)
        page.to(330, 60).set(("12", "b"), size=20)
        page.to(380, 60).set(("Office use", ""), size=8)
    for y in (80, 150):
        page.page.draw_line((36, y), (576, y))
    page.to(36, 92).set(("Catch", "b"), size=10)
    for y, text in ((104, "Attach Form(s)"), (114, "9999 here. Also"), (124, "attach Form 9998.")):
        page.to(36, y).set((text, ""), size=8)
    for number, y in (("7", 92), ("8", 106), ("9", 120), ("10", 134)):
        _line(page, y, number, f"Fish number {number} of the year", at=number, x=140)
    page.to(36, 162).set(("Refund", "b"), size=10)
    for number, y in (("11", 162), ("12", 176)):
        _line(page, y, number, f"Fee number {number}", at=number, x=140)
    return page


def test_a_note_in_the_margin_is_one_text_below_its_head() -> None:
    blocks = blocks_of(_return(), identity=_FORM)
    texts = [block.text for block in blocks if block.role not in ("PageArtifact",)]
    assert texts[:3] == ["Catch", "Attach Form(s) 9999 here. Also attach Form 9998.", "7 Fish number 7 of the year"]


def test_the_year_of_a_form_numbers_no_line() -> None:
    named = _named(blocks_of(_return(year=True), identity=_FORM))
    assert [key for key in named if key] == [f"line_{number}" for number in range(7, 13)]
