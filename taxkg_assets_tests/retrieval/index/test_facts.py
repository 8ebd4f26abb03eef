"""Documents of an index: which editions count as outdated where a question names no year."""

from __future__ import annotations

import polars as pl
import pytest

from taxkg_assets.retrieval.index.document_facts import DocumentFacts
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.rules.models.ranking import load_ranking

NEWEST = 2031


def build_facts(*editions: tuple[str, int | None]) -> DocumentFacts:
    """Make the documents of a library, one for each name and tax year."""
    return DocumentFacts(
        pl.DataFrame(
            [
                {
                    "document_id": f"{name}--{year or 'undated'}",
                    "irs_name": name,
                    "document_form": name,
                    "doc_type": "filer_instructions",
                    "revision": str(year or "2020-01"),
                    "tax_year": year,
                    "is_draft": False,
                    "title": name,
                }
                for name, year in editions
            ],
            schema_overrides={"tax_year": pl.Int64},
        )
    )


def find_outdated(facts: DocumentFacts, *years: int) -> set[str]:
    """Return the documents that a question would rank below current ones."""
    stale = facts.score_documents(Route(years=years))["stale"]
    return {row["document_id"] for row, own in zip(facts.documents, stale, strict=True) if own}


def test_the_latest_edition_stored_is_current_though_tables_of_the_coming_year_are_newer() -> None:
    facts = build_facts(("p900", NEWEST), ("i7777", NEWEST - 3), ("i7777", NEWEST - 4), ("i8888", NEWEST - 2))
    assert find_outdated(facts) == {f"i7777--{NEWEST - 4}"}


@pytest.mark.parametrize(("age", "is_outdated"), [(-1, False), (0, True), (3, True)])
def test_a_yearly_product_of_long_ago_is_outdated_without_a_newer_edition(age: int, *, is_outdated: bool) -> None:
    year = NEWEST - load_ranking().dated_years - age
    facts = build_facts(("p900", NEWEST), ("i7777", year), ("i6666", None))
    assert find_outdated(facts) == ({f"i7777--{year}"} if is_outdated else set())


def test_no_edition_is_outdated_where_a_question_names_a_year() -> None:
    facts = build_facts(("p900", NEWEST), ("i7777", NEWEST - 9))
    assert find_outdated(facts, NEWEST - 9) == set()


def test_documents_that_instruct_filers_are_known() -> None:
    rows = build_facts(("i7777", NEWEST), ("p900", NEWEST)).rows
    rows = rows.with_columns(
        doc_type=pl.when(pl.col("irs_name") == "p900").then(pl.lit("publication")).otherwise("doc_type")
    )
    facts = DocumentFacts(rows)
    found = dict(
        zip((row["irs_name"] for row in facts.documents), facts.score_documents(Route())["instructions"], strict=True)
    )
    assert found == {"i7777": 1.0, "p900": 0.0}
