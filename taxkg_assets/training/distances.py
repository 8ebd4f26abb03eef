"""Distance of two passages in the graph.

A step is a reference, a semantic relation, `same_field`, or the way between a paragraph or table and the heading that
owns it. Headings above that, reading order and `same_concept` are not steps: with them, everything in a document would
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
            within: Most steps.
        """
        near = {self.paragraph_of.get(name, name): 0 for name in node_ids}
        frontier = list(near)
        for step in range(1, within + 1):
            reached = dict.fromkeys(n for name in frontier for n in self.neighbors.get(name, ()) if n not in near)
            near |= dict.fromkeys(reached, step)
            frontier = list(reached)
        return near

    def find_related(self, node_ids: Iterable[str]) -> set[str]:
        """Return the nodes that a semantic relation connects with given nodes, in either direction.

        Args:
            node_ids: Nodes to start from.
        """
        return {n for name in node_ids for n in self.related.get(self.paragraph_of.get(name, name), ())}


def read_distances(edges: dy.DataFrame[Edges], nodes: dy.DataFrame[Nodes]) -> Distances:
    """Build the adjacency of the graph without external nodes.

    Args:
        edges: Edges of the graph.
        nodes: Nodes of the graph.

    Returns:
        Adjacency in both directions, sentences merged into their paragraphs.
    """
    levels = nodes.select("node_id", "level")
    sentences = nodes.filter(pl.col("level") == "sentence").select("node_id", "parent_id")
    paragraph_of = {name: parent for name, parent in sentences.iter_rows() if parent is not None}
    ends = edges.select("source_id", "target_id", "relation").join(
        levels.rename({"node_id": "target_id", "level": "target_level"}), on="target_id"
    )
    owned = (pl.col("relation") == "parent_of") & pl.col("target_level").is_in(_CONTENT)
    stepped = pl.col("relation").is_in(STEPS) & (pl.col("target_level") != "external")
    neighbors: dict[str, set[str]] = {}
    related: dict[str, set[str]] = {}
    for source, target, relation in (
        ends.filter(owned | stepped).select("source_id", "target_id", "relation").iter_rows()
    ):
        one, other = paragraph_of.get(source, source), paragraph_of.get(target, target)
        if one != other:
            neighbors.setdefault(one, set()).add(other)
            neighbors.setdefault(other, set()).add(one)
            if relation in SEMANTIC_RELATIONS:
                related.setdefault(one, set()).add(other)
                related.setdefault(other, set()).add(one)
    return Distances(
        neighbors={name: tuple(sorted(neighbor)) for name, neighbor in neighbors.items()},
        related={name: frozenset(found) for name, found in related.items()},
        paragraph_of=paragraph_of,
    )
