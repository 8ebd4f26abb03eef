"""Export of the graph to GraphML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dataframely as dy
import networkx as nx

from taxkg_assets.schemas import Edges, Nodes

_NODE = ("document_id", "perspective", "level", "anchor_key", "canonical_id", "heading_path", "text", "page")
_EDGE = (
    "relation",
    "polarity",
    "confidence",
    "evidence",
    "start",
    "end",
    "element_id",
    "page",
    "created_by",
    "rule_id",
)
_NO_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535))


def render_graphml(nodes: dy.DataFrame[Nodes], edges: dy.DataFrame[Edges]) -> str:
    """Render the graph as GraphML.

    Args:
        nodes: Nodes of the graph.
        edges: Edges of the graph.

    Returns:
        XML with one key per column, absent where a row has no value; characters that XML forbids are removed.
    """
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for row in nodes.sort("node_id").iter_rows(named=True):
        concepts = {"concepts": " | ".join(row["concepts"])} if row["concepts"] else {}
        graph.add_node(_clean(row["node_id"]), **_pick(row, _NODE), **concepts)
    for row in edges.sort("source_id", "target_id", "relation", "start").iter_rows(named=True):
        graph.add_edge(_clean(row["source_id"]), _clean(row["target_id"]), **_pick(row, _EDGE))
    return "\n".join(nx.generate_graphml(graph, prettyprint=False))


def _pick(row: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _clean(row[name]) for name in names if row[name] is not None}


def _clean(value: Any) -> Any:
    """Remove the characters that XML forbids."""
    return value.translate(_NO_XML) if isinstance(value, str) else value
