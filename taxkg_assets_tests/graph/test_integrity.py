"""The laws of the graph find what breaks them."""

from __future__ import annotations

import polars as pl

from taxkg_assets.graph.integrity import (
    find_dangling_edges,
    find_parent_cycles,
    find_reference_faults,
    find_tree_faults,
    find_unplaced_nodes,
    find_unsupported_edges,
)
from taxkg_assets.schemas import Edges, Nodes, References
from taxkg_assets_tests.graph.corpora import Corpus

_PARAGRAPH = "i9--2030-01:p0001:e021"


def _with_parent(node_id: str, parent_id: str | None) -> pl.DataFrame:
    nodes, _ = Corpus().graph()
    is_it = pl.col("node_id") == node_id
    parent = pl.when(is_it).then(pl.lit(parent_id, pl.String)).otherwise("parent_id")
    return find_tree_faults(Nodes.validate(nodes.with_columns(parent_id=parent)))


def test_tree_faults_are_named() -> None:
    assert _with_parent(_PARAGRAPH, None)["fault"].to_list() == ["no parent"]
    assert _with_parent(_PARAGRAPH, "nowhere")["fault"].to_list() == ["no way to a root", "parent missing"]
    assert _with_parent(_PARAGRAPH, "f8--2031")["fault"].to_list() == ["parent in another document"]


def test_a_circle_of_headings_is_no_tree() -> None:
    faults = _with_parent("i9--2030-01#01", "i9--2030-01#02")
    assert set(faults["fault"]) == {"no way to a root"}
    assert faults.height == 5, "the circle of two, the group, and the paragraphs that hang from them"


def test_parent_edges_in_a_circle_or_twice() -> None:
    _, edges = Corpus().graph()
    tree = edges.filter(pl.col("relation") == "parent_of").head(1)
    turned = tree.with_columns(source_id="target_id", target_id="source_id")
    faults = find_parent_cycles(Edges.validate(pl.concat([tree, turned])))
    assert faults["fault"].to_list() == ["circle", "circle"]
    second = tree.with_columns(source_id=pl.lit("another"))
    assert find_parent_cycles(Edges.validate(pl.concat([tree, second])))["fault"].to_list() == ["second parent"] * 2


def test_an_edge_to_nothing_dangles() -> None:
    nodes, edges = Corpus().graph()
    less = Nodes.validate(nodes.filter(pl.col("node_id") != _PARAGRAPH))
    ends = find_dangling_edges(edges, less).select("source_id", "target_id").rows()
    assert ends
    assert all(_PARAGRAPH in pair for pair in ends)


def test_a_node_without_a_place() -> None:
    nodes, _ = Corpus().graph()
    is_it = pl.col("node_id") == _PARAGRAPH
    bare = nodes.with_columns(page=pl.when(is_it).then(None).otherwise("page"))
    assert find_unplaced_nodes(Nodes.validate(bare))["node_id"].to_list() == [_PARAGRAPH]


def test_evidence_that_does_not_slice_back() -> None:
    corpus = Corpus()
    _, edges = corpus.graph()
    sections = corpus.frames()["sections"]
    forged = edges.with_columns(
        evidence=pl.when(pl.col("relation") == "excludes").then(pl.lit("made up")).otherwise("evidence")
    )
    assert find_unsupported_edges(Edges.validate(forged), sections)["relation"].to_list() == ["excludes"]
    moved = corpus.frames()["references"].with_columns(evidence=pl.lit("made up"))
    assert find_reference_faults(References.validate(moved), sections).height == 2
