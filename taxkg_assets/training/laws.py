"""What must hold of pairs and negatives, whoever made them."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.rules.loader import load_family
from taxkg_assets.schemas import EvalQueries, HardNegatives, Pairs
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
    negatives: dy.DataFrame[HardNegatives], pairs: dy.DataFrame[Pairs], *, distances: Distances
) -> pl.DataFrame:
    """Negatives that the graph joins with the pair's passage: in a few steps, of next of kin by one semantic relation;
    and those that are too like the passage, or come from a passage that is right."""
    limits = load_family("training")["negatives"]
    joined = negatives.join(pairs.select("pair_id", "passage_node_id", right="chunk_id"), on="pair_id", how="left")
    near: dict[str, dict[str, int]] = {}
    related: dict[str, set[str]] = {}
    faults = []
    for row in joined.iter_rows(named=True):
        own = row["passage_node_id"]
        if own is None:
            faults.append((row["pair_id"], row["rank"], "its pair is not there"))
            continue
        if own not in near:
            near[own] = distances.find_near([own], within=limits["steps"])
            related[own] = distances.find_related([own])
        if row["chunk_id"] == row["right"]:
            faults.append((row["pair_id"], row["rank"], "it is the right passage"))
        elif row["source"] in _SEARCHED and row["node_id"] in near[own]:
            faults.append((row["pair_id"], row["rank"], f"{near[own][row['node_id']]} steps from the right passage"))
        elif row["source"] in _SEARCHED and row["likeness"] >= limits["most_likeness"]:
            faults.append((row["pair_id"], row["rank"], "too like the right passage"))
        elif row["source"] not in _SEARCHED and row["node_id"] in related[own]:
            faults.append((row["pair_id"], row["rank"], "a semantic relation with the right passage"))
    schema = {"pair_id": pl.String, "rank": pl.Int32, "fault": pl.String}
    return pl.DataFrame(faults, schema=schema, orient="row")
