"""Every content element has one owner, whole across breaks, and its text leads back to the page."""

from __future__ import annotations

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets.extraction.invariants import (
    find_broken_pieces,
    find_duplicate_anchors,
    find_misowned_elements,
    find_orphan_anchors,
    find_strayed_sections,
)
from taxkg_assets.extraction.layout.regions import FaceBox, TableRegion
from taxkg_assets.extraction.structure.anchors import build_anchors
from taxkg_assets.extraction.structure.elements import build_elements, find_blocks
from taxkg_assets.extraction.structure.sections import _CONNECTED, build_sections
from taxkg_assets.schemas import Anchors, Elements, Sections, Tables
from taxkg_assets_tests.extraction.typeset import LEFT, RIGHT, Booklet, filler, identity_of

Read = tuple[dy.DataFrame[Elements], dy.DataFrame[Anchors], dy.DataFrame[Sections]]


def _read(
    booklet: Booklet,
    *,
    regions: dict[int, list[TableRegion]] | None = None,
    boxes: dict[int, list[FaceBox]] | None = None,
    tables: dy.DataFrame[Tables] | None = None,
) -> Read:
    identity = identity_of()
    blocks = find_blocks(booklet.source(), identity=identity, regions=regions or {}, face_boxes=boxes or {})
    elements = build_elements(blocks, document_id="sample")
    anchors = build_anchors(blocks, identity=identity, document_id="sample")
    sections = build_sections(blocks, anchors, tables, document_id="sample")
    assert find_misowned_elements(elements, sections).is_empty()
    assert find_strayed_sections(sections, anchors).is_empty()
    assert find_broken_pieces(sections).is_empty()
    return elements, anchors, sections


def _owner(text: str, read: Read) -> str | None:
    """Give the heading that owns the row with a text."""
    _, anchors, sections = read
    row = sections.filter(pl.col("text").str.contains(text, literal=True)).row(0, named=True)
    return dict(anchors.select("anchor_id", "heading").iter_rows()).get(row["anchor_id"])


def test_owner_is_the_innermost_heading_and_its_words_stay_out() -> None:
    booklet = Booklet().lines("Words before any heading.", *filler(4)).head("Who Must File").lines("You must file.")
    booklet.set(("Trusts. ", "b"), ("They file too.", ""), gap=6)
    read = _read(booklet)
    assert _owner("Words before", read) is None
    assert _owner("You must file.", read) == "Who Must File"
    assert _owner("They file too.", read) == "Trusts."
    assert read[2]["text"].to_list()[-1] == "They file too."


def test_paragraph_continues_in_the_next_column_and_page() -> None:
    booklet = Booklet().head("Rules").lines(*filler(38)).lines("A paragraph that begins here and", indent=12)
    booklet.to(RIGHT).lines("goes on in the second column.").lines(*filler(38), indent=12)
    booklet.lines("Another one that is cut by the end of the page in its", indent=12)
    booklet.turn().lines("middle.").lines(*filler(3), indent=12)
    _, _, sections = _read(booklet)
    texts = sections["text"].to_list()
    assert "A paragraph that begins here and goes on in the second column." in texts
    whole = sections.filter(pl.col("text").str.ends_with("in its middle.")).row(0, named=True)
    assert [piece["page"] for piece in whole["pieces"]] == [1, 2]
    assert [whole["text"][piece["start"] : piece["end"]].strip() for piece in whole["pieces"]][-1] == "middle."
    assert len(whole["element_ids"]) == 2


def test_continued_page_belongs_to_what_came_before() -> None:
    booklet = Booklet().head("Instructions for Payee").lines(*filler(4))
    booklet.set(("Box 1. ", "b"), ("Shows pay.", ""), gap=6).turn()
    booklet.head("Instructions for Payee (continued)").lines("More about the pay.", *filler(4))
    booklet.set(("Box 2. ", "b"), ("Shows tips.", ""), gap=6)
    read = _read(booklet)
    assert _owner("More about the pay.", read) == "Box 1."
    assert _owner("Shows tips.", read) == "Box 2."


def test_face_of_a_form_begins_again() -> None:
    boxes = {2: [FaceBox(2, key, "", True, 0, 0, 9, 9, (), 1.0) for key in ("box_1", "box_2")]}
    booklet = Booklet().head("Instructions for Payee").lines(*filler(6)).turn().lines("1 Wages", "2 Tips")
    read = _read(booklet, boxes=boxes)
    assert _owner("1 Wages", read) is None


def test_table_is_one_row_with_its_title() -> None:
    booklet = Booklet().head("Costs").lines(*filler(5)).to(LEFT, 200).set(("Age", "b")).set(("Under 30", ""))
    regions = {1: [TableRegion(1, 40, 195, 200, 230, "ruled")]}
    table = Tables.sample(overrides={"table_id": ["sample:p0001:t0"], "title": ["Cost by age"]})
    read = _read(booklet, regions=regions, tables=table)
    row = read[2].filter(pl.col("table_id").is_not_null()).row(0, named=True)
    assert (row["text"], row["role"], len(row["element_ids"])) == ("Cost by age", "TableBlock", 1)
    assert _owner("Cost by age", read) == "Costs"
    # A region that no table was made of is kept as text.
    assert "Age Under 30" in _read(booklet, regions=regions)[2]["text"].to_list()


