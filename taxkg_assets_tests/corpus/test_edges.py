"""Edges of the real forms against facts that were read from the pages before anybody inspected the edges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taxkg_assets.evaluation.edge_scores import EdgeLabels, read_edge_labels, score_edges

LABELS = Path(__file__).with_name("labelled_edges.jsonl")
KNOWN = [
    ("i1099div--2024-01.facsimile", "box_1a", "includes", "box_1b", "positive"),
    ("i1099div--2024-01.facsimile", "box_1a", "includes", "box_2e", "positive"),
    ("i1099div--2024-01.facsimile", "box_2a", "includes", "box_2b", "positive"),
    ("i1099div--2024-01.facsimile", "box_2a", "includes", "box_2c", "positive"),
    ("i1099div--2024-01.facsimile", "box_2a", "includes", "box_2d", "positive"),
    ("i1099div--2024-01.facsimile", "box_2a", "includes", "box_2f", "positive"),
    ("i1099div--2024-01.facsimile", "box_6", "excludes", "box_1b", "negative"),
    ("i1099div--2024-01.facsimile", "box_2f", "requires", "box_2e", "positive"),
    ("f1099int--2024-01", "box_1", "excludes", "box_3", "negative"),
    ("fw2--2025", "box_8", "excludes", "box_7", "negative"),
]


def _labels() -> EdgeLabels:
    return read_edge_labels(json.loads(line) for line in LABELS.read_text(encoding="utf8").splitlines())


def test_at_least_sixty_facts_over_five_forms() -> None:
    facts = [label for label in _labels().facts if not label.is_optional]
    assert len(facts) >= 60
    assert len({label.form for label in facts}) >= 5
    assert {label.half for label in facts} == {"development", "check"}
    assert {label.polarity for label in facts} == {"positive", "negative"}


@pytest.mark.parametrize("half", ["development", "check"])
def test_edges_say_what_the_pages_say(real_graph: dict[str, Any], half: str) -> None:
    score = score_edges(
        real_graph["edges"], _labels().of_half(half), nodes=real_graph["nodes"], documents=real_graph["documents"]
    )
    figures = {name: score.figure(name) for name in ("precision", "recall")}
    assert (figures["precision"] or 0) >= 0.9, score.misses.rows()
    assert (figures["recall"] or 0) >= 0.8, score.misses.rows()


@pytest.mark.parametrize(("document_id", "key", "relation", "target_key", "polarity"), KNOWN)
def test_known_relations_hold(
    real_graph: dict[str, Any], document_id: str, key: str, relation: str, target_key: str, polarity: str
) -> None:
    nodes = real_graph["nodes"].filter(pl.col("document_id") == document_id)
    sources = nodes.filter(pl.col("anchor_key") == key).select(source_id="node_id")
    targets = nodes.filter(pl.col("anchor_key") == target_key, pl.col("level") == "anchor").select(target_id="node_id")
    edges = real_graph["edges"].filter(pl.col("relation") == relation, pl.col("polarity") == polarity)
    found = edges.join(sources, on="source_id").join(targets, on="target_id")
    assert found.height
    assert all(found["evidence"])
