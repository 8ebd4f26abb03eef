"""Invariants of pairs and negatives, checked on the finished tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.rules.models.training import load_training
from taxkg_assets.schemas import Chunks, EvalQueries, HardNegatives, Pairs
from taxkg_assets.training.distances import Distances
from taxkg_assets.training.leakage import find_repeated_words

_SEARCHED = ("bm25", "dense")


def find_leaked_pairs(pairs: dy.DataFrame[Pairs], eval_queries: dy.DataFrame[EvalQueries]) -> pl.DataFrame:
    """Find pairs whose query repeats an evaluation question word by word.

    Args:
        pairs: Pairs.
        eval_queries: Evaluation questions.

    Returns:
        Columns `pair_id`, `query`, `question`.
    """
    repeated = find_repeated_words(pairs["query"].to_list(), eval_queries["query"].unique().sort().to_list())
    rows = sorted(repeated)
    leaked = pairs.select("pair_id", "query")[rows]
    return leaked.with_columns(question=pl.Series([repeated[row] for row in rows], dtype=pl.String))


def find_leaking_groups(pairs: dy.DataFrame[Pairs]) -> pl.DataFrame:
    """Find families, near-duplicate groups and pairs that are in both the training and the development split.

    They would leak training data into the evaluation.

    Args:
        pairs: Pairs.

    Returns:
        Sorted columns `name`; `sides`, the number of splits; and `what` (`family`, `query_family` or
        `near_duplicate_group`).
    """
    splits_by_name = {
        "family": pairs.select(name="family", split="split"),
        "query_family": pl.concat(
            [pairs.select(name="family", split="split"), pairs.select(name="query_family", split="split")]
        ),
        "near_duplicate_group": pairs.select(name="near_duplicate_group", split="split"),
    }
    leaking = [
        splits.group_by("name")
        .agg(sides=pl.col("split").n_unique())
        .filter(pl.col("sides") > 1)
        .with_columns(what=pl.lit(what))
        for what, splits in splits_by_name.items()
    ]
    return pl.concat(leaking).sort("what", "name")


def find_near_negatives(
    negatives: dy.DataFrame[HardNegatives],
    pairs: dy.DataFrame[Pairs],
    chunks: dy.DataFrame[Chunks],
    *,
    distances: Distances,
) -> pl.DataFrame:
    """Find hard negatives that may answer the query after all, because they are near the positive in the graph.

    Args:
        negatives: Hard negatives.
        pairs: Pairs of the hard negatives.
        chunks: Chunks of the home.
        distances: Adjacency of the graph.

    Returns:
        Columns `pair_id`, `rank`, `fault`.
    """
    nodes_of = {
        chunk_id: [distances.paragraph_of.get(name, name) for name in node_ids]
        for chunk_id, node_ids in chunks.select("chunk_id", "node_ids").iter_rows()
    }
    anchor_of = dict(chunks.select("chunk_id", "anchor_id").iter_rows())
    positives = pairs.select("pair_id", "other_positive_ids", positive_id="chunk_id")
    surroundings: dict[str, _Surroundings] = {}
    faults = []
    for row in negatives.join(positives, on="pair_id", how="left").iter_rows(named=True):
        positive_id = row["positive_id"]
        if positive_id is None:
            fault = "the table of pairs lacks its pair"
        else:
            if positive_id not in surroundings:
                surroundings[positive_id] = _find_surroundings(nodes_of.get(positive_id, []), distances)
            fault = _find_fault(row, surroundings[positive_id], nodes_of, anchor_of)
        if fault:
            faults.append((row["pair_id"], row["rank"], fault))
    schema = {"pair_id": pl.String, "rank": pl.Int32, "fault": pl.String}
    return pl.DataFrame(faults, schema=schema, orient="row")


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """Distances of the nodes within `max_steps` of a positive, and the nodes with a semantic relation to it."""

    distance_of: Mapping[str, int]
    related: frozenset[str]


def _find_surroundings(node_ids: Sequence[str], distances: Distances) -> _Surroundings:
    steps = load_training().negatives.max_steps
    return _Surroundings(distances.find_near(node_ids, within=steps), frozenset(distances.find_related(node_ids)))


def _find_fault(
    row: Mapping[str, Any],
    surroundings: _Surroundings,
    nodes_of: Mapping[str, Sequence[str]],
    anchor_of: Mapping[str, str | None],
) -> str:
    """Return why a negative is invalid; empty where it is valid.

    Args:
        row: Negative, joined with the chunk ids of its pair's positives.
        surroundings: Surroundings of the positive.
        nodes_of: Paragraphs and tables of each chunk.
        anchor_of: Anchor that owns each chunk.
    """
    limits = load_training().negatives
    node_ids = nodes_of.get(row["chunk_id"], [row["node_id"]])
    if row["chunk_id"] in (row["positive_id"], *row["other_positive_ids"]):
        return "it is a right passage"
    if row["source"] not in _SEARCHED:
        is_related = bool(surroundings.related.intersection([*node_ids, anchor_of.get(row["chunk_id"])]))
        return "a semantic relation with the right passage" if is_related else ""
    if steps := [surroundings.distance_of[name] for name in node_ids if name in surroundings.distance_of]:
        return f"{min(steps)} steps from the right passage"
    if row["similarity_to_positive"] >= limits.max_similarity:
        return "too similar to the right passage"
    is_near_query = row["score"] >= limits.max_share_of_positive * row["positive_score"]
    return "nearly as similar to the question" if is_near_query else ""
