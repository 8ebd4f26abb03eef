"""Whose lines a passage of a booklet means: those of the form, of one of its schedules, or of a worksheet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from taxkg_assets.rules.asking import matches_any
from taxkg_assets.rules.loader import load_rules

_LINE_AND_COLUMN = re.compile(r"Line (\d{1,2}[a-z]{0,2}),? [Cc]olumns? \([a-z]\)")
WORKSHEET = "worksheet"
"""Scope of lines that belong to a worksheet, which no form prints."""


def find_scopes(anchors: pl.DataFrame) -> dict[str, str]:
    """Find the schedule or worksheet that owns the lines named under each heading of a booklet.

    Args:
        anchors: Headings; their ids sort in the order of the document.

    Returns:
        Schedule as its heading names it (`Schedule K`), or `WORKSHEET`, by anchor_id; headings without one are left
        out.
    """
    scopes: dict[str, str] = {}
    chapters: dict[str, str] = {}
    columns = ("anchor_id", "document_id", "kind", "heading", "parent_anchor_id")
    for row in anchors.select(columns).sort("anchor_id").iter_rows(named=True):
        scope = _read_scope(row)
        is_first = row["parent_anchor_id"] is None
        if scope and is_first and matches_any("flows", "chapters", row["heading"]):
            chapters[row["document_id"]] = scope
        outer = chapters.get(row["document_id"], "") if is_first else scopes.get(row["parent_anchor_id"], "")
        if scope or outer:
            scopes[row["anchor_id"]] = scope or outer
    return scopes


def find_line_keys(anchors: pl.DataFrame) -> dict[str, str]:
    """Find the one line that a heading without a key explains: that of the nearest heading above it with a key.

    Args:
        anchors: Headings; their ids sort in the order of the document.

    Returns:
        Key of the line by anchor_id; headings with a key of their own, and those below none, are left out.
    """
    keys: dict[str, str] = {}
    found: dict[str, str] = {}
    columns = ("anchor_id", "kind", "key", "heading", "parent_anchor_id")
    for row in anchors.select(columns).sort("anchor_id").iter_rows(named=True):
        own = row["key"] or _read_key(row["heading"])
        if own and not row["key"]:
            found[row["anchor_id"]] = own
        if not own and not _read_scope(row):
            own = keys.get(row["parent_anchor_id"] or "", "")
            if own.startswith("line_"):
                found[row["anchor_id"]] = own
        keys[row["anchor_id"]] = own
    return found


def _read_key(heading: str) -> str:
    """Return the key of the one line that a heading names together with a column; empty for other headings."""
    match = _LINE_AND_COLUMN.match(heading)
    return f"line_{match[1]}" if match else ""


def _read_scope(row: Mapping[str, Any]) -> str:
    """Return the schedule or worksheet that a heading opens; empty where it opens none."""
    if row["kind"] not in ("section", "subsection"):
        return ""
    if matches_any("flows", "worksheets", row["heading"]):
        return WORKSHEET
    for rule in load_rules("flows", "schedules"):
        match = rule.pattern.search(row["heading"])
        if match is not None:
            return f"Schedule {match['name']}{match['form'] or ''}"
    return ""
