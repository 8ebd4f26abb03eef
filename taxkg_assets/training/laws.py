"""What must hold of pairs and negatives, whoever made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.rules.loader import load_family
from taxkg_assets.schemas import Chunks, EvalQueries, HardNegatives, Pairs
from taxkg_assets.training.distances import Distances
from taxkg_assets.training.leakage import find_repeated_words

_SEARCHED = ("bm25", "dense")


def find_leaked_pairs(pairs: dy.DataFrame[Pairs], eval_queries: dy.DataFrame[EvalQueries]) -> pl.DataFrame:
    """Pairs whose short text repeats an evaluation question in its words; with the question."""
    leaks = find_repeated_words(pairs["query"].to_list(), eval_queries["query"].unique().sort().to_list())
    places = sorted(leaks)
    found = pairs.select("pair_id", "query")[places]
    return found.with_columns(question=pl.Series([leaks[place] for place in places], dtype=pl.String))


def find_split_families(pairs: dy.DataFrame[Pairs]) -> pl.DataFrame:
    """Families, and groups of passages that say the same, that are on both sides of the split; pairs across families
    of different sides."""
    sides = {
        "family": pairs.select(name="family", split="split"),
        "query_family": pl.concat(
            [pairs.select(name="family", split="split"), pairs.select(name="query_family", split="split")]
        ),
        "twin_group": pairs.select(name="twin_group", split="split"),
    }
    found = [
        frame.group_by("name")
        .agg(sides=pl.col("split").n_unique())
        .filter(pl.col("sides") > 1)
        .with_columns(what=pl.lit(what))
        for what, frame in sides.items()
    ]
    return pl.concat(found).sort("what", "name")


def find_near_negatives(
    negatives: dy.DataFrame[HardNegatives],
    pairs: dy.DataFrame[Pairs],
    chunks: dy.DataFrame[Chunks],
    *,
    distances: Distances,
) -> pl.DataFrame:
    """Negatives that the graph joins with the pair's passage: in a few steps, of next of kin by one semantic relation;
    those that are too like the passage or nearly as like the question, and those that are known to be right.

    A passage is joined by any paragraph or table that it holds, not by its first one alone.
    """
    held = {
        chunk_id: [distances.paragraph_of.get(name, name) for name in node_ids]
        for chunk_id, node_ids in chunks.select("chunk_id", "node_ids").iter_rows()
    }
    under = dict(chunks.select("chunk_id", "anchor_id").iter_rows())
    right = pairs.select("pair_id", "also", right="chunk_id")
    of_passage: dict[str, _Surroundings] = {}
    faults = []
    for row in negatives.join(right, on="pair_id", how="left").iter_rows(named=True):
        own = row["right"]
        if own not in of_passage:
            of_passage[own] = _Surroundings.around(held.get(own or "", []), distances)
        fault = "its pair is not there" if own is None else _find_fault(row, of_passage[own], held, under)
        if fault:
            faults.append((row["pair_id"], row["rank"], fault))
    schema = {"pair_id": pl.String, "rank": pl.Int32, "fault": pl.String}
    return pl.DataFrame(faults, schema=schema, orient="row")


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What the graph joins with any paragraph or table of a passage: in a few steps, and by one semantic relation."""

    near: Mapping[str, int]
    related: frozenset[str]

    @classmethod
    def around(cls, node_ids: Sequence[str], distances: Distances) -> _Surroundings:
        steps = load_family("training")["negatives"]["steps"]
        return cls(distances.find_near(node_ids, within=steps), frozenset(distances.find_related(node_ids)))


def _find_fault(
    row: Mapping[str, Any],
    around: _Surroundings,
    held: Mapping[str, Sequence[str]],
    under: Mapping[str, str | None],
) -> str:
    """Why a negative may not be one; empty where it may.

    Args: held: paragraphs and tables of each passage. under: the anchor that owns it.
    """
    limits = load_family("training")["negatives"]
    names = held.get(row["chunk_id"], [row["node_id"]])
    if row["chunk_id"] in (row["right"], *row["also"]):
        return "it is a right passage"
    if row["source"] not in _SEARCHED:
        return (
            "a semantic relation with the right passage"
            if around.related.intersection([*names, under.get(row["chunk_id"])])
            else ""
        )
    if steps := [around.near[name] for name in names if name in around.near]:
        return f"{min(steps)} steps from the right passage"
    if row["likeness"] >= limits["most_likeness"]:
        return "too like the right passage"
    return "nearly as like the question" if row["score"] >= limits["of_positive"] * row["positive_score"] else ""
