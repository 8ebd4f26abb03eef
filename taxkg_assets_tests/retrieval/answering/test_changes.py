"""What changed between editions is read from what is known to have changed, the older words before the newer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.answering.changes import asks_for_changes, find_changes
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

OPEN = Settings(guardrail=False)


def change(ix: int, **columns: Any) -> dict[str, Any]:
    return {
        "irs_name": "i2077zed",
        "form": "2077-ZED",
        "from_revision": "2029",
        "to_revision": "2031",
        "from_document_id": "i2077zed--2029",
        "to_document_id": "i2077zed--2031",
        "change_ix": ix,
        "kind": "text changed",
        "key": "",
        "previous_key": "",
        "heading_path": "Rent",
        "before": "Enter half of the rent.",
        "after": "Enter all of the rent.",
        "words": [],
        "nature": "wording",
        "is_routine": False,
        "evidence": "",
        **columns,
    }


def frame(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), infer_schema_length=None)


@pytest.mark.parametrize(
    ("years", "expected"),
    [
        ((), [1]),
        ((2029, 2031), [1]),
        ((2027, 2031), [0, 1]),
        ((2029,), [0]),
        ((2031,), [1]),
        ((2029, 2030), [1]),  # no revision of 2030: the nearest ones
        ((2028, 2030), [0, 1]),
        ((2030,), [1]),
        ((2032,), []),
        ((2031, 2033), []),
    ],
)
def test_changes_are_of_the_years_requested(years: tuple[int, ...], expected: list[int]) -> None:
    older = change(0, from_revision="2027", to_revision="2029")
    found = find_changes(frame(older, change(1)), Route(forms=("2077-ZED",), years=years), topic_terms={})
    assert sorted(row["change_ix"] for row in found) == expected


def test_routine_changes_rows_of_tables_and_other_boxes_are_left_out() -> None:
    rows = frame(
        change(0, is_routine=True),
        change(1, kind="row changed"),
        change(2, key="box_1a"),
        change(3, key="box_1b"),
        change(4, form="2078"),
    )
    found = find_changes(rows, Route(forms=("2077-ZED",), keys=("box_1b",)), topic_terms={})
    assert [row["change_ix"] for row in found] == [3]


def test_changes_of_what_is_requested_come_alone() -> None:
    rows = frame(change(0, heading_path="Duty", before="A duty.", after="No duty."), change(1))
    found = find_changes(rows, Route(forms=("2077-ZED",)), topic_terms=dict.fromkeys(find_terms("duty"), 1.0))
    assert [row["change_ix"] for row in found] == [0]


@pytest.mark.parametrize(
    ("question", "is_queried"),
    [
        ("what changed on the 2077-ZED", True),
        ("has box 1a changed since 2029", True),
        ("what is the difference between box 1a and box 1b", False),
    ],
)
def test_who_asks_for_changes(question: str, is_queried: bool) -> None:
    assert asks_for_changes(question, Route(forms=("2077-ZED",))) is is_queried
    assert not asks_for_changes(question, Route())


def test_an_answer_states_the_older_words_then_the_newer(searcher: Searcher) -> None:
    columns = searcher.passages.columns
    kept = {columns["heading_path"][row]: columns["node_ids"][row][0] for row in range(searcher.index.height)}
    older, newer = list(kept.values())[:2]
    rows = frame(change(0, evidence=f"{older}:0-5 → {newer}:0-5"))
    found = ask(replace(searcher, open_changes=lambda: rows), "what changed on the 2077-ZED", settings=OPEN)
    assert [unit.pieces[1].text for unit in found.units] == ["Enter half of the rent.", "Enter all of the rent."]
    assert [unit.label for unit in found.units] == [
        "Rent (2077-ZED 2029; text changed)",
        "Rent (2077-ZED 2031; text changed)",
    ]
    nodes = [
        columns["node_ids"][searcher.passages.row_of_chunk[found.results[unit.rank - 1].chunk_id]][0]
        for unit in found.units
    ]
    assert nodes == [older, newer]
    near = ask(replace(searcher, open_changes=lambda: rows), "what changed on the 2077-ZED in 2030", settings=OPEN)
    assert near.answer is not None
    assert "no revision of 2030 to compare" in near.answer
