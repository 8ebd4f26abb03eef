"""Edges that carry meaning are followed from a passage, with their evidence; order on the page is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.retrieval.expand import build_neighbors, expand_seeds
from taxkg_assets.retrieval.parts import Parts
from taxkg_assets.retrieval.search import Searcher


def _edges(*rows: tuple[str, str, str, float]) -> dy.DataFrame[schemas.Edges]:
    made: list[dict[str, Any]] = [
        {
            "source_id": source,
            "target_id": target,
            "relation": relation,
            "start": 0,
            "end": 4,
            "element_id": source,
            "polarity": "positive",
            "confidence": confidence,
            "evidence": "box",
            "page": 1,
            "created_by": "regex",
            "rule_id": "r",
        }
        for source, target, relation, confidence in rows
    ]
    return schemas.Edges.validate(pl.DataFrame(made, schema=schemas.Edges.create_empty().schema))


def test_surest_edges_first_and_follows_never() -> None:
    neighbors = build_neighbors(
        _edges(("a", "b", "includes", 0.5), ("a", "c", "requires", 0.9), ("a", "d", "follows", 1.0))
    )
    assert [step.target_id for step in neighbors["a"]] == ["c", "b"]


def test_what_a_sentence_says_leads_on_from_its_paragraph() -> None:
    edges = _edges(("a:s00007", "b", "includes", 1.0)).with_columns(element_id=pl.lit("a"))
    neighbors = build_neighbors(schemas.Edges.validate(edges))
    assert [(step.source_id, step.target_id) for step in neighbors["a"]] == [("a:s00007", "b")]


def test_no_edge_leads_back_to_its_seed() -> None:
    neighbors = build_neighbors(_edges(("a", "a", "includes", 1.0), ("a", "b", "includes", 1.0)))
    assert list(expand_seeds([(0, ["a"])], neighbors=neighbors, row_of={"a": 0, "b": 1})) == [1]


def test_search_shows_the_edge_that_led_to_a_passage(searcher: Searcher) -> None:
    edges = _edges(("i2077zed--2031#006", "town-code#008", "requires", 1.0))
    linked = replace(searcher, edges=edges, parts=Parts(graph=True))
    rows = linked.search("as issuer: harbour rent in box 1a of Form 2077-ZED", k=50)
    via = next(row.via["edge"] for row in rows if row.document == "town-code")
    assert (via["relation"], via["evidence"]) == ("requires", "box")
