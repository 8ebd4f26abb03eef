"""Assets of the stage `training` that a model is trained on: questions, pairs, hard negatives; and their gates."""

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs.home.models import base_hash, open_base
from taxkg_assets.defs.home.proposers import open_trainer, proposer_fingerprint
from taxkg_assets.defs.home.store import Store, digest
from taxkg_assets.defs.wiring.gates import gate
from taxkg_assets.defs.wiring.resources import PROJECT, Home
from taxkg_assets.defs.wiring.table_asset import table
from taxkg_assets.defs.wiring.verdicts import Verdict, table_metadata
from taxkg_assets.retrieval.index.passage_retrievers import PassageRetrievers, build_passage_retrievers
from taxkg_assets.rules.floors import load_floors
from taxkg_assets.schemas import Chunks, Embeddings
from taxkg_assets.sources.scan import sha256_of
from taxkg_assets.training.distances import read_distances
from taxkg_assets.training.hard_negatives import build_hard_negatives
from taxkg_assets.training.invariants import find_leaked_pairs, find_leaking_groups, find_near_negatives
from taxkg_assets.training.judge import estimate_false_share, estimate_valid_share, score_by
from taxkg_assets.training.pairs import REPEATS, Steps, build_pairs
from taxkg_assets.training.scenario_queries import build_scenario_queries

WRITTEN = PROJECT / "data" / "training"
LEFT_OUT_REPORT = "reports/pairs.json"


def open_written_questions(home: Home) -> list[dict[str, Any]]:
    """Return the questions written by people from all files; `build_scenario_queries` selects the applicable ones.

    Args:
        home: Not used: these questions are files of the project.
    """
    lines = [line for path in _written_files() for line in path.read_text(encoding="utf8").splitlines()]
    return [json.loads(line) for line in lines if line.strip()]


def _written_files() -> list[Path]:
    return [WRITTEN / "questions.jsonl", *sorted((WRITTEN / "questions").glob("*.jsonl"))]


def open_retrievers(home: Home) -> PassageRetrievers:
    """Open BM25 and the base encoder over the home's accepted chunks, once for the three training tables.

    Args:
        home: Home with the chunks.
    """
    return _open_retrievers(home.store.home.as_posix(), home.store.version("chunks"), base_hash(home))


@lru_cache(maxsize=1)
def _open_retrievers(path: str, chunks_version: int, _encoder_hash: str) -> PassageRetrievers:
    home = Home(home=path)
    chunks = Chunks.cast(home.store.read("chunks", version=chunks_version))
    embeddings = Embeddings.cast(home.store.read_or_empty("embeddings"))
    return build_passage_retrievers(chunks, embeddings, encoder=open_base(home))


def _made_with(home: Home) -> str:
    """Encoder, judge, and the written questions."""
    return digest(base_hash(home), proposer_fingerprint(home), *(sha256_of(path) for path in _written_files()))


def open_left_out_report(home: Home) -> Callable[[Steps], None]:
    """Return a function that records in the home how many pairs were built and left out, by kind and reason.

    Args:
        home: Home in which the counts are recorded.
    """
    return lambda steps: home.store.storage.write(LEFT_OUT_REPORT, json.dumps(steps, indent=1).encode())


def read_left_out(store: Store) -> pl.DataFrame:
    """Read how many training pairs were left out, by kind and reason.

    Args:
        store: Tables of the home.

    Returns:
        Counts of `open_left_out_report`, one row per kind of pair; empty before the first pairs.
    """
    steps = json.loads(store.storage.read(LEFT_OUT_REPORT) or b"{}")
    return pl.DataFrame(
        [{"kind": kind, **counts} for kind, counts in steps.items()], schema=None if steps else ["kind"]
    )


RESOURCES = {"retrievers": open_retrievers, "proposer": open_trainer}

scenario_queries = table(
    schemas.ScenarioQueries,
    build_scenario_queries,
    group="training",
    resources={**RESOURCES, "written": open_written_questions},
    fingerprint=_made_with,
    code=(open_retrievers,),
)
pairs = table(
    schemas.Pairs,
    build_pairs,
    group="training",
    resources={**RESOURCES, "report": open_left_out_report},
    fingerprint=_made_with,
    code=(open_retrievers,),
    show=lambda store: {"made and left out": table_metadata(read_left_out(store))},
)
hard_negatives = table(
    schemas.HardNegatives,
    build_hard_negatives,
    group="training",
    resources=RESOURCES,
    fingerprint=_made_with,
    code=(open_retrievers,),
)


