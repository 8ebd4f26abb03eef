"""Headings, run-ins, keys and the tree that they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets.extraction.extract import extract
from taxkg_assets.extraction.invariants import find_duplicate_anchors, find_orphan_anchors
from taxkg_assets.extraction.keys import Key, expand_members, find_key, find_statute_key
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.structure.anchors import build_anchors
from taxkg_assets.extraction.structure.elements import find_blocks
from taxkg_assets.extraction.structure.identity import Identity
from taxkg_assets_tests.extraction.typeset import LEFT, RIGHT, Booklet, blocks_of, filler, identity_of


def _outline(booklet: Booklet, *, identity: Identity | None = None) -> list[tuple[str, str | None, str, str | None]]:
    """Give kind, key, heading and the parent's heading of each anchor."""
    identity = identity or identity_of()
    anchors = build_anchors(blocks_of(booklet, identity=identity), identity=identity, document_id="sample")
    assert find_orphan_anchors(anchors).is_empty()
    assert find_duplicate_anchors(anchors).is_empty()
    headings = dict(anchors.select("anchor_id", "heading").iter_rows())
    rows = anchors.select("kind", "key", "heading", "parent_anchor_id").iter_rows()
    return [(kind, key, heading, headings.get(parent)) for kind, key, heading, parent in rows]


@pytest.mark.parametrize(
    ("heading", "kind", "key"),
    [
        ("Box 2a. Gain", "box", "box_2a"),
        ("Boxes 2e and 2f. Two shares", "box_group", "boxes_2e-2f"),
        ("Boxes 14–16. State", "box_group", "boxes_14-16"),
        ("Boxes 8, 10, and 11.", "box_group", "boxes_8_10_11"),
        ("Lines 3 Through 5", "line", "lines_3-5"),
        ("Boxes 1 through 8, 10, and 11.", "box_group", "boxes_1-8_10_11"),
        ("Box b—Kind of payee.", "box", "box_b"),
        ("Codes D through H, S, and AA.", "runin", "codes_D-H_S_AA"),
        ("Line 7a—Question 2.", "line", "line_7a"),
        ("Part III. Trusts", "part", "part_III"),
    ],
)
def test_key_of_a_heading(heading: str, kind: str, key: str) -> None:
    found = find_key(heading)
    assert found is not None
    assert (found.kind, found.key) == (kind, key)


def test_words_that_only_mention_a_box_have_no_key() -> None:
    assert find_key("Box 14 on the new form has been revised.") is None
    assert find_statute_key("§ 12-3 of this code") is None


def test_size_and_weight_make_the_tree() -> None:
    booklet = (
        Booklet().head("Instructions", size=26).lines(*filler(6)).head("Specific Rules", size=17).lines(*filler(2))
    )
    booklet.head("Part I. Amounts", size=11).lines(*filler(2))
    booklet.set(("Line 1. ", "b"), ("Enter all amounts that you were paid.", ""), gap=6).lines(*filler(1))
    booklet.set(("Nominees. ", "bi"), ("Words about them.", ""), indent=12).lines(*filler(1))
    booklet.set(("Example. ", "bi"), ("A case.", ""), indent=12).lines(*filler(1))
    booklet.set(("Line 2. ", "b"), ("Enter the rest.", ""), gap=6)
    assert _outline(booklet) == [
        ("section", None, "Specific Rules", None),
        ("part", "part_I", "Part I. Amounts", "Specific Rules"),
        ("line", "line_1", "Line 1.", "Part I. Amounts"),
        ("runin", None, "Nominees.", "Line 1."),
        ("runin", None, "Example.", "Nominees."),
        ("line", "line_2", "Line 2.", "Part I. Amounts"),
    ]


def test_the_specific_half_of_a_booklet_is_not_under_the_general_one() -> None:
    booklet = Booklet().head("Instructions", size=26).lines(*filler(6)).head("General Instructions", size=17)
    booklet.lines(*filler(2)).head("Purpose", size=13).lines(*filler(2))
    booklet.head("Specific Instructions", size=13).lines(*filler(2))
    booklet.head("Part I. Amounts", size=11).lines(*filler(2))
    assert [(heading, parent) for _, _, heading, parent in _outline(booklet)] == [
        ("General Instructions", None),
        ("Purpose", "General Instructions"),
        ("Specific Instructions", None),
        ("Part I. Amounts", "Specific Instructions"),
    ]


def test_the_back_of_a_copy_is_under_no_notice_of_another_page() -> None:
    booklet = Booklet().head("Form 9999-X", size=26).lines(*filler(4)).head("Attention:", size=18).lines(*filler(6))
    booklet.turn().head("Instructions for Recipient", size=11)
    booklet.set(("Box 1. ", "b"), ("Shows all amounts that you were paid.", ""), gap=6).lines(*filler(6))
    outline = _outline(booklet, identity=identity_of("form"))
    assert outline == [
        ("section", None, "Attention:", None),
        ("section", None, "Instructions for Recipient", None),
        ("box", "box_1", "Box 1.", "Instructions for Recipient"),
    ]


@pytest.mark.corpus
def test_centered_captions_divide_the_page_that_a_larger_one_heads(corpus: Path) -> None:
    name = "bcy-26-income-eligibility-and-maximum-psoc-twc"
    frames = extract(
        (corpus / "corpus" / f"{name}.pdf").read_bytes(), document_id=name, is_text=False, max_pages=10
    ).frames
    anchors = frames["anchors"].sort("anchor_id")
    # The publisher tagged the two lines of the title apart, and no heading as one: type decides.
    second = anchors["anchor_id"][1]
    assert anchors["parent_anchor_id"].to_list() == [None, None, second, second]


