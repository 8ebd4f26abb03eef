from __future__ import annotations

from collections.abc import Callable

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.schemas import EvalQueries, Pairs, ScenarioQueries, Tables
from taxkg_assets.training.invariants import find_leaked_pairs, find_leaking_groups
from taxkg_assets.training.pairs import REPEATS, Steps, balance_groups, build_pairs
from taxkg_assets_tests.training import small

_QUERIED = [
    {"query_id": "w-1", "query": "lodger went early, is money paid back?", "chunk_id": "paragraph:c1:p"},
    {
        "query_id": "w-2",
        "query": "fence let without its lot",
        "chunk_id": "paragraph:b2:p",
        "other_positive_ids": ["paragraph:b1:p"],
    },
    {
        "query_id": "w-3",
        "query": "is rent of a garden rent",
        "chunk_id": "paragraph:c2:p",
        "repeated_eval_query": "garden?",
    },
]


def _build(*questions: str, report: Callable[[Steps], None] = lambda steps: None) -> dy.DataFrame[Pairs]:
    return build_pairs(
        small.fill(ScenarioQueries, [{"created_by": "written", "register": "lay", **row} for row in _QUERIED]),
        small.chunks(),
        documents=small.documents(),
        nodes=small.nodes(),
        edges=small.edges(),
        tables=Tables.create_empty(),
        registry=small.registry(),
        eval_queries=small.fill(EvalQueries, [{"query_id": q, "query": q, "type": "concept"} for q in questions]),
        retrievers=small.retrievers(),
        proposer=RuleProposer(),
        report=report,
    )


@pytest.fixture(scope="module")
def pairs() -> dy.DataFrame[Pairs]:
    return _build()


def test_the_long_side_is_what_the_index_embeds(pairs: dy.DataFrame[Pairs]) -> None:
    passages = {f"{row['context']}\n{row['text']}" for row in small.chunks().iter_rows(named=True)}
    assert set(pairs["passage"]) <= passages


def test_a_heading_is_paired_with_its_passage_and_of_two_years_with_one(pairs: dy.DataFrame[Pairs]) -> None:
    found = dict(pairs.filter(pl.col("kind") == "hierarchical").select("query", "chunk_id").iter_rows())
    assert found["Form 77-A box 2f Rent of Fences"] == "paragraph:b2:p"
    assert found["Form 77-A box 2e Rent of Lots"] == "paragraph:b1:p", "the newest"
    assert sum("2e" in query for query in found) == 1


def test_a_relation_is_put_to_the_passage_that_states_it_with_its_polarity(pairs: dy.DataFrame[Pairs]) -> None:
    found = {row["query"]: row for row in pairs.filter(pl.col("kind") == "semantic").iter_rows(named=True)}
    row = found["Do deposits go in box 3 (rent)?"]
    assert (row["chunk_id"], row["polarity"], row["relation"]) == ("paragraph:b4:p", "negative", "excludes")
    assert row["source"] == "b4:p>excludes>b3@1"


def test_questions_enter_with_their_other_answers_but_not_those_of_the_evaluation(pairs: dy.DataFrame[Pairs]) -> None:
    queried = pairs.filter(pl.col("kind") == "scenario")
    assert set(queried["query"]) <= {_QUERIED[0]["query"], _QUERIED[1]["query"]}
    fence = queried.filter(pl.col("query") == _QUERIED[1]["query"])
    assert fence["other_positive_ids"].to_list() in ([["paragraph:b1:p"]], [])


def test_a_text_near_to_an_evaluation_question_is_left_out_and_the_law_would_find_it() -> None:
    question = "FORM 77-A, box 2f: rent of fences?"
    queried = small.fill(EvalQueries, [{"query_id": "q", "query": question, "type": "concept"}])
    assert find_leaked_pairs(_build(), queried).height == 1
    assert find_leaked_pairs(_build(question), queried).is_empty()


def test_what_is_left_out_is_reported_by_kind_and_reason() -> None:
    reported: list[Steps] = []
    kept = _build("FORM 77-A, box 2f: rent of fences?", report=reported.append)
    (steps,) = reported
    assert {kind: own["kept"] for kind, own in steps.items() if own["kept"]} == dict(
        kept.group_by("kind").len().iter_rows()
    )
    assert all(own["made"] == sum(count for name, count in own.items() if name != "made") for own in steps.values())
    assert steps["hierarchical"][REPEATS] == 1
    assert steps["scenario"][REPEATS] == 1, "a question that was marked before"


def test_families_keep_to_their_side(pairs: dy.DataFrame[Pairs]) -> None:
    assert set(pairs["split"]) == {"train", "dev"}
    assert find_leaking_groups(pairs).is_empty()


def test_built_twice_it_is_the_same(pairs: dy.DataFrame[Pairs]) -> None:
    assert pairs.equals(_build())


def test_a_long_document_does_not_drown_the_others() -> None:
    items = [("long", n) for n in range(50)] + [("short", n) for n in range(3)] + [("middle", n) for n in range(9)]
    kept = balance_groups(items, 15, read_group=lambda item: item[0])
    assert {name: sum(item[0] == name for item in kept) for name in ("long", "middle", "short")} == {
        "short": 3, "middle": 6, "long": 6,
    }  # fmt: skip
