"""The layout engine against the tags: what counts as found, missed and invented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmarks.authored import Agreement, Match, Report, compare, find_library, read_twice, total
from benchmarks.documents import CorpusError
from taxkg_assets.extraction.extract import Extraction
from taxkg_assets.extraction.page_sources import PageSource
from taxkg_assets.extraction.structure.identity import Identity
from taxkg_assets.schemas import Anchors, Sections, Tables

LONG = "Owners of a boat moor it at the quay before the first of May of each year, or pay the late fee."
OTHER = "Those who own two boats moor the longer of them on the side of the harbor that faces the town."


def _reading(
    headings: list[tuple[int, str, str | None]],
    texts: list[tuple[int, str]],
    cells: list[tuple[str, str, str]],
) -> Extraction:
    """A reading with these headings (page, words, key), paragraphs and cells; page 2 is not read by tags."""
    box = dict.fromkeys(("x0_pt", "y0_pt", "x1_pt", "y1_pt"), 1.0)
    rows = [
        {"row_ix": ix, "col_ix": 0, "text": text, "row_path": row, "col_path": column, "bbox": box}
        for ix, (text, row, column) in enumerate(cells)
    ]
    heads: list[dict[str, Any]] = [
        {"anchor_id": f"a{ix}", "page": page, "heading": text, "key": key, "kind": "section", "source": "both"}
        for ix, (page, text, key) in enumerate(headings)
    ]
    paragraphs: list[dict[str, Any]] = [
        {"element_id": f"e{ix}", "page": page, "text": text, "role": "BodyText", "table_id": None}
        for ix, (page, text) in enumerate(texts)
    ]
    frames: dict[str, pl.DataFrame] = {
        "anchors": Anchors.sample(overrides=heads),
        "sections": Sections.sample(overrides=paragraphs),
        "tables": Tables.sample(overrides=[{"table_id": "t", "page": 1, "cells": rows}]),
    }
    identity = Identity("f9", "9", "form", "2031", 2031, False, "Moorings", "")
    sources = (PageSource(1, "tags"), PageSource(2, "layout", "The structure tree is damaged."))
    return Extraction(frames, identity, 2, (), (), page_sources=sources)


def test_two_readings_are_compared_on_the_pages_that_were_read_by_tags() -> None:
    cell = ("7", "Boat > 1", "Fee")
    tags = _reading([(1, "Who Moors", "line_1"), (1, "When", None), (2, "Not Read", None)], [(1, LONG)], [cell, cell])
    layout = _reading([(1, "WHO MOORS", "line_2"), (1, "Boats", None)], [(1, LONG), (1, OTHER)], [cell, ("8", "", "")])
    found = compare("d", tags, layout)
    assert found.matches["own-line headings"] == Match(1, 2, 1, 2)
    assert found.matches["keys"] == Match(0, 1, 0, 1)
    assert found.matches["paragraphs"] == Match(1, 1, 1, 2)
    assert found.matches["cells"] == Match(1, 2, 1, 2)
    assert (found.genre, found.agreed_headings, found.headings) == ("form", 2, 2)
    assert (found.sources, found.reasons) == ({"tags": 1, "layout": 1}, {"The structure tree is damaged.": 1})


def test_a_paragraph_that_is_joined_to_the_one_before_is_lost_and_one_that_is_split_is_invented() -> None:
    apart, joined = [(1, LONG), (1, OTHER)], [(1, f"{LONG} {OTHER}")]
    one, other = _reading([], apart, []), _reading([], joined, [])
    assert compare("d", one, other).matches["paragraphs"] == Match(1, 2, 1, 1)
    assert compare("d", other, one).matches["paragraphs"] == Match(1, 1, 1, 2)


def test_figures_of_several_documents_are_added() -> None:
    documents = [Agreement(name, "form", {"keys": Match(1, 2, 1, 4)}) for name in "ab"]
    documents.append(Agreement("c", "form", error="damaged"))
    found = total(documents, "keys")
    assert (found.recall, found.precision) == (0.5, 0.25)
    assert found.f1 == pytest.approx(1 / 3)
    assert Match().f1 is None
    assert Match(0, 1, 0, 1).f1 == 0.0


def test_the_report_names_what_could_not_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "broken.pdf").write_bytes(b"no PDF at all")
    (path,) = find_library(tmp_path)
    text = Report([read_twice(path)]).write(tmp_path / "out")
    assert "1 documents, 1 of which could not be read." in text
    assert "broken: StageError" in text
    assert (tmp_path / "out" / "authored.json").is_file()


def test_no_library_is_said(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="TAXKG_TEST_CORPUS"):
        find_library(tmp_path)
