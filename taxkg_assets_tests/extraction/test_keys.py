"""Keys that headings name: items, lines with columns, lines by their number alone."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.keys import Key, expand_members, find_key, find_numbered_line, read_members
from taxkg_assets.extraction.structure.anchors import build_anchors
from taxkg_assets.extraction.structure.elements import find_blocks
from taxkg_assets_tests.extraction.tagged_pdf import TaggedPdf, fill
from taxkg_assets_tests.extraction.typeset import identity_of


@pytest.mark.parametrize(
    ("heading", "key"),
    [
        ("Items 1f and 1g.", "items_1f-1g"),
        ("Items 1f through 1g", "items_1f-1g"),
        ("Item G6.", "item_G6"),
        ("Line 24, column (c).", "line_24"),
        ("Lines 5a through 5e", "lines_5a-5e"),
    ],
)
def test_items_and_lines(heading: str, key: str) -> None:
    assert find_key(heading) == Key("line", key)


@pytest.mark.parametrize(
    ("heading", "key"),
    [("5a–5e. Honey that was sold", "lines_5a-5e"), ("7. Wax", "line_7"), ("6b. Fees of the market", "line_6b")],
)
def test_lines_by_their_number_alone(heading: str, key: str) -> None:
    assert find_numbered_line(heading) == Key("line", key)
    assert find_key(heading) is None


@pytest.mark.parametrize("heading", ["2031. Rates", "5.5 pounds", "a. Name", "7. of the hive", "In 2031"])
def test_other_numbers_are_no_lines(heading: str) -> None:
    assert find_numbered_line(heading) is None


@pytest.mark.parametrize(
    ("doc_type", "keys"),
    [
        ("filer_instructions", [None, "line_24", "lines_5a-5e"]),
        ("publication", [None, "line_24", None]),
        ("recipient_instructions", [None, "line_24", None]),
    ],
)
def test_only_instructions_to_filers_head_texts_with_a_number_alone(doc_type: str, keys: list[str | None]) -> None:
    pdf = TaggedPdf().put("H2", "Sale of Honey", face="b", size=14).put("P", *fill(3))
    for head in ("Line 24, column (c).", "5a–5e. Wax that was sold."):
        with pdf.tag("P"):
            pdf.run(f"{head} ", "b").run("Enter what was").to(42, pdf.y + 12).set("sold in the month.")
    identity = identity_of(doc_type)
    blocks = find_blocks(pdf.source(), identity=identity, regions={}, face_boxes={})
    assert build_anchors(blocks, identity=identity, document_id="tagged")["key"].to_list() == keys


def test_members_of_lists() -> None:
    assert read_members("5a–5e") == ["5a-5e"]
    assert read_members("1f and 1g") == ["1f-1g"]
    assert read_members("3 and 7") == ["3", "7"]
    assert expand_members("5a–5c") == ["5a", "5b", "5c"]
