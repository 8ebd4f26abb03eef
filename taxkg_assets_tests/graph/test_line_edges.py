"""Edges between lines lead as statements say, with evidence that slices out of the passage or the label."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.graph.integrity import find_unprovenanced_edges, find_unsupported_edges
from taxkg_assets.graph.line_edges import find_flow_edges
from taxkg_assets.schemas import Edges, Flows, Lines, Nodes, Sections

BOX = {"x0_pt": 1.0, "y0_pt": 1.0, "x1_pt": 2.0, "y1_pt": 2.0}
LABEL = "Dues. Add lines 1 and 2. Enter here and on Form 2041, line 7"
PASSAGE = "Include the amount from line 3 of Form 2040 on Form 2041, line 7."


def _frames() -> tuple[Any, Any, Any]:
    places = [("f2040", "line_1", "Berths"), ("f2040", "line_3", LABEL), ("f2041", "line_7", "Dues of all")]
    lines = [
        {"document_id": document, "part": "", "key": key, "anchor_id": f"{document}#{key}", "label": label}
        for document, key, label in places
    ]
    nodes = [
        {"node_id": row["anchor_id"], "document_id": row["document_id"], "level": "anchor", "text": row["label"]}
        for row in lines
    ]
    section = {"element_id": "p9:e1", "document_id": "p9", "text": PASSAGE}
    pieces = [{"start": 0, "end": len(PASSAGE), "page": 4, **BOX}]
    return (
        Lines.sample(overrides=lines),
        Nodes.sample(overrides=nodes),
        Sections.sample(overrides=[{**section, "pieces": pieces}]),
    )


def _flow(relation: str, source: str, target: str, evidence: str, *, element: str | None = None) -> dict[str, Any]:
    text = PASSAGE if element else LABEL
    row = {"relation": relation, "evidence": evidence, "element_id": element, "problem": "", "agreement": "one_side"}
    row |= {"start": text.index(evidence), "end": text.index(evidence) + len(evidence), "page": 4 if element else 1}
    for end, (document, _, key) in (("source", source.partition("#")), ("target", target.partition("#"))):
        row |= {f"{end}_document_id": document, f"{end}_part": "", f"{end}_key": key, f"{end}_line": key}
    return row | {"is_same_year": True, "rule_id": "a_rule", "document_id": "p9" if element else "f2040"}


@pytest.mark.parametrize(
    ("flow", "ends"),
    [
        (
            _flow("flows_to", "f2040#line_3", "f2041#line_7", "here and on Form 2041, line 7"),
            ("f2040#line_3", "f2041#line_7"),
        ),
        (_flow("computed_from", "f2040#line_1", "f2040#line_3", "Add lines 1 and 2"), ("f2040#line_3", "f2040#line_1")),
        (
            _flow("flows_to", "f2040#line_3", "f2041#line_7", PASSAGE[:-1], element="p9:e1"),
            ("f2040#line_3", "f2041#line_7"),
        ),
        (
            _flow("from_form", "f2040#line_3", "f2041#line_7", PASSAGE[:-1], element="p9:e1"),
            ("f2041#line_7", "f2040#line_3"),
        ),
    ],
)
def test_an_edge_leads_as_its_relation_says(flow: dict[str, Any], ends: tuple[str, str]) -> None:
    lines, nodes, sections = _frames()
    edges = Edges.validate(find_flow_edges(Flows.sample(overrides=[flow]), lines, nodes))
    assert edges.select("source_id", "target_id").rows() == [ends]
    assert find_unsupported_edges(edges, sections, nodes=nodes).is_empty()
    assert find_unprovenanced_edges(edges, sections, nodes=nodes).is_empty()
    forged = Edges.validate(edges.with_columns(evidence=pl.lit("made up")))
    assert find_unsupported_edges(forged, sections, nodes=nodes).height == 1


def test_an_open_end_makes_no_edge() -> None:
    lines, nodes, _ = _frames()
    flow = _flow("flows_to", "f2040#line_3", "f2041#line_7", "here and on Form 2041, line 7")
    assert find_flow_edges(Flows.sample(overrides=[{**flow, "problem": "source: none"}]), lines, nodes).is_empty()
