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
        at_most: Number of nodes to show; the node's own places are always shown.

    Returns:
        Nodes and edges, sorted by their keys.
    """
    own = _find_own(nodes, edges, node_id=node_id)
    touching = pl.col("source_id").is_in(list(own)) | pl.col("target_id").is_in(list(own))
    stated = edges.filter(touching, ~pl.col("relation").is_in(_ROUGH)).sort(
        pl.col("confidence").neg(), "source_id", "target_id", "relation", "start"
    )
    ends = pl.concat([stated["source_id"], stated["target_id"]]).unique(maintain_order=True).to_list()
    own -= set(nodes.filter(pl.col("level") == "sentence")["node_id"]) - {*ends, node_id}
    wanted = [*sorted(own), *[end for end in ends if end not in own]]
    shown = wanted[: max(at_most, len(own))]
    tree = edges.filter(pl.col("relation") == "parent_of")
    kept = pl.concat([stated, tree]).filter(pl.col("source_id").is_in(shown), pl.col("target_id").is_in(shown))
    ends_kept = {*kept["source_id"], *kept["target_id"], node_id}
    return Neighborhood(
        node_id=node_id,
        own=frozenset(own),
        nodes=nodes.filter(pl.col("node_id").is_in(sorted(ends_kept))).sort("node_id"),
        edges=kept.sort("source_id", "target_id", "relation", "start"),
        left_out=len(wanted) - len(shown),
    )


def _find_own(nodes: pl.DataFrame, edges: pl.DataFrame, *, node_id: str) -> set[str]:
    """Collect the places of a node, and what is below them without a key of its own; of a document itself only."""
    touches = (pl.col("source_id") == node_id) | (pl.col("target_id") == node_id)
    same = edges.filter(pl.col("relation").is_in(_SAME), touches)
    own = {node_id, *same["source_id"], *same["target_id"]}
    documents = set(nodes.filter(pl.col("level") == "document")["node_id"])
    inside = nodes.filter(pl.col("parent_id").is_not_null()).select("node_id", "parent_id", "anchor_key", "level")
    keys = dict(nodes.select("node_id", "anchor_key").iter_rows())
    frontier = own - documents
    while frontier:
        below = inside.filter(pl.col("parent_id").is_in(list(frontier)))
        frontier = {
            child
            for child, parent, key, level in below.iter_rows()
            if child not in own and (level != "anchor" or key == keys[parent])
        }
        own |= frontier
    return own
