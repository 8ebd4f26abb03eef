from __future__ import annotations

from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.schemas import HardNegatives, Pairs
from taxkg_assets.training.distances import read_distances
from taxkg_assets.training.hard_negatives import build_hard_negatives, keep_nearest
from taxkg_assets.training.invariants import find_near_negatives
from taxkg_assets_tests.training import small


def _pair(query: str, anchor: str, **more: Any) -> dict[str, Any]:
    passage = next(row for row in small.corpus().passages.values() if row.anchor_id == anchor)
    return {
        "pair_id": query,
        "query": query,
        "kind": "scenario",
        "split": "train",
        "polarity": "positive",
        "passage": passage.indexed_text,
        "passage_node_id": passage.node_ids[0],
        "chunk_id": passage.chunk_id,
        "near_duplicate_group": passage.near_duplicate_group,
        **more,
    }


def _build(*pairs: dict[str, Any]) -> dy.DataFrame[HardNegatives]:
    return build_hard_negatives(
        small.fill(Pairs, pairs),
        small.chunks(),
        documents=small.documents(),
        nodes=small.nodes(),
        edges=small.edges(),
        registry=small.registry(),
        retrievers=small.retrievers(),
        proposer=RuleProposer(),
    )


def _anchors(negatives: pl.DataFrame) -> dict[str, str]:
    """Source by the heading that a negative is below."""
    return {row["chunk_id"].split(":")[1]: row["source"] for row in negatives.iter_rows(named=True)}


def test_the_box_next_to_it_is_a_negative_and_the_other_year_and_what_is_related_are_not() -> None:
    found = _anchors(_build(_pair("where do I enter the rent of a lot on form 77-A box 2e", "b1")))
    assert found["b2"] == "sibling_box"
    assert "a1" not in found, "it says the same"
    assert "b3" not in found, "a semantic edge joins it"
    assert "c2" in found, "a search brings it up, and nothing joins it"


def test_what_is_within_three_steps_is_none() -> None:
    found = _anchors(_build(_pair("add the sums of lot and fence, deposits", "b3")))
    assert "b4" not in found, "it is referred to"


def test_another_passage_that_answers_as_well_is_none() -> None:
    query = "enter the rent that the owner of a lot or garden was paid"
    assert "c2" in _anchors(_build(_pair(query, "b1")))
    assert "c2" not in _anchors(_build(_pair(query, "b1", other_positive_ids=["paragraph:c2:p"])))
    assert "c2" not in _anchors(_build(_pair(query, "b1"), _pair(query.upper(), "c2")))


def test_what_is_as_near_to_the_question_as_its_own_passage_is_none() -> None:
    found = _build(_pair("a garden is a piece of land with flowers", "c1"))
    assert "c2" not in _anchors(found)
    assert (found["score"] < 0.95 * found["positive_score"]).all()


def test_the_laws_hold_and_ranks_follow_the_score() -> None:
    pairs = (_pair("where do I enter the rent of a lot", "b1"), _pair("what lodgers get back", "c1"))
    found = _build(*pairs)
    distances = read_distances(small.edges(), small.nodes())
    assert find_near_negatives(found, small.fill(Pairs, pairs), small.chunks(), distances=distances).is_empty()
    for _, own in found.group_by("pair_id"):
        assert own["rank"].to_list() == list(range(own.height))
        assert own["score"].is_sorted(descending=True)


def test_a_passage_is_kept_for_the_pairs_that_are_nearest_to_it() -> None:
    columns = ("pair_id", "rank", "chunk_id", "score")
    rows = [
        ("p", 0, "index page", 0.6),
        ("p", 1, "other", 0.5),
        ("q", 0, "index page", 0.7),
        ("r", 0, "index page", 0.5),
    ]
    kept = keep_nearest(pl.DataFrame(rows, schema=columns, orient="row"), max_reuse=1)
    assert kept.select(columns).rows() == [("p", 0, "other", 0.5), ("q", 0, "index page", 0.7)]
