"""Codes: the styles of their section numbers, where their paragraphs end, what is no text of theirs."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.structure.elements import find_blocks
from taxkg_assets.extraction.structure.identity import read_identity
from taxkg_assets.extraction.structure.outline import find_outline
from taxkg_assets_tests.extraction.typeset import LEFT, Booklet, blocks_of, identity_of


@pytest.mark.parametrize(
    "style",
    [
        "Sec. {}. Boats.",
        "Sec. 4-{}. - Boats.",
        "§ 3:21-{}.1 Boats.",
        "8.16.{} Boats.",
        "4-{}. Boats.",
        "Rule 7.{}. Boats.",
    ],
)
def test_statute_text_file_in_any_style_of_numbers(style: str) -> None:
    items = (
        "(a) A boat needs a berth:\n(1) by day; and\n(2) by night, as the keeper\norders under subsection\n(b) of it."
    )
    texts = [items, "No boat is exempt."]
    sections = "\n\n".join(f"{style.format(number)}\n{text}" for number, text in enumerate([*texts, *texts], start=11))
    source = read_source(f"FERRY TOLLS ACT OF 2031\n\n{sections}\n".encode(), document_id="sample", is_text=True)
    blocks = find_blocks(source, identity=identity_of("statute", form=""), regions={}, face_boxes={})
    first = ["(a) A boat needs a berth:", "(1) by day; and"]
    first.append("(2) by night, as the keeper orders under subsection (b) of it.")
    text = [*first, texts[1]]
    headings = [style.format(number) for number in range(11, 15)]
    assert [block.text for block in blocks if block.role == "SectionHeader"] == headings
    assert [block.text for block in blocks if block.role in ("ListBlock", "BodyText")] == [*text, *text]
    assert (blocks[0].role, blocks[0].text) == ("DocTitle", "FERRY TOLLS ACT OF 2031")


def test_running_heads_of_a_statute_are_no_text() -> None:
    booklet = Booklet()
    for page in range(1, 4):
        booklet.to(200, 40).lines("TOWN CODE").to(300, 750).lines(str(page)).to(LEFT, 90)
        booklet.lines(f"Sec. 4.{page}. Boats.").lines("(a) A boat needs a berth of its own.", gap=6)
        booklet.lines("(1) Or two.", indent=12).lines("(b) A raft needs none.")
        if page < 3:
            booklet.turn()
    blocks = blocks_of(booklet, identity=identity_of("statute", form=""))
    assert [block.text for block in blocks if block.role == "PageArtifact"] == [
        text for page in "123" for text in ("TOWN CODE", page)
    ]
    assert [block.text[:3] for block in blocks if block.role == "ListBlock"] == ["(a)", "(1)", "(b)"] * 3


def test_items_hang_under_their_mark_and_end_at_the_margin() -> None:
    booklet = Booklet()
    booklet.set(("CHAPTER 7.16", "b"), indent=142).set(("HARBOUR DUES", "b"), indent=137)
    for number in (1, 2):
        booklet.lines(f"7.16.0{number}0 Dues.", gap=8)
        booklet.lines("A. Each boat that lies in the harbour over night owes the keeper of it one", indent=18)
        booklet.lines("coin for a berth.", indent=32).lines("(Ord. 31 § 2, 2031)")
        booklet.lines("Every owner pays on the day after the night for which the coin is owed here, and")
        booklet.lines("no later than noon.")
    blocks = blocks_of(booklet, identity=identity_of("statute", form=""))
    assert [block.text[:20] for block in blocks if block.role == "SectionHeader"] == [
        "CHAPTER 7.16 HARBOUR",
        "7.16.010 Dues.",
        "7.16.020 Dues.",
    ]
    items = [block.text for block in blocks if block.role == "ListBlock"]
    assert len(items) == 2
    assert all(item.endswith("one coin for a berth.") for item in items)


def test_divisions_of_a_text_file_hold_each_other_as_they_come() -> None:
    sections = "\n\n".join(f"SEC. {number}. DUTIES.\n\nA boat needs a berth." for number in range(1, 6))
    text = f"               TITLE 5. HARBOURS\n\nCHAPTER 4 BOATS AND BERTHS\n\nArticle 1. General\n\n{sections}\n"
    source = read_source(text.encode(), document_id="sample", is_text=True)
    identity = read_identity(source)
    blocks = find_blocks(source, identity=identity, regions={}, face_boxes={})
    outline = find_outline(blocks, identity=identity)
    assert (identity.doc_type, blocks[0].role) == ("statute", "DocTitle")
    assert [(heading.text, heading.parent) for heading in outline[:4]] == [
        ("CHAPTER 4 BOATS AND BERTHS", -1),
        ("Article 1. General", 0),
        ("SEC. 1. DUTIES.", 1),
        ("SEC. 2. DUTIES.", 1),
    ]
