"""Distance of two passages in the graph.

A step leads along a reference, a semantic relation or `same_field`, or between a paragraph or table and the heading
that owns it. Higher headings, reading order and `same_concept` are not steps: with them, everything in a document would
be close to everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import dataframely as dy
import polars as pl

from taxkg_assets.schemas import PLAIN_RELATIONS, SEMANTIC_RELATIONS, Edges, Nodes

STEPS = (*PLAIN_RELATIONS, *SEMANTIC_RELATIONS, "same_field", "same_field_other_revision")
_CONTENT = ("paragraph", "table")


@dataclass(frozen=True, slots=True)
class Distances:
    """Adjacency of the graph for distances, with sentences merged into their paragraphs.

    Attributes:
        neighbors: Nodes one step away, by node.
        related: Nodes joined by a semantic relation, in either direction, by node.
        paragraph_of: Paragraph of each sentence.
    """

    neighbors: Mapping[str, tuple[str, ...]]
    related: Mapping[str, frozenset[str]]
    paragraph_of: Mapping[str, str]

    def find_near(self, node_ids: Iterable[str], *, within: int) -> dict[str, int]:
        """Return the nodes within a number of steps, with their distances.

        Args:
            node_ids: Nodes to start from.
            within: Maximum number of steps.
        """
        distance_of = {self.paragraph_of.get(node_id, node_id): 0 for node_id in node_ids}
        last_reached = list(distance_of)
        for step in range(1, within + 1):
            neighbors = (neighbor for node_id in last_reached for neighbor in self.neighbors.get(node_id, ()))
            last_reached = list(dict.fromkeys(neighbor for neighbor in neighbors if neighbor not in distance_of))
            distance_of |= dict.fromkeys(last_reached, step)
        return distance_of

    def find_related(self, node_ids: Iterable[str]) -> set[str]:
        """Return the nodes that a semantic relation connects with given nodes, in either direction.

        Args:
            node_ids: Nodes to start from.
        """
        paragraphs = {self.paragraph_of.get(node_id, node_id) for node_id in node_ids}
        return {node_id for paragraph in paragraphs for node_id in self.related.get(paragraph, ())}


def read_distances(edges: dy.DataFrame[Edges], nodes: dy.DataFrame[Nodes]) -> Distances:
    """Build the adjacency of the graph in both directions, without external nodes.

    Args:
        edges: Edges of the graph.
        nodes: Nodes of the graph.

    Returns:
        Adjacency with sentences merged into their paragraphs.
    """
    levels = nodes.select("node_id", "level")
    sentences = nodes.filter(pl.col("level") == "sentence").select("node_id", "parent_id")
    paragraph_of = {node_id: parent for node_id, parent in sentences.iter_rows() if parent is not None}
    ends = edges.select("source_id", "target_id", "relation").join(
        levels.rename({"node_id": "target_id", "level": "target_level"}), on="target_id"
    )
    is_owned_content = (pl.col("relation") == "parent_of") & pl.col("target_level").is_in(_CONTENT)
    is_step = pl.col("relation").is_in(STEPS) & (pl.col("target_level") != "external")
    neighbors: dict[str, set[str]] = {}
    related: dict[str, set[str]] = {}
    for source, target, relation in (
        ends.filter(is_owned_content | is_step).select("source_id", "target_id", "relation").iter_rows()
    ):
        first, second = paragraph_of.get(source, source), paragraph_of.get(target, target)
        if first != second:
            neighbors.setdefault(first, set()).add(second)
            neighbors.setdefault(second, set()).add(first)
            if relation in SEMANTIC_RELATIONS:
                related.setdefault(first, set()).add(second)
                related.setdefault(second, set()).add(first)
    return Distances(
        neighbors={node_id: tuple(sorted(neighbor_ids)) for node_id, neighbor_ids in neighbors.items()},
        related={node_id: frozenset(related_ids) for node_id, related_ids in related.items()},
        paragraph_of=paragraph_of,
    )
