"""A document whose references lead nowhere, or that refers to nothing, is found; the others are not."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.graph.document_checks import find_lost_references, find_unrelated_nodes
from taxkg_assets.rules.models.document_checks import load_document_checks

LEAST_REFERENCES = load_document_checks().references_lead_to_a_place.least_references
LEAST_NODES = load_document_checks().passages_are_related.least_nodes


def references(document_id: str, count: int) -> list[dict[str, Any]]:
    """References of a document to chapters, one per element."""
    return [
        {
            "document_id": document_id,
            "page": 1,
            "element_id": f"{document_id}-{ix}",
            "start": 0,
            "rule_id": "chapter",
            "relation": "references",
            "is_self": False,
            "evidence": f"See chapter {ix}.",
        }
        for ix in range(count)
    ]


def resolved(document_id: str, count: int) -> list[dict[str, Any]]:
    """Edges of the first references of a document."""
    keys = ("element_id", "start", "rule_id")
    return [
        {**{key: row[key] for key in keys}, "created_by": "rule", "relation": "references_section"}
        for row in references(document_id, count)
    ]


@pytest.mark.parametrize(
    ("count", "resolved_count", "lost_count"),
    [
        (LEAST_REFERENCES, 0, LEAST_REFERENCES),
        (LEAST_REFERENCES - 1, 0, 0),
        (2 * LEAST_REFERENCES, LEAST_REFERENCES, LEAST_REFERENCES),
        (2 * LEAST_REFERENCES, 2 * LEAST_REFERENCES - 1, 0),
    ],
)
def test_references_are_lost_where_they_are_many(count: int, resolved_count: int, lost_count: int) -> None:
    rows: Any = pl.DataFrame(references("odd", count) + references("even", LEAST_REFERENCES))
    edges: Any = pl.DataFrame(resolved("odd", resolved_count) + resolved("even", LEAST_REFERENCES))
    lost = find_lost_references(rows, edges)
    assert lost.height == lost_count
    assert set(lost["document_id"]) <= {"odd"}


def test_a_mention_of_the_own_box_needs_no_target() -> None:
    mentions: Any = pl.DataFrame([{**row, "is_self": True} for row in references("odd", LEAST_REFERENCES)])
    edges: Any = pl.DataFrame(resolved("even", 1))
    assert find_lost_references(mentions, edges).is_empty()


def tree(document_id: str, count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A document with paragraphs right below it: its nodes, and the edges of their tree."""
    names = [f"{document_id}/{ix}" for ix in range(count)]
    levels = ["document", *["paragraph"] * (count - 1)]
    nodes = [
        {"node_id": name, "document_id": document_id, "level": level, "page": 1, "text": name}
        for name, level in zip(names, levels, strict=True)
    ]
    edges = [{"source_id": names[0], "target_id": name, "relation": "parent_of"} for name in names[1:]]
    return nodes, edges


@pytest.mark.parametrize(("count", "is_found"), [(LEAST_NODES, True), (LEAST_NODES - 1, False)])
def test_a_document_without_any_reference_is_unrelated(count: int, is_found: bool) -> None:
    nodes, edges = (part + other for part, other in zip(tree("odd", count), tree("even", LEAST_NODES), strict=True))
    edges.append({"source_id": "even/1", "target_id": "even/2", "relation": "references_section"})
    unrelated = find_unrelated_nodes(*(_frame(rows) for rows in (nodes, edges)))
    assert unrelated.height == (count if is_found else 0)
    assert set(unrelated["document_id"]) <= {"odd"}


def _frame(rows: list[dict[str, Any]]) -> Any:
    return pl.DataFrame(rows)
