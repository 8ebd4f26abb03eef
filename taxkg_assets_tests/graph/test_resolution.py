"""Which revision a text means: the one whose year it prints, else the nearest; a year's text knows the year's forms."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.graph.catalogue import Catalogue, revision_months
from taxkg_assets.graph.resolution import Resolver, find_printed_year
from taxkg_assets_tests.graph.corpora import Corpus, anchor, document, reference, section


def _edges_of(text: str, *, years: tuple[str, ...]) -> set[str]:
    """Where a mention of Form 6 in a text leads, with these editions of it in the corpus."""
    corpus = Corpus()
    corpus.documents += [document(f"f6--{year}", "6", "form", year) for year in years]
    corpus.sections.append(section("i9--2030-01:p0001:e051", "i9--2030-01#03", 2, text))
    start = text.index("Form 6")
    place = corpus.sections[-1]
    corpus.references.append(
        reference(place, "form", "Form 6", "references", mention_start=start, mention_end=start + len("Form 6"))
    )
    _, edges = corpus.graph()
    mine = edges.filter(pl.col("element_id") == "i9--2030-01:p0001:e051")
    return set(mine["target_id"])


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Look at your 2028 Form 6 again.", "f6--2028"),
        ("Look at your Form 6 again.", "f6--2030"),
        ("A Form 6 from 2021 or earlier still holds.", "ext:form:Form 6 (2021)"),
        ("What was paid in 2028 Form 6 does not tell.", "f6--2030"),
    ],
)
def test_a_printed_year_chooses_the_edition(text: str, target: str) -> None:
    assert _edges_of(text, years=("2028", "2030")) == {target}


def test_the_year_is_read_next_to_the_mention_only() -> None:
    row: dict[str, Any] = {
        "evidence": "In 2028 and later, see Form 6.",
        "start": 0,
        "mention_start": 23,
        "mention_end": 29,
    }
    assert find_printed_year(row) == ""


def test_what_is_made_for_a_year_knows_the_forms_revised_in_it() -> None:
    assert revision_months("2030-04") < revision_months("2030") < revision_months("2031-01")


def _resolver() -> Resolver:
    catalogue = Catalogue([document("i9--2030-01", "9", "filer_instructions", "2030-01")])
    rows = [
        anchor("i9--2030-01#01", "line", "line_4", "Line 4", perspective="filer"),
        anchor("i9--2030-01#02", "section", None, "Boat Fee Worksheet—Line 8", perspective="filer"),
        anchor("i9--2030-01#03", "line", "line_5", "Line 5.", perspective="filer", parent="i9--2030-01#02"),
    ]
    return Resolver(catalogue, anchors=rows, registry=[], tables=[])


@pytest.mark.parametrize(
    ("target", "node_id"),
    [
        ("line_4", "i9--2030-01#01"),
        ("line_4 (Boat Fee Worksheet)", "i9--2030-01#02"),
        ("line_5 (Boat Fee Worksheet)", "i9--2030-01#03"),
        ("line_4 (Raft Worksheet)", "ext:line:line_4 (Raft Worksheet)"),
        ("line_4 (worksheet)", None),
    ],
)
def test_a_line_of_a_worksheet_is_no_line_of_the_form(target: str, node_id: str | None) -> None:
    row = {"document_id": "i9--2030-01", "anchor_id": None, "kind": "line", "target": target, "target_form": ""}
    found = _resolver().resolve(row)
    assert (found.node_id if found else None) == node_id