@pytest.mark.parametrize(("title", "is_caption"), [("Table 1. Cost by age", True), ("Cost of living", False)])
def test_a_caption_ends_above_its_table(title: str, is_caption: bool) -> None:
    booklet = Booklet().head("Costs").lines(*filler(5)).to(LEFT, 180).lines("Table 1. Cost by age")
    booklet.to(LEFT, 200).set(("Age", "b")).set(("Under 30", "")).turn().lines("Table 2. Cost by state", *filler(4))
    regions = {1: [TableRegion(1, 40, 195, 200, 230, "ruled")]}
    table = Tables.sample(overrides={"table_id": ["sample:p0001:t0"], "title": [title]})
    texts = _read(booklet, regions=regions, tables=table)[2]["text"].to_list()
    assert ("Table 1. Cost by age" in texts) == is_caption


def test_laws_name_the_offending_rows() -> None:
    booklet = Booklet().lines(*filler(4)).head("Rules").lines(*filler(3)).head("More Rules").lines(*filler(2))
    elements, anchors, sections = _read(booklet)
    lost = sections.head(1)
    assert find_misowned_elements(elements, lost)["owners"].to_list() == [0, 0]
    assert find_misowned_elements(elements, pl.concat([sections, lost]))["owners"].to_list() == [2]
    first, second = anchors["anchor_id"]
    cycle = anchors.with_columns(parent_anchor_id=pl.Series([second, first]))
    assert find_orphan_anchors(cycle)["anchor_id"].to_list() == [first, second]
    dangling = anchors.with_columns(parent_anchor_id=pl.lit("nobody"))
    assert find_orphan_anchors(dangling).height == 2
    assert find_duplicate_anchors(pl.concat([anchors, anchors])).height == 4
    assert find_strayed_sections(sections, anchors.head(1))["anchor_id"].to_list() == [second]
    longer = sections.with_columns(text=pl.col("text") + "!")
    assert find_broken_pieces(longer).height == sections.height


def test_built_twice_is_equal() -> None:
    booklet = Booklet().head("Rules").lines(*filler(5))
    first, second = _read(booklet), _read(booklet)
    assert all(one.equals(two) for one, two in zip(first, second, strict=True))


def test_a_paragraph_continues_in_a_last_column_of_two_lines() -> None:
    booklet = Booklet().head("Dues").lines(*filler(50)).lines("The dues of a boat that lies at the quay", indent=12)
    booklet.to(RIGHT, 60).lines("are owed by its keeper.", "See the back.")
    _, _, sections = _read(booklet)
    assert sections["text"][-1].endswith("at the quay are owed by its keeper. See the back.")


def test_text_below_the_rule_that_ends_a_list_of_terms_belongs_to_the_heading_above_them() -> None:
    booklet = Booklet().set(("Boats at Sea", "b"), size=26).to(LEFT, 120).head("How To Report", size=16)
    for y, text in ((150, "Terms"), (210, "")):
        booklet.page.draw_line((LEFT, y), (LEFT + 260, y))
        booklet.to(LEFT, y).set((text or " ", "b"), size=12)
    booklet.to(LEFT + 16, 172).set(("Berth", "")).set(("Ferry", "")).to(LEFT, 214).lines(*filler(20))
    booklet.set(("Small boats.", "b"), (" They are free.", ""), gap=8)
    _, anchors, sections = _read(booklet)
    names = dict(anchors.select("anchor_id", "heading").iter_rows())
    owners = {text[:5]: names[owner] for text, owner in sections.select("text", "anchor_id").iter_rows()}
    assert owners == {"Berth": "Terms", "Plain": "How To Report", "They ": "Small boats."}
    assert names[anchors.filter(anchors["heading"] == "Small boats.")["parent_anchor_id"][0]] == "How To Report"


@pytest.mark.parametrize(("ending", "is_joined"), [("for boats at the", True), ("for all boats.", False)])
def test_a_paragraph_continues_after_a_table_with_a_heading_of_its_own(ending: str, is_joined: bool) -> None:
    booklet = Booklet().head("Dues").lines(*filler(5)).lines(f"The town asks for dues {ending}", indent=12)
    booklet.head("Where To Pay").lines("Pay at the office.").to(LEFT, 300).set(("Office", "b")).set(("Quay 9", ""))
    booklet.turn().lines("quay, and for carts.", *filler(3)).lines("Carts are free on Sundays.", indent=12)
    regions = {1: [TableRegion(1, 40, 295, 200, 330, "ruled")]}
    table = Tables.sample(overrides={"table_id": ["sample:p0001:t0"], "title": ["Where To Pay"]})
    read = _read(booklet, regions=regions, tables=table)
    joined = [text for text in read[2]["text"] if "boats at the quay, and for carts." in text]
    assert bool(joined) == is_joined
    assert _owner("Carts are free", read) == ("Dues" if is_joined else "Where To Pay")
    assert _owner("Pay at the office.", read) == "Where To Pay"


