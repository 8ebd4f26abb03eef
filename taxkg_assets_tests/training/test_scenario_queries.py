from __future__ import annotations

from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.schemas import EvalQueries, ScenarioQueries
from taxkg_assets.training.scenario_queries import build_scenario_queries
from taxkg_assets_tests.training import small


def _build(*written: dict[str, Any], queried: tuple[str, ...] = ()) -> dy.DataFrame[ScenarioQueries]:
    return build_scenario_queries(
        small.chunks(),
        small.documents(),
        nodes=small.nodes(),
        edges=small.edges(),
        registry=small.registry(),
        eval_queries=small.fill(EvalQueries, [{"query_id": q, "query": q, "type": "concept"} for q in queried]),
        written=written,
        retrievers=small.retrievers(),
        proposer=RuleProposer(),
    )


def test_rules_ask_what_the_passage_answers_and_find_it_again() -> None:
    made = {row["query"]: row for row in _build().iter_rows(named=True)}
    assert "Where do I enter the rent that the owner of a fence was paid?" in made
    row = next(row for row in made.values() if row["generator"] == "must_if" and row["register"] == "plain")
    assert row["query"] in {
        "Do I have to add the sums of both if I let a lot and a fence?",
        "What do I have to do if I let a lot and a fence?",
    }
    assert (row["chunk_id"], row["created_by"]) == ("paragraph:b3:p", "rule")
    assert row["round_trip_rank"] <= 10
    assert {row["register"] for row in made.values()} >= {"plain", "lay", "professional"}


def test_of_a_paragraph_in_two_years_only_the_last_is_queried() -> None:
    assert "paragraph:a1:p" not in _build()["chunk_id"].to_list()


def test_a_written_question_is_where_the_home_holds_its_element() -> None:
    here = {"id": "w-1", "query": "lodger went early, money back?", "element": "c1:p", "register": "lay"}
    gone = {"id": "w-2", "query": "who pays for the storm", "element": "elsewhere:p"}
    other = {"id": "w-3", "query": "rent of a field", "element": "elsewhere:p", "elements": ["c2:p", "b1:p"]}
    rows = {r["query_id"]: r for r in _build(here, gone, other).filter(pl.col("generator") == "written").to_dicts()}
    assert rows.keys() == {"w-1", "w-3"}
    assert (rows["w-1"]["chunk_id"], rows["w-1"]["register"], rows["w-1"]["other_positive_ids"]) == (
        "paragraph:c1:p",
        "lay",
        [],
    )
    assert (rows["w-3"]["chunk_id"], rows["w-3"]["other_positive_ids"]) == ("paragraph:c2:p", ["paragraph:b1:p"])


def test_a_question_that_repeats_an_evaluation_question_is_marked() -> None:
    made = _build(queried=("where do I enter: the rent that the owner of a fence was paid",))
    marked = made.filter(pl.col("repeated_eval_query") != "")["query"].to_list()
    assert "Where do I enter the rent that the owner of a fence was paid?" in marked


def test_built_twice_it_is_the_same() -> None:
    assert _build().equals(_build())
