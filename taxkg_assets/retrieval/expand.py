"""Graph expansion: passages joined to a passage by edges that carry meaning; never by `follows`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from taxkg_assets.rules.loader import load_family

if TYPE_CHECKING:  # schemas take a while to load, and no search reads one
    import dataframely as dy

    from taxkg_assets import schemas


@dataclass(frozen=True, slots=True)
class Step:
    """One edge that was followed, with its evidence."""

    source_id: str
    target_id: str
    relation: str
    evidence: str
    page: int | None

    def describe(self) -> dict[str, str | int | None]:
        """Return the edge for `via`."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


Neighbors = Mapping[str, tuple[Step, ...]]


def build_neighbors(edges: dy.DataFrame[schemas.Edges] | None) -> Neighbors:
    """Index the edges that expansion follows by their source.

    The source of a sentence's edge is its paragraph, as passages contain paragraphs.

    Args:
        edges: Edges of the graph; None for none.

    Returns:
        Steps by node, the most confident first.
    """
    if edges is None:
        return {}
    relations = load_family("ranking")["expansion"]["relations"]
    is_sentence = pl.col("source_id").str.starts_with(pl.col("element_id"))
    source = pl.when(is_sentence).then("element_id").otherwise("source_id")
    kept = edges.filter(pl.col("relation").is_in(relations)).with_columns(source=source)
    kept = kept.sort(pl.col("confidence").neg(), "source", "target_id", "relation", "start")
    found: dict[str, list[Step]] = {}
    for row in kept.select("source", "source_id", "target_id", "relation", "evidence", "page").iter_rows():
        found.setdefault(row[0], []).append(Step(*row[1:]))
    return {source: tuple(steps) for source, steps in found.items()}


def expand_seeds(
    seeds: Sequence[tuple[int, Iterable[str]]], *, neighbors: Neighbors, row_of: Mapping[str, int]
) -> dict[int, Step]:
    """Find the rows that the seeds' nodes lead to.

    Args:
        seeds: Rows with their nodes, best first; only the first few are expanded.
        neighbors: Steps by node.
        row_of: Row number by node.

    Returns:
        New rows, each with the first edge that led there.
    """
    limits = load_family("ranking")["expansion"]
    found: dict[int, Step] = {}
    for seed, node_ids in seeds[: limits["seeds"]]:
        taken = 0
        for node_id in node_ids:
            for step in neighbors.get(node_id, ()):
                row = row_of.get(step.target_id)
                if row is not None and row != seed and row not in found and taken < limits["per_seed"]:
                    found[row] = step
                    taken += 1
    return found
