"""Edges between lines: what `flows` states, where both ends are nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.graph.flow_tables import TABLE_RULES
from taxkg_assets.graph.line_nodes import node_of
from taxkg_assets.records import LineRecord, iter_records
from taxkg_assets.schemas import Edges, Flows, Lines, Nodes

_SURE = 0.95
_NEAR = 0.8


def find_flow_edges(flows: dy.DataFrame[Flows], lines: dy.DataFrame[Lines], nodes: dy.DataFrame[Nodes]) -> pl.DataFrame:
    """Build edges between lines from flows and formulas.

    Args:
        flows: Statements with their ends; those of which an end is open make no edge.
        lines: Numbered fields.
        nodes: Nodes of the graph.

    Returns:
        Rows of `edges`.
    """
    texts = dict(nodes.filter(pl.col("level") == "anchor").select("node_id", "text").iter_rows())
    ids = {(row["document_id"], row["part"], row["key"]): node_of(row) for row in iter_records(lines, LineRecord)}
    rows = []
    stated = flows.filter((pl.col("problem") == "") & ~pl.col("rule_id").is_in(TABLE_RULES))
    for flow in stated.iter_rows(named=True):
        source, target = (
            ids.get((flow[f"{end}_document_id"], flow[f"{end}_part"], flow[f"{end}_key"]), "")
            for end in ("source", "target")
        )
        if flow["relation"] != "flows_to":
            source, target = target, source
        if source not in texts or target not in texts:
            continue
        start = flow["start"]
        if flow["element_id"] is None:
            start = texts[source].find(flow["evidence"])
        if start >= 0:
            rows.append(_row_of(flow, source, target, start))
    return pl.DataFrame(rows, schema=Edges.create_empty().schema, orient="row")


def _row_of(flow: Mapping[str, Any], source: str, target: str, start: int) -> dict[str, Any]:
    return {
        "source_id": source,
        "target_id": target,
        "relation": flow["relation"],
        "start": start,
        "end": start + len(flow["evidence"]),
        "element_id": flow["element_id"],
        "polarity": "positive",
        "confidence": _SURE if flow["is_same_year"] and flow["agreement"] != "contradicted" else _NEAR,
        "evidence": flow["evidence"],
        "page": flow["page"],
        "created_by": "rule",
        "rule_id": flow["rule_id"],
    }
