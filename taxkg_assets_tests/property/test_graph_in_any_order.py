"""A graph of documents that were added, replaced and deleted in any order equals a graph built from nothing."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from taxkg_assets import schemas
from taxkg_assets.graph.edges import build_edges
from taxkg_assets.graph.memory import Memory
from taxkg_assets.graph.nodes import build_nodes
from taxkg_assets.graph.registry import build_registry
from taxkg_assets_tests.graph.corpora import Corpus, frame_of
from taxkg_assets_tests.graph.findings import Findings

pytestmark = pytest.mark.slow

TABLES = ("documents", "elements", "anchors", "faces", "sections", "references")
DOCUMENTS = [row["document_id"] for row in Corpus().documents]
Rows = dict[str, list[dict[str, Any]]]

versions = st.sampled_from(["first", "second"])
steps = st.lists(st.tuples(st.sampled_from(DOCUMENTS), st.one_of(st.none(), versions)), max_size=12)


def _read(document_id: str, version: str) -> Rows:
    """The rows of a document; its second version says other things and has lost its first heading's text."""
    corpus = Corpus()
    rows = {name: [dict(row) for row in getattr(corpus, name) if row["document_id"] == document_id] for name in TABLES}
    for row in rows["faces"]:
        row["revision"] = document_id.split("--")[1]
    if version == "second":
        for row in rows["documents"]:
            row["title"] += ", corrected"
        for row in rows["faces"]:
            row["label"] = f"{row['label']} anew"
        for row in rows["references"]:
            row |= {"relation": "requires", "polarity": "positive"}
        rows["sections"] = rows["sections"][1:]
        kept = {row["element_id"] for row in rows["sections"]}
        rows["references"] = [row for row in rows["references"] if row["element_id"] in kept]
    return rows


def _build(tables: Rows, *, is_shuffled: bool, memory: Memory | None = None) -> dict[str, pl.DataFrame]:
    frames: dict[str, Any] = {name: frame_of(getattr(schemas, name.capitalize()), tables[name]) for name in TABLES}
    if is_shuffled:
        frames = {name: frame.reverse() for name, frame in frames.items()}
    frames["tables"] = schemas.Tables.create_empty()
    frames["links"] = schemas.Links.create_empty()
    kept = {name: frames[name] for name in ("documents", "sections")}
    frames["registry"] = build_registry(frames["faces"], frames["anchors"], **kept)
    nodes = build_nodes(**frames)
    kept |= {name: frames[name] for name in ("references", "registry", "links")}
    none: dict[str, Any] = {"lines": schemas.Lines.create_empty(), "flows": schemas.Flows.create_empty()}
    edges = build_edges(nodes, frames["anchors"], **kept, **none, memory=memory)
    return {"registry": frames["registry"], "nodes": nodes, "edges": edges}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(steps=steps)
def test_any_sequence_of_changes_ends_where_a_clean_build_does(steps: list[tuple[str, str | None]]) -> None:
    kept: Rows = {name: [] for name in TABLES}
    standing: dict[str, str] = {}
    memory = Findings()
    for step, (document_id, version) in enumerate(steps):
        if step == len(steps) // 2:
            _build(kept, is_shuffled=True, memory=memory)
        for name in TABLES:
            kept[name] = [row for row in kept[name] if row["document_id"] != document_id]
        standing.pop(document_id, None)
        if version is not None:
            standing[document_id] = version
            for name, rows in _read(document_id, version).items():
                kept[name] += rows
    clean: Rows = {name: [] for name in TABLES}
    for document_id in sorted(standing):
        for name, rows in _read(document_id, standing[document_id]).items():
            clean[name] += rows
    built, rebuilt = _build(kept, is_shuffled=True, memory=memory), _build(clean, is_shuffled=False)
    for name, frame in built.items():
        assert_frame_equal(frame, rebuilt[name])
    inside = set(built["nodes"].filter(pl.col("level") != "external")["document_id"])
    assert inside == set(standing), "nothing of a deleted document is left"
