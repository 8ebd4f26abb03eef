"""Nodes: one tree per document, inherited identity, outside things on their own."""

from __future__ import annotations

from taxkg_assets.graph.integrity import find_tree_faults, find_unplaced_nodes
from taxkg_assets_tests.graph.corpora import Corpus, document, element


def test_every_document_is_a_tree_with_places() -> None:
    nodes, _ = Corpus().graph()
    assert find_tree_faults(nodes).is_empty()
    assert find_unplaced_nodes(nodes).is_empty()


def test_a_document_is_placed_on_what_its_first_page_holds() -> None:
    corpus = Corpus()
    corpus.elements += [
        element("f9--2031-01", 1, 1, x0_pt=20.0, y0_pt=0.5, x1_pt=40.0, y1_pt=50.0),
        element("f9--2031-01", 2, 0, x1_pt=99.0),
    ]
    nodes, _ = corpus.graph()
    row = next(row for row in nodes.to_dicts() if row["node_id"] == "f9--2031-01")
    assert row["bboxes"] == [{"page": 1, "x0_pt": 1.0, "y0_pt": 0.5, "x1_pt": 40.0, "y1_pt": 50.0}]


def test_a_document_that_prints_nothing_has_no_place_and_the_gate_says_so() -> None:
    corpus = Corpus()
    corpus.documents.append(document("p7--2031", "Pub. 7", "publication", "2031"))
    nodes, _ = corpus.graph()
    assert find_unplaced_nodes(nodes)["node_id"].to_list() == ["p7--2031"]


def test_a_paragraph_inherits_path_key_and_identity() -> None:
    nodes, _ = Corpus().graph()
    row = next(row for row in nodes.to_dicts() if row["node_id"] == "i9--2030-01:p0001:e021")
    assert row["heading_path"] == "Title of i9--2030-01 > Specific Instructions > Box 1. Pay"
    assert (row["anchor_key"], row["canonical_id"]) == ("box_1", "9/2031-01/box_1"), (
        "the booklet is younger than the older face"
    )
    assert (row["parent_id"], row["perspective"], row["concepts"]) == ("i9--2030-01#02", "filer", [])


def test_reading_order_is_numbered_without_gaps() -> None:
    nodes, _ = Corpus().graph()
    for (document_id,), part in nodes.group_by("document_id"):
        if document_id is not None:
            assert sorted(part["ordinal"]) == list(range(part.height))


def test_what_is_outside_the_corpus_moves_in_when_it_arrives() -> None:
    corpus = Corpus()
    nodes, _ = corpus.graph()
    assert nodes.filter(nodes["level"] == "external")["node_id"].to_list() == ["ext:form:Form 7"]
    corpus.documents[-1]["form"] = "7"
    for row in [*corpus.faces[-1:], *corpus.registry[-1:]]:
        row["form"] = "7"
    nodes, edges = corpus.graph()
    assert nodes.filter(nodes["level"] == "external").is_empty()
    assert ("i9--2030-01:p0001:e031", "f8--2031", "references_form") in edges.select(
        "source_id", "target_id", "relation"
    ).rows()


def test_the_order_of_input_rows_does_not_matter() -> None:
    corpus, turned = Corpus(), Corpus()
    for rows in (turned.documents, turned.anchors, turned.sections, turned.references, turned.registry, turned.faces):
        rows.reverse()
    assert corpus.graph()[0].equals(turned.graph()[0])
    assert corpus.graph()[1].equals(turned.graph()[1])
