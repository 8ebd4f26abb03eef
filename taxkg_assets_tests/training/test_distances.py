from __future__ import annotations

import polars as pl
import pytest

from taxkg_assets.training.distances import Distances, read_distances

_NODES = {
    "doc": "document", "h1": "anchor", "h2": "anchor", "h3": "anchor", "p1": "paragraph", "p1:s0": "sentence",
    "p2": "paragraph", "p3": "paragraph", "p4": "paragraph", "law": "external",
}  # fmt: skip
_EDGES = [
    ("doc", "h1", "parent_of"), ("doc", "h2", "parent_of"), ("h1", "h3", "parent_of"), ("h1", "p1", "parent_of"),
    ("h2", "p2", "parent_of"), ("h3", "p3", "parent_of"), ("p1", "p2", "follows"),
    ("p1:s0", "h2", "references_section"),
    ("p2", "h3", "excludes"), ("h1", "h3", "same_concept"), ("p4", "law", "external_ref"), ("p1", "law", "defines"),
]  # fmt: skip


@pytest.fixture
def distances() -> Distances:
    nodes = pl.DataFrame({"node_id": list(_NODES), "level": list(_NODES.values()), "parent_id": [None] * len(_NODES)})
    nodes = nodes.with_columns(parent_id=pl.when(pl.col("node_id") == "p1:s0").then(pl.lit("p1")))
    edges = pl.DataFrame(_EDGES, schema=["source_id", "target_id", "relation"], orient="row")
    return read_distances(edges, nodes)  # type: ignore[arg-type]


def test_steps_are_references_relations_and_the_way_to_the_own_heading(distances: Distances) -> None:
    near = distances.find_near(["p1"], within=3)
    assert near == {"p1": 0, "h1": 1, "h2": 1, "p2": 2, "h3": 3}


def test_a_sentence_is_its_paragraph(distances: Distances) -> None:
    assert distances.find_near(["p1:s0"], within=1) == {"p1": 0, "h1": 1, "h2": 1}


def test_headings_above_reading_order_concepts_and_outside_things_are_no_steps(distances: Distances) -> None:
    assert "doc" not in distances.find_near(["p1"], within=9)
    assert "p4" not in distances.find_near(["p1"], within=9)
    assert distances.find_near(["p3"], within=1) == {"p3": 0, "h3": 1}


def test_only_relations_of_meaning_relate(distances: Distances) -> None:
    assert distances.find_related(["h3"]) == {"p2"}
    assert distances.find_related(["h2"]) == set()
