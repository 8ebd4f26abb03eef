"""The table `links`, the publisher's numbers, and references that take a link's target: whole invented documents."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.extraction.extract import extract
from taxkg_assets.extraction.pdf.navigation import Place
from taxkg_assets.extraction.structure.targets import TargetFinder
from taxkg_assets_tests.extraction.navigation_pdfs import (
    EDITION,
    find_box,
    find_top,
    go_to,
    link_object,
    make_booklet,
    make_linked_booklet,
    open_address,
    write_links,
    write_names,
)
from taxkg_assets_tests.extraction.typeset import Booklet


def _frames(booklet: Booklet, *, document_id: str = "i9077--2031") -> dict[str, pl.DataFrame]:
    return extract(booklet.bytes(), document_id=document_id).frames


def _heading(frames: dict[str, pl.DataFrame], anchor_id: str | None) -> str:
    return str(frames["anchors"].filter(anchor_id=anchor_id)["heading"].item())


def test_a_link_leads_to_the_heading_at_its_point() -> None:
    frames = _frames(make_linked_booklet())
    links = frames["links"].to_dicts()
    assert [(row["text"], row["kind"]) for row in links] == [("Late Harvest", "section"), ("IRS.gov/Hives", "url")]
    inner, outer = links
    assert _heading(frames, inner["target_anchor_id"]) == "Late Harvest"
    assert (inner["target_page"], inner["target_publisher_id"], inner["url"]) == (2, "publink100078", None)
    assert (outer["url"], outer["target_anchor_id"]) == ("https://www.irs.gov/hives", None)
    assert len(inner["bboxes"]) == 2
    for row in links:
        text = frames["sections"].filter(element_id=row["element_id"])["text"].item()
        assert text[row["start"] : row["end"]] == row["text"]


def test_a_link_that_names_a_numbered_table_leads_to_it_from_the_top_of_its_page() -> None:
    booklet = make_booklet()
    document = booklet.document
    booklet.to(60, 330).lines("For the yield, see Table A-2.", gap=9)
    booklet.turn()
    for number, y in (("Table A-1.", 60), ("Table A-2.", 300)):
        page = document[2]
        page.insert_text((60, y), f"{number} Yield of hives", fontname="hebo", fontsize=10)
        for row, texts in enumerate((("Hive", "Early", "Late"), ("Birch", "10", "20"), ("Elm", "30", "40"))):
            for column, text in enumerate(texts):
                page.insert_text((66 + 120 * column, y + 24 + 20 * row), text, fontsize=9)
        for row in range(4):
            page.draw_line((60, y + 10 + 20 * row), (420, y + 10 + 20 * row))
        for column in range(4):
            page.draw_line((60 + 120 * column, y + 10), (60 + 120 * column, y + 70))
    name = f"{EDITION}_publink9"
    write_names(document, {name: (2, 40.0)})
    write_links(document, 1, [link_object(find_box(document, 1, "Table A-2"), go_to(name), title="Table A-1")])
    frames = _frames(booklet)
    (link,) = frames["links"].to_dicts()
    titles = dict(frames["tables"].select("table_id", "title").iter_rows())
    assert (link["kind"], titles[link["target_table_id"]]) == ("table", "Table A-2. Yield of hives")


def test_headings_carry_the_publishers_number_and_address() -> None:
    anchors = _frames(make_linked_booklet())["anchors"]
    numbered = anchors.filter(pl.col("publisher_id").is_not_null()).sort("anchor_id")
    assert numbered.select("heading", "publisher_id").rows() == [
        ("Early Harvest", "publink100077"),
        ("Late Harvest", "publink100078"),
    ]
    assert numbered["official_url"].to_list() == [
        f"https://www.irs.gov/instructions/i9077#{EDITION}_publink{number}" for number in (100077, 100078)
    ]


def test_a_paragraph_without_heading_carries_the_number_itself() -> None:
    booklet = make_booklet()
    document = booklet.document
    write_names(document, {f"{EDITION}_publink5": (1, find_top(document, 1, "Honey that is taken after"))})
    frames = _frames(booklet)
    assert frames["anchors"]["publisher_id"].null_count() == frames["anchors"].height
    numbered = frames["sections"].filter(pl.col("publisher_id").is_not_null())
    assert [text[:25] for text in numbered["text"]] == ["Honey that is taken after"]


def test_who_does_not_name_the_publisher_has_no_official_address() -> None:
    booklet = Booklet()
    booklet.set(("Instructions for Form 9077", "b"), size=18)
    booklet.head("Late Harvest").lines("Honey that is taken after the frost is of the second kind.")
    write_names(booklet.document, {f"{EDITION}_publink7": (0, find_top(booklet.document, 0, "Late"))})
    read = extract(booklet.bytes(), document_id="i9077--2031")
    assert (read.addresses.page_url, read.addresses.pdf_url) == (None, None)
    assert read.frames["anchors"].drop_nulls("publisher_id")["official_url"].to_list() == [None]


def test_a_reference_takes_its_links_target_whatever_its_words() -> None:
    booklet = make_booklet()
    document = booklet.document
    name = f"{EDITION}_publink100077"
    write_names(document, {name: (1, find_top(document, 1, "Early"))})
    # The words say late, the link says early.
    write_links(document, 0, [link_object(find_box(document, 0, words), go_to(name)) for words in ("Late", "Harvest")])
    frames = _frames(booklet)
    (row,) = frames["references"].filter(pl.col("resolved_by") == "link").to_dicts()
    assert (row["kind"], row["target"]) == ("section", "Late Harvest")
    assert _heading(frames, row["target_anchor_id"]) == "Early Harvest"
    assert row["target_publisher_id"] == "publink100077"


def test_linked_words_that_no_rule_names_become_a_reference() -> None:
    booklet = make_booklet()
    document = booklet.document
    write_names(document, {"early": (1, find_top(document, 1, "Early"))})
    write_links(document, 0, [link_object(find_box(document, 0, "yield of each hive"), go_to("early"))])
    frames = _frames(booklet)
    (row,) = frames["references"].filter(pl.col("resolved_by") == "link").to_dicts()
    assert (row["kind"], row["target"]) == ("section", "yield of each hive")
    text = frames["sections"].filter(element_id=row["element_id"])["text"].item()
    assert text[row["start"] : row["end"]] == row["evidence"]
    assert text[row["mention_start"] : row["mention_end"]] == "yield of each hive"


def test_a_link_to_the_web_is_named_by_its_words_and_leads_to_its_address() -> None:
    booklet = make_booklet()
    document = booklet.document
    address = "https://www.example.gov/hives?visit=7"
    write_links(document, 0, [link_object(find_box(document, 0, "yield of each hive"), open_address(address))])
    (row,) = _frames(booklet)["references"].filter(pl.col("resolved_by") == "link").to_dicts()
    assert (row["kind"], row["target"], row["target_url"]) == ("url", "yield of each hive", address)


def test_a_section_under_a_link_of_the_document_is_no_section_of_law() -> None:
    booklet = make_booklet()
    document = booklet.document
    booklet.to(60, 330).lines("The weight of wax follows section 15 of the rules here.", gap=9)
    write_names(document, {"early": (1, find_top(document, 1, "Early"))})
    plain = _frames(booklet)["references"].filter(pl.col("target").str.contains("15"))
    assert plain.select("kind", "target").rows() == [("irc_section", "IRC 15")]
    write_links(document, 1, [link_object(find_box(document, 1, "section 15"), go_to("early"))])
    linked = _frames(booklet)["references"].filter(pl.col("resolved_by") == "link")
    assert linked.select("kind", "target").rows() == [("section", "section 15")]


@pytest.mark.parametrize("words", ["frost", "What"])
def test_a_point_between_two_columns_names_nothing_for_sure(words: str) -> None:
    """At one height begin two headings; only words tell which of them is meant."""
    finder = TargetFinder(**_two_columns())
    place = Place(1, None, 104.0, 104.0)
    assert finder.find(place) is None
    assert finder.find(place, titles=("something else",)) is None
    found = finder.find(place, titles=("Frost",))
    assert found is not None
    assert found.anchor_id == "left"
    assert (found := finder.find(place, hints=words)) is None or found.anchor_id == "left"


def test_a_point_in_a_column_names_what_begins_in_it() -> None:
    found = TargetFinder(**_two_columns()).find(Place(1, 320.0, 104.0, 104.0))
    assert found is not None
    assert found.anchor_id == "right"


def test_a_point_where_nothing_begins_names_nothing() -> None:
    finder = TargetFinder(**_two_columns())
    assert finder.find(Place(1, None, 400.0, 400.0)) is None
    assert finder.find(Place(9, None, 104.0, 104.0), titles=("Frost",)) is None


def test_of_two_headings_near_a_point_the_words_tell_which_is_meant() -> None:
    finder = TargetFinder(**_two_columns())
    place = Place(1, 60.0, 122.0, 122.0)
    found = finder.find_namesake(place, "Frost", is_taken=True)
    assert found is not None
    assert found.anchor_id == "left"
    assert finder.find_namesake(place, "Frosty", is_taken=True) is None
    assert finder.find_namesake(Place(1, 60.0, 134.0, 134.0), "Frost", is_taken=True) is None
    assert finder.find_namesake(Place(1, 60.0, 134.0, 134.0), "Frost", is_taken=False) is not None


def test_a_chapter_named_by_its_number_has_the_point_inside_its_heading() -> None:
    columns = _two_columns()
    columns["anchors"] = columns["anchors"].with_columns(heading=pl.lit("4. ") + pl.col("heading"))
    finder = TargetFinder(**columns)
    found = finder.find_chapter(Place(1, 60.0, 106.0, 106.0), "chapter 4")
    assert found is not None
    assert found.anchor_id == "left"
    assert finder.find_chapter(Place(1, 60.0, 106.0, 106.0), "chapter 5") is None
    assert finder.find_chapter(Place(1, 60.0, 300.0, 300.0), "chapter 4") is None
    assert finder.find_chapter(Place(1, 60.0, 106.0, 106.0), "4") is None


def _two_columns() -> dict[str, Any]:
    corners = ("x0_pt", "y0_pt", "x1_pt", "y1_pt")
    places = {"left": (42.0, 100.0, 290.0, 112.0), "right": (315.0, 100.0, 560.0, 112.0)}
    anchors = pl.DataFrame(
        [
            {
                "anchor_id": side,
                "element_id": f"e-{side}",
                "page": 1,
                "heading": {"left": "Frost", "right": "Jars"}[side],
                "bbox": dict(zip(corners, box, strict=True)),
            }
            for side, box in places.items()
        ],
        schema_overrides={"page": pl.Int32},
    )
    piece = {"start": 0, "end": 5, "page": 1, **dict(zip(corners, (42.0, 120.0, 290.0, 130.0), strict=True))}
    text = {"element_id": "e-text", "anchor_id": "left", "table_id": None, "text": "Words", "pieces": [piece]}
    ints = dict.fromkeys(("start", "end", "page"), pl.Int32)
    pieces = pl.List(pl.Struct({**ints, **dict.fromkeys(corners, pl.Float64)}))
    sections = pl.DataFrame([text], schema_overrides={"table_id": pl.String, "pieces": pieces})
    elements = pl.DataFrame(
        {"element_id": ["e-left", "e-right", "e-text"], "size_pt": [10.0, 10.0, 9.0], "page": [1, 1, 1]}
    )
    return {"anchors": anchors, "sections": sections, "elements": elements}
