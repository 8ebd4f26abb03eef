"""What is known to have changed between real revisions, stated by the product; facts read from the pages by eye."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taxkg_assets.extraction.extract import Extraction
from taxkg_assets.graph.revisions import find_revision_changes

pytestmark = pytest.mark.slow


Compare = Callable[[str, str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def compare(corpus: Path, read_real: Callable[[str], Extraction]) -> Compare:
    """Changes between two documents of the corpus or its rebuilds; each is read once."""

    @functools.cache
    def read(document_id: str) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
        folder = next(name for name in ("corpus", "rebuilds") if (corpus / name / f"{document_id}.pdf").exists())
        found = read_real(f"{folder}/{document_id}")
        identity = {name: getattr(found.identity, name) for name in found.identity.__dataclass_fields__}
        return {"document_id": document_id, **identity}, found.frames

    def changes(before: str, after: str) -> list[dict[str, Any]]:
        sides = [read(before), read(after)]
        names = ("sections", "anchors", "tables", "faces", "elements")
        frames = {name: pl.concat([frames[name] for _, frames in sides]) for name in names}
        return find_revision_changes(sides[0][0], sides[1][0], frames=frames)

    return changes


def reported(rows: list[dict[str, Any]], *kinds: str) -> set[tuple[str, str]]:
    return {(row["kind"], row["key"]) for row in rows if row["kind"].startswith(kinds)}


def test_a_rebuild_with_the_same_text_is_no_change(compare: Compare) -> None:
    assert compare("f1099div--2024-01", "f1099div--2024-01__build20251230") == []


def test_the_correction_of_a_list_of_lines_is_the_only_change(compare: Compare) -> None:
    (row,) = compare("f1040s2--2024__build20241206", "f1040s2--2024")
    assert (row["kind"], row["key"], row["is_routine"]) == ("text changed", "line_21", False)
    words = [(row["before"][w["before_start"] : w["before_end"]], row["after"][w["after_start"] : w["after_end"]])
             for w in row["words"]]  # fmt: skip
    assert words == [("", "18,"), ("18", "19")]


def test_blank_boxes_put_to_use(compare: Compare) -> None:
    first = compare("f1099nec--2020", "f1099nec--2024-01")
    assert reported(first, "box") == {("box renamed", "box_2")}
    assert any(row["kind"] == "text removed" and "FATCA" in row["before"] for row in first)
    second = compare("f1099nec--2024-01", "f1099nec--2025-04")
    assert reported(second, "box") == {("box renamed", "box_3")}
    assert len(second) <= 6


def test_codes_added_and_a_box_split(compare: Compare) -> None:
    rows = compare("iw2w3--2024", "iw2w3--2026")
    assert reported(rows, "code added", "code removed") == {
        ("code added", f"code_{code}") for code in ("TA", "TP", "TT")
    }
    assert reported(rows, "box") == {("box renumbered", "box_14a"), ("box added", "box_14b")}
    assert reported(rows, "code renamed") == {("code renamed", f"code_{code}") for code in "FPS"}
    amounts = [row for row in rows if row["nature"] == "amounts" and row["key"] == "box_3"]
    assert any("184,500" in row["after"] for row in amounts)


def test_a_code_added_to_a_list_under_a_box(compare: Compare) -> None:
    rows = compare("f1099r--2024", "f1099r--2025")
    assert reported(rows, "box", "code") <= {("code added", "code_Y")}
    assert [row["after"][:2] for row in rows if row["kind"] == "text added" and row["key"] == "box_7"] == ["Y—"]


def test_a_schedule_with_nothing_new_is_all_routine(compare: Compare) -> None:
    rows = compare("f1040sb--2024", "f1040sb--2025")
    assert rows
    assert all(row["nature"] == "years" for row in rows)


def test_instructions_with_one_deadline_moved(compare: Compare) -> None:
    (row,) = [row for row in compare("i1040sb--2024", "i1040sb--2025") if not row["is_routine"]]
    assert (row["nature"], row["key"]) == ("dates", "line_8")


def test_a_worksheet_that_grew_keeps_its_old_lines(compare: Compare) -> None:
    rows = compare("fw4--2025", "fw4--2026")
    added = {row["key"] for row in rows if row["kind"] == "line added"}
    assert {"line_1a", "line_1b", "line_1c", "line_6a", "line_6e", "line_8b", "line_13"} <= added
    assert {"line_5", "line_15"} <= {row["key"] for row in rows if row["kind"] == "line renumbered"}


def test_limits_of_a_publication(compare: Compare) -> None:
    rows = compare("p525--2024", "p525--2025")
    amounts = " ".join(row["after"] for row in rows if row["nature"] == "amounts")
    assert all(limit in amounts for limit in ("$23,500", "$3,300", "$325", "$70,000"))
    removed = {row["before"] for row in rows if row["kind"] == "section removed"}
    added = {row["after"] for row in rows if row["kind"] == "section added"}
    assert not removed & added
    assert {"Tips.", "Overtime."} <= added
