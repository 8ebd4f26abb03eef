"""What drawings of a neighborhood share: names of nodes, colors, and a place for each node."""

from __future__ import annotations

import polars as pl

from taxkg_assets.graph.neighborhood import Neighborhood
from taxkg_assets.records import EdgeRecord, NodeRecord

NODE_COLORS = {
    "face": "#2f6fb0",
    "filer": "#2a9d5c",
    "recipient": "#d98b1e",
    "publication": "#7a5aa6",
    "statute": "#8a6d3b",
    "other": "#6c757d",
    "external": "#b8bec4",
}
"""Color by perspective of a node; nodes outside the corpus have their own."""

EDGE_LABELS = {"#1b7f3b": "states", "#c0392b": "denies", "#8d99a6": "is next to or under"}
"""Meaning of the colors of edges."""

SEMANTIC_RELATIONS = ("includes", "excludes", "defines", "applies_if", "qualifies", "requires", "portion_of")
_LABEL_CHARACTERS = 46


def name_node(row: NodeRecord) -> str:
    """Return a short name of a node: its key and the beginning of its text.

    Args:
        row: Row of `nodes`.

    Returns:
        Name of about `_LABEL_CHARACTERS` characters.
    """
    text = " ".join(row["text"].split())
    name = text if len(text) <= _LABEL_CHARACTERS else text[: _LABEL_CHARACTERS - 1].rstrip() + "…"
    if row["level"] in ("paragraph", "sentence", "table") and row["anchor_key"]:
        return f"{row['anchor_key'].replace('_', ' ')}: {name}"
    return name or row["node_id"]


def describe_neighborhood(found: Neighborhood, row: NodeRecord) -> str:
    """Return the node's name, and how much of its neighborhood is shown.

    Args:
        found: Nodes and edges to draw.
        row: The node's row of `nodes`.
    """
    total = found.nodes.height + found.left_out
    return f"{name_node(row)} — {found.nodes.height} of {total} nodes" if found.left_out else name_node(row)


def place_nodes(found: Neighborhood) -> dict[str, tuple[float, float]]:
    """Assign each node a column and a row in it.

    Column 0 has the citing nodes, column 1 the places of the drawn node itself, column 2 the cited nodes.

    Args:
        found: Nodes and edges to draw.

    Returns:
        Column and row by id of the node; the rows of a short column are spread over the height of the longest.
    """
    cited = set(found.edges.filter(pl.col("source_id").is_in(sorted(found.own)))["target_id"])
    columns: dict[int, list[str]] = {0: [], 1: [], 2: []}
    order = found.nodes.sort("document_id", "ordinal", "node_id", nulls_last=True)
    for node_id in order["node_id"]:
        if node_id in found.own:
            columns[1].append(node_id)
        else:
            columns[2 if node_id in cited else 0].append(node_id)
    longest = max(len(column) for column in columns.values())
    return {
        node_id: (float(x), (ix + 0.5) * longest / len(column))
        for x, column in columns.items()
        for ix, node_id in enumerate(column)
    }


def find_node_color(row: NodeRecord) -> str:
    """Return the color of a node.

    Args:
        row: Row of `nodes`.
    """
    return NODE_COLORS["external"] if row["level"] == "external" else NODE_COLORS[row["perspective"] or "other"]


def find_edge_color(row: EdgeRecord) -> str:
    """Return the color of an edge.

    Args:
        row: Row of `edges`.
    """
    if row["polarity"] == "negative":
        return "#c0392b"
    return "#1b7f3b" if row["relation"] in SEMANTIC_RELATIONS else "#8d99a6"