def test_heading_of_two_lines_and_stressed_words() -> None:
    booklet = Booklet().lines(*filler(6)).head("Box 1. Date of the", size=11).set(("First Payment", "b"), size=11)
    booklet.set(("Do not", "b"), (" enter it twice, ", ""), ("ever", "b"), (" at all.", ""))
    assert _outline(booklet) == [("box", "box_1", "Box 1. Date of the First Payment", None)]


def test_run_in_heading_continues_in_the_next_column() -> None:
    booklet = Booklet().head("Codes for Pay").lines(*filler(40))
    booklet.set(("Code Q—Pay of people who serve in", "bi"), indent=12)
    booklet.to(RIGHT).set(("a zone of war. ", "bi"), ("Enter it here.", "")).lines(*filler(20))
    assert _outline(booklet)[1:] == [
        ("runin", "code_Q", "Code Q—Pay of people who serve in a zone of war.", "Codes for Pay")
    ]


def test_remark_in_bold_is_not_part_of_the_heading() -> None:
    booklet = Booklet().lines(*filler(3))
    booklet.set(("Code Z—Late pay. (Only for some.) ", "bi"), ("Enter it.", ""), indent=12)
    assert _outline(booklet)[0][2] == "Code Z—Late pay."


def test_chapters_name_their_forms_and_repeats_are_numbered() -> None:
    identity = identity_of(form="9999-X and 9999-Y")
    booklet = Booklet().lines(*filler(6)).head("Specific Instructions for Form 9999-X")
    booklet.set(("Box 1. ", "b"), ("One.", ""), gap=6).set(("Box 1. ", "b"), ("Two.", ""), gap=6)
    booklet.head("Specific Instructions for Form 9999-Y").set(("Box 1. ", "b"), ("Three.", ""), gap=6)
    anchors = build_anchors(blocks_of(booklet, identity=identity), identity=identity, document_id="sample")
    boxes = anchors.filter(anchors["kind"] == "box")
    assert boxes.select("form", "repeat_ix").rows() == [("9999-X", 0), ("9999-X", 1), ("9999-Y", 0)]


def test_statute_text_file() -> None:
    text = (
        "Chapter 2: Fees of the clerk\n§ 12-1 Duty.\nThe clerk keeps a book.\n   a.   It lists fees.\n"
        "§ 12-1.1-a Fees of a kind whose heading runs on\nover two lines.\n"
        "A fee is due under 42 U.S.C.\n§ 12 of that law.\n"
    )
    source = read_source(text.encode(), document_id="sample", is_text=True)
    identity = identity_of("statute", form="")
    blocks = find_blocks(source, identity=identity, regions={}, face_boxes={})
    anchors = build_anchors(blocks, identity=identity, document_id="sample")
    assert anchors.select("kind", "key", "heading").rows() == [
        ("section", None, "Chapter 2: Fees of the clerk"),
        ("statute_section", "sec_12-1", "§ 12-1 Duty."),
        ("statute_section", "sec_12-1.1-a", "§ 12-1.1-a Fees of a kind whose heading runs on over two lines."),
    ]
    assert anchors["parent_anchor_id"].to_list() == [None, anchors["anchor_id"][0], anchors["anchor_id"][0]]


def test_statute_pdf_in_two_columns() -> None:
    booklet = Booklet()
    for x, numbers in ((LEFT, range(1, 4)), (RIGHT, range(4, 7))):
        booklet.to(x)
        for number in numbers:
            booklet.lines(f"§ 7-{number} Duty of officer number {number}.", *filler(3), gap=6)
            booklet.lines("a. A subdivision that is set", "over two lines.", indent=12)
    identity = identity_of("statute", form="")
    anchors = build_anchors(blocks_of(booklet, identity=identity), identity=identity, document_id="sample")
    assert anchors["key"].to_list() == [f"sec_7-{number}" for number in range(1, 7)]


@pytest.mark.parametrize(
    ("listed", "expanded"),
    [
        ("7a–7d", ["7a", "7b", "7c", "7d"]),
        ("3, 4a/4b, and 6", ["3", "4a", "4b", "6"]),
        ("8 through 10", ["8", "9", "10"]),
        ("1e-2b", ["1e", "2b"]),
    ],
)
def test_lists_of_keys_are_written_out(listed: str, expanded: list[str]) -> None:
    assert expand_members(listed) == expanded


def test_headings_join_keys_as_faces_do() -> None:
    assert find_key("Boxes 3, 4a/4b, and 6.") == Key("box_group", "boxes_3_4a_4b_6")
    assert find_key("Boxes 7a – 7d.") == Key("box_group", "boxes_7a-7d")


def test_what_follows_the_contents_is_no_part_of_them() -> None:
    booklet = Booklet().set(("Boats at Sea", "b"), size=26).lines(*filler(8)).head("Contents", size=18)
    booklet.set(("Reminders . . . . . . . . . . 3", ""))
    outline = _outline(booklet.head("Reminders", size=16).lines(*filler(3)).head("Dues").lines(*filler(3)))
    assert [(heading, parent) for _, _, heading, parent in outline] == [
        ("Contents", None),
        ("Reminders", None),
        ("Dues", "Reminders"),
    ]


def test_a_run_in_heading_may_end_with_a_plain_dash() -> None:
    booklet = Booklet().lines(*filler(8)).set(("Small boats", "b"), ("—They are free of the fee", ""), gap=8)
    assert [heading for _, _, heading, _ in _outline(booklet.lines("of the harbour."))] == ["Small boats"]
