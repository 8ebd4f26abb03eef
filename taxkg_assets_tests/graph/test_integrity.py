"""The laws of the graph find what breaks them."""

from __future__ import annotations

import random

import networkx as nx
import polars as pl
import pytest

from taxkg_assets.extraction.invariants import find_false_evidence
from taxkg_assets.graph.integrity import (
    _find_pieces,
    find_dangling_edges,
    find_misused_relations,
    find_parent_cycles,
    find_tree_faults,
    find_unconnected_nodes,
    find_unplaced_nodes,
    find_unprovenanced_edges,
    find_unsupported_edges,
    score_connected,
    score_related,
    share_connected_across_documents,
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


def test_pieces_are_the_connected_components_of_any_graph() -> None:
    draw = random.Random(3)
    for count in range(1, 40):
        names = [f"node {number:02d}" for number in range(count)]
        ends = [(draw.choice(names), draw.choice(names)) for _ in range(draw.randrange(count))]
        edges = pl.DataFrame(ends, schema={"source_id": pl.String, "target_id": pl.String}, orient="row")
        pieces = _find_pieces(pl.DataFrame({"node_id": names}), edges.with_columns(relation=pl.lit("references")))
        graph: nx.Graph[str] = nx.Graph(ends)
        graph.add_nodes_from(names)
        found = pieces.group_by("piece").agg("node_id")["node_id"].to_list()
        assert sorted(map(sorted, found)) == sorted(map(sorted, nx.connected_components(graph)))


def test_what_hangs_below_a_circle_is_not_in_it() -> None:
    _, edges = Corpus().graph()
    edge = edges.filter(pl.col("relation") == "parent_of").head(1)
    ends = [("one", "two"), ("two", "one"), ("two", "below"), ("root", "leaf")]
    rows = [edge.with_columns(source_id=pl.lit(source), target_id=pl.lit(target)) for source, target in ends]
    faults = find_parent_cycles(Edges.validate(pl.concat(rows)))
    assert faults.select("source_id", "target_id").rows() == [("one", "two"), ("two", "one")]


def test_an_edge_to_nothing_dangles() -> None:
    nodes, edges = Corpus().graph()
    less = Nodes.validate(nodes.filter(pl.col("node_id") != _PARAGRAPH))
    ends = find_dangling_edges(edges, less).select("source_id", "target_id").rows()
    assert ends
    assert all(_PARAGRAPH in pair for pair in ends)


def test_a_node_that_hangs_on_nothing_is_not_connected() -> None:
    corpus = Corpus()
    nodes, edges = corpus.graph()
    inside = nodes.filter(pl.col("level") != "external").height
    assert find_unconnected_nodes(nodes, edges)["node_id"].to_list() == ["f9--2032-draft"], "it speaks to nothing"
    assert score_connected(nodes, edges) == share_connected_across_documents(nodes, edges) == 1 - 1 / inside
    cut = edges.filter((pl.col("relation") != "parent_of") | (pl.col("target_id") != "f9--2031-01:p0001:e021"))
    lost = find_unconnected_nodes(nodes, Edges.validate(cut))["node_id"].to_list()
    assert lost == ["f9--2031-01:p0001:e021", "f9--2032-draft"], "that it follows another does not tie it"


def test_a_document_that_relates_only_its_own_parts_reaches_nothing_else() -> None:
    corpus = Corpus()
    corpus.documents, corpus.references = corpus.documents[3:4], corpus.references[:1]
    corpus.anchors, corpus.sections = corpus.anchors[2:], corpus.sections[1:]
    corpus.elements, corpus.faces, corpus.registry = corpus.elements[3:4], [], []
    nodes, edges = corpus.graph()
    assert (score_connected(nodes, edges), share_connected_across_documents(nodes, edges)) == (1.0, 0.0)
    assert score_related(nodes, edges) == {"related anchor": 1 / 3, "related paragraph": 1 / 2}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"relation": "includes"}, "includes, portion_of or defines with negative polarity"),
        ({"polarity": "positive"}, "excludes with positive polarity"),
        ({"relation": "external_ref"}, "external_ref to a node of the corpus"),
        ({"target_id": "ext:form:Form 7", "relation": "references_form"}, "plain reference to an external node"),
        ({"relation": "supersedes"}, "origin does not match the relation"),
        ({"created_by": "structural"}, "origin does not match the relation"),
    ],
)
def test_a_relation_out_of_its_meaning_is_found(change: dict[str, str], fault: str) -> None:
    nodes, edges = Corpus().graph()
    assert find_misused_relations(edges, nodes).is_empty()
    row = edges.filter(pl.col("relation") == "excludes").with_columns(**{k: pl.lit(v) for k, v in change.items()})
    assert any(fault in found for found in find_misused_relations(Edges.validate(row), nodes)["fault"])


@pytest.mark.parametrize("change", [{"rule_id": ""}, {"page": 7}, {"element_id": "f9--2031-01:p0001:e021"}])
def test_an_edge_that_does_not_tell_where_it_comes_from(change: dict[str, object]) -> None:
    corpus = Corpus()
    nodes, edges = corpus.graph()
    sections = corpus.frames()["sections"]
    assert find_unprovenanced_edges(edges, sections, nodes=nodes).is_empty()
    row = edges.filter(pl.col("relation") == "excludes")
    forged = row.with_columns(**{k: pl.lit(v, row.schema[k]) for k, v in change.items()})
    assert find_unprovenanced_edges(Edges.validate(forged), sections, nodes=nodes).height == 1


def test_a_node_without_a_place() -> None:
    nodes, _ = Corpus().graph()
    is_it = pl.col("node_id") == _PARAGRAPH
    bare = nodes.with_columns(page=pl.when(is_it).then(None).otherwise("page"))
    assert find_unplaced_nodes(Nodes.validate(bare))["node_id"].to_list() == [_PARAGRAPH]


def test_evidence_that_does_not_slice_back() -> None:
    corpus = Corpus()
    nodes, edges = corpus.graph()
    sections = corpus.frames()["sections"]
    forged = edges.with_columns(
        evidence=pl.when(pl.col("relation") == "excludes").then(pl.lit("made up")).otherwise("evidence")
    )
    assert find_unsupported_edges(Edges.validate(forged), sections, nodes=nodes)["relation"].to_list() == ["excludes"]
    moved = corpus.frames()["references"].with_columns(evidence=pl.lit("made up"))
    assert find_false_evidence(References.validate(moved), sections).height == 2
