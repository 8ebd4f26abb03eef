"""Lines named under a heading of a booklet belong to the form, to a schedule, or to a worksheet."""

from __future__ import annotations

import re

import polars as pl

from taxkg_assets.graph.schedule_scopes import WORKSHEET, find_line_keys, find_parents, find_scopes


def _scopes(*headings: tuple[str, str, str | None]) -> dict[str, str]:
    return find_scopes(_anchors(*headings))


def _anchors(*headings: tuple[str, str, str | None]) -> pl.DataFrame:
    line = re.compile(r"Line (\d+[a-z]?)\.? ?[A-Z]?")
    rows = [
        {
            "anchor_id": name,
            "document_id": "i2040",
            "kind": "line" if line.match(heading) else "section",
            "key": f"line_{found[1]}" if (found := line.fullmatch(heading)) else None,
            "heading": heading,
            "parent_anchor_id": parent,
        }
        for name, heading, parent in headings
    ]
    return pl.DataFrame(rows, schema_overrides={"key": pl.String})


def test_headings_below_a_schedule_are_about_it() -> None:
    scopes = _scopes(
        ("a", "Specific Instructions", None),
        ("b", "Schedule K. Other Dues", "a"),
        ("c", "Line 3", "b"),
        ("d", "x", "a"),
    )
    assert scopes == {"b": "Schedule K", "c": "Schedule K"}


def test_instructions_for_a_schedule_last_until_those_for_the_next() -> None:
    scopes = _scopes(
        ("a", "General", None),
        ("b", "2030 Instructions for Schedule 7 Other Dues", None),
        ("c", "Additional Dues", None),
        ("d", "2030 Instructions for Schedule 8 (Form 2040) Credits", None),
        ("e", "Line 3", "d"),
    )
    assert scopes == {
        "b": "Schedule 7",
        "c": "Schedule 7",
        "d": "Schedule 8 (Form 2040)",
        "e": "Schedule 8 (Form 2040)",
    }


def test_a_worksheet_within_a_schedule_owns_its_lines() -> None:
    scopes = _scopes(("a", "Schedule B", None), ("b", "Harbor Dues Worksheet", "a"), ("c", "Line 3", "b"))
    assert scopes == {"a": "Schedule B", "b": WORKSHEET, "c": WORKSHEET}


def test_a_line_below_another_top_heading_continues_the_schedule_of_the_line_before() -> None:
    scopes = _scopes(
        ("a", "Specific Instructions", None),
        ("b", "Schedule K. Other Dues", "a"),
        ("c", "Line 15f", "b"),
        ("d", "Other Information", None),
        ("e", "Line 16", "d"),
        ("f", "Line 17", "d"),
        ("g", "Line 1", "d"),
    )
    assert (scopes["e"], scopes["f"], scopes.get("g"), scopes["d"]) == ("Schedule K", "Schedule K", None, "Schedule K")


def test_a_line_of_the_same_chapter_does_not_continue_a_schedule() -> None:
    scopes = _scopes(
        ("a", "Specific Instructions", None),
        ("b", "Schedule K. Other Dues", "a"),
        ("c", "Line 15f", "b"),
        ("d", "Line 16", "a"),
    )
    assert "d" not in scopes


def test_a_line_with_a_column_explains_the_line() -> None:
    keys = find_line_keys(_anchors(("a", "Line 16a, Column (a)", None), ("b", "Line 16b and Column B", None)))
    assert keys == {"a": "line_16a"}


def test_a_line_below_a_continued_line_does_not_end_the_schedule() -> None:
    scopes = _scopes(
        ("a", "Schedule K. Other Dues", None),
        ("b", "Line 18", "a"),
        ("c", "Other Information", None),
        ("d", "Line 19", "c"),
        ("e", "Line 19b", "d"),
        ("f", "Line 20", "c"),
        ("g", "Line 21", "c"),
    )
    assert {scopes.get(name) for name in "abdefg"} == {"Schedule K"}


def test_a_schedule_has_the_form_that_the_document_names_with_it_or_explains() -> None:
    texts = [
        "See Schedule B (Form 2040).",
        "On Schedule NEC (Form 2040-NR), line 3.",
        "Schedule NEC (Form 2041) differs.",
    ]
    passages = pl.DataFrame({"document_id": ["i2889"] * 3, "text": texts})
    anchors = _anchors(("a", "Schedule C. Other Dues", None)).with_columns(document_id=pl.lit("i2889"))
    named = find_parents(passages, {"i2889": {"form": "2889"}}, anchors, {"a": "Schedule C"})
    assert named == {"i2889": {"Schedule B": "Schedule B (Form 2040)", "Schedule C": "Schedule C (Form 2889)"}}


def test_a_line_that_is_named_after_its_code_continues_the_lines_of_a_schedule() -> None:
    scopes = _scopes(
        ("a", "Schedule K. Other Dues", None), ("b", "Line 15", "a"), ("c", "Code G. Line 15e. Barges", None)
    )
    assert scopes == {"a": "Schedule K", "b": "Schedule K", "c": "Schedule K"}
