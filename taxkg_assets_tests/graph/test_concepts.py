"""Entries of an invented index become concepts that lead to passages."""

from __future__ import annotations

from typing import Any

from taxkg_assets.graph.integrity import find_misused_relations, find_tree_faults, find_unplaced_nodes
from taxkg_assets_tests.graph.corpora import Corpus

HEADING = "i9--2030-01#02"
PARAGRAPH = "i9--2030-01:p0001:e031"


def entry(link_ix: int, term: str, subterm: str = "", **target: str) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(
        ["element_id", "start", "end", "target_page", "target_y_pt", "target_publisher_id", "target_irs_name", "url"]
    )
    row |= dict.fromkeys(["target_anchor_id", "target_element_id", "target_table_id"])
    row |= {"document_id": "i9--2030-01", "page": 9, "link_ix": link_ix, "bboxes": [], "text": "4", "kind": "index"}
    return {**row, "term": term, "subterm": subterm, **target}


def test_a_term_is_one_concept_however_it_is_printed() -> None:
    corpus = Corpus()
    corpus.links = [
        entry(0, "Pay", target_anchor_id=HEADING),
        entry(1, "PAY (Cont.)", target_element_id=PARAGRAPH),
        entry(2, "Pay", "Withheld tax", target_anchor_id=HEADING, target_element_id=PARAGRAPH),
        entry(3, "Lost term"),
        entry(4, "Strange term", target_anchor_id="nowhere"),
        {**entry(5, "See Pay", target_anchor_id=HEADING), "kind": "section"},
    ]
    nodes, edges = corpus.graph()
    concepts = nodes.filter(level="concept")
    assert concepts.select("node_id", "text", "document_id").rows() == [
        ("concept:pay", "Pay", None),
        ("concept:pay/withheld-tax", "Pay: Withheld tax", None),
    ]
    assert edges.filter(relation="indexed_at").select("source_id", "target_id").rows() == [
        ("concept:pay", HEADING),
        ("concept:pay", PARAGRAPH),
        ("concept:pay/withheld-tax", HEADING),
    ]
    assert find_tree_faults(nodes).is_empty()
    assert find_unplaced_nodes(nodes).is_empty()
    assert find_misused_relations(edges, nodes).is_empty()
