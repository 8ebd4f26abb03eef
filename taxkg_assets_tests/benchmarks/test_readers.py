"""Markdown of other readers is brought into the shape that the scorer judges."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quality import READERS, score_reader
from benchmarks.readers import Heading, TableCell, read_chunks, read_markdown
from taxkg_assets.evaluation.labels import AnchorLabel, CellLabel, Labels, OwnershipLabel

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "samples" / "sample-i1099div--2024-01.pdf"
PAGE = """# Ferry Tax

## Rates

**Small boats.** Up to ten seats pay half.

Larger boats pay in full.

|Seats|Rate<br>a day|
|---|---|
|1 to 10|$5|
|11 and more|$10|

## Returns

File by June.
"""


def test_headings_run_ins_owners_and_cells_are_read() -> None:
    found = read_markdown({3: PAGE})
    assert found.headings == [
        Heading(3, "Ferry Tax", is_run_in=False),
        Heading(3, "Rates", is_run_in=False),
        Heading(3, "Small boats.", is_run_in=True),
        Heading(3, "Returns", is_run_in=False),
    ]
    assert [own.owners for own in found.paragraphs] == [
        ("Small boats.", "Rates", "Ferry Tax"),
        ("Rates", "Ferry Tax"),
        ("Returns", "Ferry Tax"),
    ]
    assert TableCell(3, "11 and more", "Rate a day", "$10") in found.cells


def test_a_heading_continues_from_one_page_to_the_next() -> None:
    found = read_markdown({1: "# Ferry Tax\n\n## Rates", 2: "Boats without seats are free."})
    assert found.paragraphs[0].owners == ("Rates", "Ferry Tax")


def test_chunks_overlap_and_keep_their_page() -> None:
    chunks = read_chunks(SAMPLE)
    assert chunks[0][1][800:] == chunks[1][1][:200]
    assert chunks[0][0] == 1
    assert chunks[-1][0] > 1


@pytest.mark.slow
def test_the_scorer_counts_what_is_there_what_is_missing_and_what_is_invented() -> None:
    labels = Labels(
        anchors=tuple(
            AnchorLabel(SAMPLE.stem, 3, "section", heading, None, None, is_optional=False, is_parent_open=False)
            for heading in ("Instructions for the Boxes", "A heading that nobody printed")
        ),
        ownership=(OwnershipLabel(SAMPLE.stem, 3, "a quote that is nowhere", "Instructions for the Boxes"),),
        tables=(CellLabel(SAMPLE.stem, 3, "Common stock", "Holding period > Days needed", "at least 61 days"),),
    )
    found = score_reader(READERS["taxkg"], {SAMPLE.stem: SAMPLE}, labels)
    assert found["headings found"] == (0.5, 2)
    value, count = found["heading precision"]
    assert value == pytest.approx(1 / count)
    assert found["paragraphs under their heading"] == (0.0, 1)
    assert found["table cells with both headers"] == (1.0, 1)
