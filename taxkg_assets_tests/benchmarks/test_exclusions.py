"""No item of a list that excludes is quoted without the words that exclude it: an invented booklet and the samples."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from benchmarks.exclusions import find_negated_lists, find_torn_items
from taxkg_assets.serving.released import open_release


def section(ix: int, text: str, *, role: str = "ListBlock", anchor: str = "a") -> dict[str, object]:
    return {
        "document_id": "z",
        "anchor_id": anchor,
        "paragraph_ix": ix,
        "element_id": f"e{ix}",
        "role": role,
        "table_id": None,
        "text": text,
    }


def test_lists_that_exclude_are_found_by_their_lead_ins() -> None:
    rows = [
        section(0, "All rent counts. Do not include:", role="BodyText"),
        section(1, "• Barns,"),
        section(2, "◦ of wood, or"),
        section(3, "• Stalls."),
        section(4, "Include:", role="BodyText"),
        section(5, "• Boats."),
        section(6, "You can’t count:", role="BodyText", anchor="b"),
        section(7, "2. The second item of another list.", anchor="b"),
    ]
    frame = pl.DataFrame(rows, schema_overrides={"table_id": pl.String})
    assert find_negated_lists(frame) == [("Do not include:", ["e1", "e3"])]


def test_a_list_ends_where_the_list_around_it_continues() -> None:
    rows = [
        section(0, "b-1. This does not apply to:"),
        section(1, "(1) Barns."),
        section(2, "c. Every owner pays."),
        section(3, "(2) Stalls."),
    ]
    rows[0]["role"] = "BodyText"
    frame = pl.DataFrame(rows, schema_overrides={"table_id": pl.String})
    assert find_negated_lists(frame) == [("This does not apply to:", ["e1"])]


@pytest.mark.slow
def test_no_exclusion_of_the_samples_reads_as_an_inclusion(built_samples: Path) -> None:
    released = open_release(str(built_samples))
    report = find_torn_items(released.table("sections"), released.searcher)
    assert report.items > 0
    assert report.torn == []
