"""Gold that is in the corpus, gold that has to be located, and gold that cannot be found."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.evaluation.eval_queries import build_eval_queries
from taxkg_assets_tests.evaluation.corpus import (
    BOOK,
    DEPOSIT,
    FEE,
    RENT,
    anchor,
    anchors,
    document,
    documents,
    queries,
    question,
    section,
    sections,
)

OLD = "i9000--2029"
LOCATOR = {"form": "9000", "doc_type": "filer_instructions", "anchor": "box_1a", "words": ["rent", "shop", "deposits"]}


def located(*rows: dict[str, Any]) -> pl.DataFrame:
    return build_eval_queries(
        {"sample": rows},
        documents(
            document(OLD, doc_type="filer_instructions", revision="2029"),
            document(BOOK, doc_type="filer_instructions"),
            document("i9000--2031-draft", doc_type="filer_instructions", revision="2031", is_draft=True),
        ),
        sections=sections(
            *(
                section(name, ix, text, f"{name}#{'runin' if ix else 'box'}")
                for name in (OLD, BOOK, "i9000--2031-draft")
                for ix, text in enumerate([FEE, f"{DEPOSIT} {RENT}"])
            )
        ),
        anchors=anchors(
            *(
                row
                for name in (OLD, BOOK, "i9000--2031-draft")
                for row in (
                    anchor(f"{name}#box", "Box 1a. Rent", kind="box", key="box_1a"),
                    anchor(f"{name}#runin", "Deposits.", kind="runin", parent_anchor_id=f"{name}#box"),
                )
            )
        ),
    )


def test_quotes_of_the_corpus_are_kept() -> None:
    row = queries(question("a", (BOOK, RENT))).row(0, named=True)
    assert row["is_resolved"]
    assert row["gold"] == [{"document": BOOK, "page": 1, "quote": RENT, "grade": 3}]


def test_a_locator_finds_the_sentence_in_the_newest_final_revision() -> None:
    row = located(question("a", ("sample", "x"), locator=[{**LOCATOR, "grade": 2}])).row(0, named=True)
    assert row["gold"] == [{"document": BOOK, "page": 1, "quote": RENT, "grade": 2}]
    assert row["is_resolved"]
    assert row["note"] == ""


@pytest.mark.parametrize(
    "change",
    [{"words": ["rent", "shop", "fee"]}, {"anchor": "box_1b"}, {"form": "9001"}, {"doc_type": "publication"}],
)
def test_a_locator_that_finds_nothing_is_reported(change: dict[str, Any]) -> None:
    rows = located(question("a", ("sample", "x"), locator=[LOCATOR, {**LOCATOR, **change}]))
    row = rows.row(0, named=True)
    assert not row["is_resolved"]
    assert str({**LOCATOR, **change}["anchor"]) in row["note"]
    assert len(row["gold"]) == 1


def test_a_heading_serves_as_anchor() -> None:
    locator = {**LOCATOR, "anchor": "Deposits", "words": ["owner keeps", "lease"]}
    row = located(question("a", ("sample", "x"), locator=[locator])).row(0, named=True)
    assert [passage["quote"] for passage in row["gold"]] == [DEPOSIT]


def test_a_document_that_is_away_is_named() -> None:
    rows = queries(
        question("a", ("gone--2020", RENT)),
        question("b", type="unanswerable", near_miss=[{"document": "gone--2020", "page": 1, "quote": RENT}]),
        question("c", type="unanswerable"),
    )
    assert rows["is_resolved"].to_list() == [False, False, True]
    assert rows["note"].to_list() == ["not in this home: gone--2020"] * 2 + [""]


def test_rows_that_break_the_format_are_refused() -> None:
    with pytest.raises(ValueError, match="occurs twice"):
        queries(question("a"), question("a"))
    with pytest.raises(ValueError, match="lacks gold"):
        queries({"id": "a", "query": "q", "type": "concept"})
