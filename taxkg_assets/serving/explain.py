"""A node of the graph in full, and the graph for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.markup import escape

from taxkg_assets.defs.home.store import atomic_write
from taxkg_assets.graph.export import render_graphml
from taxkg_assets.graph.lookup import find_boxes
from taxkg_assets.graph.neighborhood import Neighborhood, find_neighborhood
from taxkg_assets.graph.neighborhood_layout import name_node
from taxkg_assets.graph.resolution import face_node_id
from taxkg_assets.records import EdgeRecord, NodeRecord, iter_records
from taxkg_assets.schemas import Documents, Edges, Nodes, Registry
from taxkg_assets.serving.released import Released


class NodeNotFoundError(Exception):
    """No such node, and no box of that name; the message says how to name nodes."""


class NamedEdgeRecord(EdgeRecord):
    """An edge with the names of the nodes at its ends."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Explained:
    """An explained node: its edges with both ends named, and its neighborhood in the graph."""

    node: NodeRecord
    edges: list[NamedEdgeRecord]
    around: Neighborhood

    def row(self) -> dict[str, Any]:
        """Return the explanation as one JSON object: the columns of the node, its edges, and its neighborhood."""
        neighborhood = {"nodes": self.around.nodes["node_id"].to_list(), "edges": self.around.edges.height}
        return {**self.node, "edges": self.edges, "around": neighborhood}


def explain(released: Released, words: Sequence[str]) -> Explained:
    """Find a node of the graph, its edges with both ends named, and its neighborhood.

    Args:
        released: The release to read.
        words: Id of a node, or words that name a box, whose newest revision is used.

    Returns:
        The node with its neighborhood; a dense paragraph includes the edges of its sentences.

    Raises:
        NodeNotFoundError: There is no such node or box.
    """
    nodes = Nodes.cast(released.table("nodes"))
    edges = Edges.cast(released.table("edges"))
    node_id = _find_node(" ".join(words), nodes, released=released)
    node = next(iter_records(nodes.filter(pl.col("node_id") == node_id), NodeRecord))
    names_by_id = {row["node_id"]: name_node(row) for row in iter_records(nodes, NodeRecord)}
    sentences = nodes.filter(pl.col("level") == "sentence", pl.col("parent_id") == node_id)["node_id"]
    is_of_sentence = pl.col("source_id").is_in(sentences.implode()) & (pl.col("created_by") != "structural")
    relations = edges.filter((pl.col("source_id") == node_id) | (pl.col("target_id") == node_id) | is_of_sentence)
    sorted_relations = relations.sort("relation", "source_id", "target_id", "start")
    rows: list[NamedEdgeRecord] = [
        {**row, "source": names_by_id[row["source_id"]], "target": names_by_id[row["target_id"]]}
        for row in iter_records(sorted_relations, EdgeRecord)
    ]
    return Explained(node, rows, find_neighborhood(nodes, edges, node_id=node_id))


def _find_node(name: str, nodes: pl.DataFrame, *, released: Released) -> str:
    if not nodes.filter(pl.col("node_id") == name).is_empty():
        return name
    registry = Registry.cast(released.table("registry"))
    documents = Documents.cast(released.table("documents"))
    boxes = find_boxes(name, registry, documents=documents)
    if boxes.is_empty():
        raise NodeNotFoundError(
            f"The release has no node or box {name!r}. Give a form and a box (`1099-DIV 1a`), a document id, or a "
            "`node_id` as `taxkg search --json` prints it."
        )
    forms = boxes["form"].unique().sort()
    if len(forms) > 1:
        raise NodeNotFoundError(
            f"Several forms have a box {name!r}: {', '.join(forms)}. Name the form too, e.g. {forms[0]} {name}."
        )
    row = boxes.row(0, named=True)
    return face_node_id(row["document_id"], row["box_key"])


def show(explained: Explained, *, out: Console) -> None:
    """Print an explained node: its type and position, then its edges with their evidence.

    Args:
        explained: Result of `explain`.
        out: Console to print to.
    """
    node = explained.node
    kind = " ".join(part for part in (node["perspective"], node["level"]) if part)
    out.print(f"[bold]{escape(node['node_id'])}[/]  {kind}", highlight=False)
    location = f"{node['document_id']} p. {node['page']}" if node["document_id"] else "outside the corpus"
    for line in (location, node["heading_path"], node["canonical_id"], node["text"]):
        if line:
            out.print(f"  {escape(line)}", highlight=False)
    for row in explained.edges:
        is_out = row["target_id"] != node["node_id"]
        other, arrow = (row["target"], "→") if is_out else (row["source"], "←")
        relation = row["relation"] + (" (negative)" if row["polarity"] == "negative" else "")
        out.print(f"  [green]{arrow} {relation}[/] {escape(other)} [dim]{row['confidence']:.2f}[/]", highlight=False)
        if row["evidence"]:
            evidence = " ".join(row["evidence"].split())
            out.print(f"      [dim]p. {row['page']}, {row['rule_id']}:[/] {escape(evidence)}", highlight=False)


def export_graph(released: Released, folder: Path) -> dict[str, int]:
    """Write the graph as `graph.graphml`, and one Parquet file per table.

    Args:
        released: The release to read.
        folder: Folder of the files, created if needed.

    Returns:
        Path of each written file and its number of rows; for the GraphML file, nodes plus edges.
    """
    nodes = Nodes.cast(released.table("nodes"))
    edges = Edges.cast(released.table("edges"))
    folder.mkdir(parents=True, exist_ok=True)
    row_counts = {}
    for name, frame in (("nodes", nodes), ("edges", edges), ("registry", released.table("registry"))):
        path = folder / f"{name}.parquet"
        frame.write_parquet(path)
        row_counts[str(path)] = frame.height
    path = folder / "graph.graphml"
    atomic_write(path, render_graphml(nodes, edges).encode())
    row_counts[str(path)] = nodes.height + edges.height
    return row_counts