@gate(on="pairs")
def pairs_are_valid(pairs: dy.DataFrame[schemas.Pairs]) -> Verdict:
    """A judge finds enough pairs of a stratified sample valid: the passage answers the query."""
    return _compare_shares(
        "valid_share", estimate_valid_share(pairs), pairs, stratum_column="kind", verdict_column="is_valid_pair"
    )


@gate(on="pairs", reads=("eval_queries", "scenario_queries"))
def no_pair_repeats_an_evaluation_question(
    pairs: dy.DataFrame[schemas.Pairs],
    eval_queries: dy.DataFrame[schemas.EvalQueries],
    scenario_queries: dy.DataFrame[schemas.ScenarioQueries],
    home: Home,
) -> Verdict:
    """No training text repeats an evaluation question or nearly duplicates one. Shows the number of excluded texts."""
    questions = scenario_queries.filter(pl.col("repeated_eval_query") != "")
    left_out = read_left_out(home.store)
    repeat_counts = dict(left_out.select("kind", REPEATS).iter_rows()) if REPEATS in left_out.columns else {}
    return Verdict(
        find_leaked_pairs(pairs, eval_queries),
        pairs.height,
        figures={"evaluation questions": eval_queries.height}
        | {f"{kind} left out as repeats": count for kind, count in repeat_counts.items()},
        tables={
            "left out": questions.select("query_id", "query", "repeated_eval_query"),
            "by kind and reason": left_out,
        },
    )


@gate(on="pairs")
def no_family_is_on_both_sides(pairs: dy.DataFrame[schemas.Pairs]) -> Verdict:
    """No form family, and no passage or near-duplicate, is in both the training and the development split."""
    split_counts = pairs.group_by("split").agg(pl.len()).sort("split")
    return Verdict(find_leaking_groups(pairs), pairs.height, figures=dict(split_counts.iter_rows()))


@gate(on="hard_negatives")
def negatives_are_wrong(hard_negatives: dy.DataFrame[schemas.HardNegatives]) -> Verdict:
    """A judge finds that few hard negatives of a stratified sample answer the query."""
    share = estimate_false_share(hard_negatives)
    return _compare_shares(
        "false_negative_share", share, hard_negatives, stratum_column="source", verdict_column="is_false_negative"
    )


@gate(on="hard_negatives", reads=("pairs", "chunks", "edges", "nodes"))
def negatives_are_unrelated(
    hard_negatives: dy.DataFrame[schemas.HardNegatives],
    pairs: dy.DataFrame[schemas.Pairs],
    chunks: dy.DataFrame[schemas.Chunks],
    edges: dy.DataFrame[schemas.Edges],
    nodes: dy.DataFrame[schemas.Nodes],
) -> Verdict:
    """Hard negatives from search are far from the positive in the graph, and structural ones have no edge to it."""
    faults = find_near_negatives(hard_negatives, pairs, chunks, distances=read_distances(edges, nodes))
    return Verdict(faults, hard_negatives.height)


def _compare_shares(
    metric: str, value: float, rows: pl.DataFrame, *, stratum_column: str, verdict_column: str
) -> Verdict:
    """Compare the share over all rows with its floor, and the share of each kind or source with a floor of its own."""
    floors = {floor.metric: floor for floor in load_floors("pairs" if stratum_column == "kind" else "hard_negatives")}
    floor, stratum_floor = floors[metric], floors[f"{metric}_of_any_{stratum_column}"]
    strata = score_by(rows, stratum=stratum_column, verdict=verdict_column)
    judged_count = int(strata["judged"].sum())
    is_broken = not rows.is_empty() and (judged_count < min(floor.least_n, rows.height) or not floor.holds(value))
    missed_floors = [(metric, value, floor.floor)] if is_broken else []
    missed_floors += [
        (f"{metric} of {row[stratum_column]}", row["share"], stratum_floor.floor)
        for row in strata.iter_rows(named=True)
        if row["judged"] >= stratum_floor.least_n and not stratum_floor.holds(row["share"])
    ]
    figures = {metric: value, "judged": judged_count} | {
        f"{row[stratum_column]}": round(row["share"], 3)
        for row in strata.iter_rows(named=True)
        if row["share"] is not None
    }
    return Verdict(
        pl.DataFrame(
            missed_floors, schema={"metric": pl.String, "value": pl.Float64, "floor": pl.Float64}, orient="row"
        ),
        rows.height,
        note=f"{floor.describe()}; {stratum_floor.describe()}",
        figures=figures,
        tables={stratum_column: strata},
    )