def _read_around_a_table(booklet: Booklet, *, after: str = "quay, and for carts.") -> list[str]:
    """Set a table at the foot of a page and text at the head of the next one, and give the rows' texts."""
    booklet.to(LEFT, 300).set(("Office", "b")).set(("Quay 9", ""))
    booklet.turn().lines(after, *filler(3)).lines("Carts are free on Sundays.", indent=12)
    regions = {1: [TableRegion(1, 40, 295, 200, 330, "ruled")]}
    table = Tables.sample(overrides={"table_id": ["sample:p0001:t0"], "title": ["Where To Pay"]})
    return _read(booklet, regions=regions, tables=table)[2]["text"].to_list()


@pytest.mark.parametrize(
    ("between", "is_joined"),
    [("", True), ("The dues of a cart are half of them.", False)],
)
def test_a_paragraph_that_another_follows_has_ended(between: str, is_joined: bool) -> None:
    booklet = Booklet().head("Dues").lines(*filler(5)).lines("The town asks for dues for boats at the", indent=12)
    if between:
        booklet.lines(between, indent=12, gap=8)
    texts = _read_around_a_table(booklet)
    assert any("boats at the quay" in text for text in texts) == is_joined
    assert any(text.startswith("quay, and for carts.") for text in texts) != is_joined


@pytest.mark.parametrize(
    ("lines", "has_note", "is_joined"),
    [
        (("• The dues for boats at the",), False, True),
        (("• The dues for boats at the",), True, False),
        (("• The dues that the town asks for all carts", "and boats at the"), True, False),
        (("• The dues that the town asks for all carts", "and that its office asks for boats at the"), True, True),
    ],
)
def test_an_item_of_a_list_continues_past_other_text_if_it_fills_its_last_line(
    lines: tuple[str, ...], has_note: bool, is_joined: bool
) -> None:
    booklet = Booklet().head("Dues").lines(*filler(5)).lines(*lines)
    if has_note:
        booklet.head("Where To Pay").lines("Pay at the office.")
    assert any("boats at the quay" in text for text in _read_around_a_table(booklet)) == is_joined


def test_the_first_row_of_a_document_continues_after_a_table() -> None:
    booklet = (
        Booklet().lines("The town asks for dues for boats at the").head("Where To Pay").lines("Pay at the office.")
    )
    texts = _read_around_a_table(booklet)
    assert any("boats at the quay, and for carts." in text for text in texts)


@pytest.mark.parametrize(("ending", "parent"), [("for boats at the", "Dues"), ("for all boats.", "Where To Pay")])
def test_a_heading_after_a_paragraph_that_a_table_has_cut_is_under_the_heading_of_the_paragraph(
    ending: str, parent: str
) -> None:
    booklet = Booklet().head("Dues").lines(*filler(5)).lines(f"The town asks for dues {ending}", indent=12)
    booklet.head("Where To Pay").lines("Pay at the office.").to(LEFT, 300).set(("Office", "b")).set(("Quay 9", ""))
    booklet.turn().lines("quay, and for carts.", *filler(3))
    booklet.set(("Small boats.", "b"), (" They are free.", ""), gap=8).lines(*filler(3))
    regions = {1: [TableRegion(1, 40, 295, 200, 330, "ruled")]}
    table = Tables.sample(overrides={"table_id": ["sample:p0001:t0"], "title": ["Where To Pay"]})
    _, anchors, _ = _read(booklet, regions=regions, tables=table)
    names = dict(anchors.select("anchor_id", "heading").iter_rows())
    assert names[anchors.filter(anchors["heading"] == "Small boats.")["parent_anchor_id"][0]] == parent


@pytest.mark.parametrize(
    ("title", "owner"),
    [
        ("Table of Boat Dues — Continued, 3,000", "Table of Boat Dues"),
        ("Boat Dues - Continued", "Table of Boat Dues"),
        ("Cart Dues — Continued", "Example."),
        ("Dues — Continued", "Example."),
        ("able of Boat Dues — Continued", "Example."),
        ("Table of Boat Dues", "Example."),
    ],
)
def test_a_table_that_continues_goes_back_to_its_heading(title: str, owner: str) -> None:
    booklet = Booklet().head("Table of Boat Dues").lines(*filler(5))
    booklet.set(("Example.", "bi"), (" A boat of ten feet owes ten coins.", ""), gap=8).lines(*filler(3))
    booklet.turn().to(LEFT, 100).set(("Feet", "b")).set(("10", "")).to(LEFT, 300).lines("* Ask for larger boats.")
    regions = {2: [TableRegion(2, 40, 95, 200, 200, "ruled")]}
    table = Tables.sample(overrides={"table_id": ["sample:p0002:t0"], "title": [title]})
    read = _read(booklet, regions=regions, tables=table)
    assert (_owner(title, read), _owner("* Ask for larger boats.", read)) == (owner, owner)


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [("a cost-of-", True), ("the self-employ-", False), ("non-refund-", False)],
)
def test_a_hyphen_at_a_break_stays_after_a_connecting_word(text: str, *, is_kept: bool) -> None:
    assert (_CONNECTED.search(text) is not None) is is_kept
