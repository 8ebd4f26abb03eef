"""Lines named under a heading of a booklet belong to the form, to a schedule, or to a worksheet."""

from __future__ import annotations

import polars as pl

from taxkg_assets.graph.schedule_scopes import WORKSHEET, find_scopes


def _scopes(*headings: tuple[str, str, str | None]) -> dict[str, str]:
    rows = [
        {"anchor_id": name, "document_id": "i2040", "kind": "section", "heading": heading, "parent_anchor_id": parent}
        for name, heading, parent in headings
    ]
    return find_scopes(pl.DataFrame(rows))


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
