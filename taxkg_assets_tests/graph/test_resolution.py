"""Which revision a text means: the one whose year it prints, else the nearest; a year's text knows the year's forms."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.graph.catalogue import revision_months
from taxkg_assets.graph.resolution import find_printed_year
from taxkg_assets_tests.graph.corpora import Corpus, document, reference, section


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
