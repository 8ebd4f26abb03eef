"""Headings of instructions explain the lines of their form, not those of a worksheet or of another schedule."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.graph.explanations import _read_names, find_explanations

FORM = {"form": "2040", "is_draft": False, "title": "", "tax_year": 2031, "revision": "2031"}


def _document(name: str, doc_type: str, **own: Any) -> dict[str, Any]:
    return {**FORM, "document_id": name, "doc_type": doc_type, **own}


def _line(document: str, key: str, *, form: str = "2040", part: str = "", name: str = "") -> dict[str, Any]:
    own = {"document_id": document, "form": form, "part": part, "key": key, "kind": key.partition("_")[0]}
    return own | {"anchor_id": f"{document}#{part}{key}", "canonical_id": name or f"{form}/{part}{key}"}


def _heading(number: int, text: str, *, above: int | None = None, kind: str = "line", **own: Any) -> dict[str, Any]:
    book = own.pop("book", "i2040--2031")
    return {
        **{"anchor_id": f"{book}#{number}", "document_id": book, "element_id": f"{book}:e{number:03d}"},
        **{"heading": text, "kind": kind, "key": None, "form": "2040"},
        **{"parent_anchor_id": None if above is None else f"{book}#{above}", **own},
    }


DOCUMENTS = [
    _document("f2040--2031", "form"),
    _document("f2040s7--2031", "form", form="Schedule 7 (Form 2040)"),
    _document("f2040--2029", "form", revision="2029", tax_year=2029),
    _document("i2040--2031", "filer_instructions"),
]


def _explained(lines: list[dict[str, Any]], anchors: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    links = find_explanations(lines, anchors, documents=DOCUMENTS)
    return {(link.source_id.partition("#")[2], link.target_id.partition("#")[2], link.relation) for link in links}


@pytest.mark.parametrize(
    ("heading", "spans", "columns"),
    [
        ("Line 41a—Berths", [("41a", "41a")], ()),
        ("Lines 51 Through 53", [("51", "53")], ()),
        ("Lines 61b, 62, and 64 through 66, Column (h)—Dues", [("61b", "61b"), ("62", "62"), ("64", "66")], ()),
        ("Lines 75a and b", [("75a", "75a"), ("75b", "75b")], ()),
        ("Columns (a) and (b)", [], ("a", "b")),
        ("Line instructions for Form 2040", [], ()),
        ("Boxes 1 and 2", [], ()),
    ],
)
def test_a_heading_names_lines_or_columns(heading: str, spans: list[tuple[str, str]], columns: tuple[str, ...]) -> None:
    assert _read_names(heading) == (tuple(spans), columns)


def test_a_range_explains_each_of_its_lines_and_a_number_its_letters() -> None:
    lines = [_line("f2040--2031", f"line_{key}") for key in ("1", "2", "3a", "3b", "4", "5a", "5b")]
    anchors = [_heading(1, "Lines 2 through 3"), _heading(2, "Line 5"), _heading(3, "Line 1")]
    assert _explained(lines, anchors) == {
        ("line_1", "3", "same_field"),
        ("line_2", "1", "same_field"),
        ("line_3a", "1", "same_field"),
        ("line_3b", "1", "same_field"),
        ("line_5a", "2", "same_field"),
        ("line_5b", "2", "same_field"),
    }


def test_a_booklet_may_number_its_headings_as_the_form_does() -> None:
    lines = [_line("f2040--2031", f"line_{key}") for key in ("4", "5a", "5b", "6")]
    anchors = [
        _heading(1, "5a–5b. Dues and tolls", key="lines_5a-5b"),
        _heading(2, "5b. Tolls", above=1, key="line_5b"),
        _heading(3, "6. Fees", key="line_6"),
        _heading(4, "4. Notes", kind="section", key=None),
    ]
    explained = {("line_5a", "1", "same_field"), ("line_5b", "1", "same_field"), ("line_5b", "2", "same_field")}
    assert _explained(lines, anchors) == explained | {("line_6", "3", "same_field")}
    anchors.append(_heading(5, "Line 4. Berths", key="line_4"))
    assert _explained(lines, anchors) == {("line_4", "5", "same_field")}


def test_lines_of_a_worksheet_and_of_another_line_are_not_those_of_the_form() -> None:
    lines = [_line("f2040--2031", f"line_{key}") for key in ("1", "2", "2a")]
    anchors = [
        _heading(1, "Instructions for the Berth Worksheet", kind="subsection"),
        _heading(2, "Line 1.", above=1),
        _heading(3, "Line 2"),
        _heading(4, "Line 2a.", above=3),
        _heading(5, "Line 1.", above=3),
    ]
    assert _explained(lines, anchors) == {("line_2", "3", "same_field"), ("line_2a", "4", "same_field")}


def test_a_booklet_explains_a_schedule_where_it_says_so() -> None:
    schedule = "Schedule 7 (Form 2040)"
    lines = [_line("f2040--2031", "line_1"), _line("f2040s7--2031", "line_1", form=schedule)]
    anchors = [
        _heading(1, "Line 1"),
        _heading(2, "2031 Instructions for Schedule 7 Harbor Dues", kind="section"),
        _heading(3, "Line 1"),
    ]
    links = {(link.source_id, link.target_id) for link in find_explanations(lines, anchors, documents=DOCUMENTS)}
    assert links == {("f2040--2031#line_1", "i2040--2031#1"), ("f2040s7--2031#line_1", "i2040--2031#3")}


def test_a_part_restricts_its_lines() -> None:
    lines = [_line("f2040--2031", "line_1", part=part) for part in ("I", "II")]
    anchors = [_heading(1, "Part II", kind="part", key="part_II"), _heading(2, "Line 1", above=1)]
    assert _explained(lines, anchors) == {("IIline_1", "2", "same_field")}


def test_a_booklet_of_another_revision_explains_the_line_that_it_was() -> None:
    lines = [
        _line("f2040--2029", "line_7", name="2040/dues"),
        _line("f2040--2029", "line_8", name="2040/old"),
        _line("f2040--2031", "line_8", name="2040/dues"),
    ]
    found = _explained(lines, [_heading(1, "Line 8")])
    assert found == {("line_7", "1", "same_field_other_revision"), ("line_8", "1", "same_field")}
