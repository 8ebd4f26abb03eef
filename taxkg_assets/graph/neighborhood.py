"""Neighborhood of a node: its own places, the nodes that they refer to, and the nodes that refer to them."""

from __future__ import annotations

from dataclasses import dataclass

import dataframely as dy
import polars as pl

from taxkg_assets.schemas import Edges, Nodes

_SAME = ("same_field", "same_field_other_revision")
_ROUGH = ("parent_of", "follows")


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """A node with its surroundings in the graph, for display.

    Attributes:
        node_id: Requested node.
        own: Nodes that belong to the requested one: headings of one box, and everything below them.
        nodes: Rows of `nodes` to show.
        edges: Rows of `edges` between them.
        left_out: Number of adjacent nodes not shown.
    """

    node_id: str
    own: frozenset[str]
    nodes: pl.DataFrame
    edges: pl.DataFrame
    left_out: int = 0


def find_neighborhood(
    nodes: dy.DataFrame[Nodes], edges: dy.DataFrame[Edges], *, node_id: str, at_most: int = 60
) -> Neighborhood:
    """Collect the nodes around a node: what it cites, and what cites it.

    A box includes its field on the form, the headings aligned with it and everything below them, except sentences
    without relations. Of the adjacent nodes the most confident are shown.

    Args:
        nodes: Nodes of the graph.
        edges: Edges of the graph.
        node_id: Node to start from.
        at_most: Maximum number of nodes to show; the node itself, its field and its headings are always shown.

    Returns:
        Nodes and edges, sorted by their keys.
    """
    own_ids = _find_own(nodes, edges, node_id=node_id)
    touching = pl.col("source_id").is_in(list(own_ids)) | pl.col("target_id").is_in(list(own_ids))
    stated = edges.filter(touching, ~pl.col("relation").is_in(_ROUGH)).sort(
        pl.col("confidence").neg(), "source_id", "target_id", "relation", "start"
    )
    ends = pl.concat([stated["source_id"], stated["target_id"]]).unique(maintain_order=True).to_list()
    own_ids -= set(nodes.filter(pl.col("level") == "sentence")["node_id"]) - {*ends, node_id}
    ranked_ids = [*sorted(own_ids), *[end for end in ends if end not in own_ids]]
    shown_ids = ranked_ids[: max(at_most, len(own_ids))]
    tree = edges.filter(pl.col("relation") == "parent_of")
    shown_edges = pl.concat([stated, tree]).filter(
        pl.col("source_id").is_in(shown_ids), pl.col("target_id").is_in(shown_ids)
    )
    ends_kept = {*shown_edges["source_id"], *shown_edges["target_id"], node_id}
    return Neighborhood(
        node_id=node_id,
        own=frozenset(own_ids),
        nodes=nodes.filter(pl.col("node_id").is_in(sorted(ends_kept))).sort("node_id"),
        edges=shown_edges.sort("source_id", "target_id", "relation", "start"),
        left_out=len(ranked_ids) - len(shown_ids),
    )


def _find_own(nodes: pl.DataFrame, edges: pl.DataFrame, *, node_id: str) -> set[str]:
    """Collect the places of a node, and what is below them without a key of its own; of a document itself only."""
    touches = (pl.col("source_id") == node_id) | (pl.col("target_id") == node_id)
    same_field_edges = edges.filter(pl.col("relation").is_in(_SAME), touches)
    own_ids = {node_id, *same_field_edges["source_id"], *same_field_edges["target_id"]}
    documents = set(nodes.filter(pl.col("level") == "document")["node_id"])
    inside = nodes.filter(pl.col("parent_id").is_not_null()).select("node_id", "parent_id", "anchor_key", "level")
    keys = dict(nodes.select("node_id", "anchor_key").iter_rows())
    frontier = own_ids - documents
    while frontier:
        below = inside.filter(pl.col("parent_id").is_in(list(frontier)))
        frontier = {
            child
            for child, parent, key, level in below.iter_rows()
            if child not in own_ids and (level != "anchor" or key == keys[parent])
        }
        own_ids |= frontier
    return own_ids
