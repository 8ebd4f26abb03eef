"""All folds together: figures and gains over questions that no model saw the forms of, near misses, seeds.

Every interval draws form families whole: what was held out together counts together.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.documents import CorpusError
from benchmarks.training.cross_validation import METRICS
from benchmarks.training.folds import REASONS
from taxkg_assets.evaluation.gains import ALL, score_gains
from taxkg_assets.evaluation.near_misses import Accuracy, NearMiss, score_near_misses
from taxkg_assets.evaluation.significance import score_interval

SHOWN = METRICS[:3]
STEPS = (
    ("dense base", "dense tuned"),
    ("dense base", "dense tuned + rerank"),
    ("full base", "full tuned"),
    ("full base", "full base + rerank"),
    ("full base", "full tuned + rerank"),
    ("full tuned", "full tuned + rerank"),
)
TYPE_STEPS = (STEPS[0], STEPS[2], STEPS[4])
"""Changes that no type of question may lose by."""
SYSTEMS = (
    "dense base",
    "dense tuned",
    "dense tuned + rerank",
    "full base",
    "full tuned",
    "full base + rerank",
    "full tuned + rerank",
)
REPEATS = "repeats a question"
Found = Mapping[str, Any]


def read_folds(folder: Path, *, run: str = "") -> list[dict[str, Any]]:
    """What the folds wrote, in order of fold and seed; of the run of that name alone, where one is given.

    Raises: CorpusError where the folder holds folds of several runs and none is named: they do not add up.
    """
    found = [json.loads(path.read_text(encoding="utf8")) for path in sorted(folder.glob("fold-*-seed-*.json"))]
    own = [row for row in found if row.get("run") and run in ("", row["run"])]
    if len({row["run"] for row in own}) > 1:
        raise CorpusError(f"{folder} holds folds of several runs (other settings): keep those of one of them there.")
    return sorted(own, key=lambda row: (row["fold"], row["seed"]))


def first_of_each(folds: Sequence[Found]) -> list[Found]:
    """One run of each fold, that of the lowest seed."""
    first: dict[int, Found] = {}
    for found in folds:
        first.setdefault(found["fold"], found)
    return list(first.values())


def stack_scores(folds: Sequence[Found]) -> pl.DataFrame:
    """Every question's figures, one row per (system, query_id, metric), with the fold and the seed."""
    rows = [{"fold": own["fold"], "seed": own["seed"], **row} for own in folds for row in own["scores"]]
    return pl.DataFrame(rows, infer_schema_length=None)


def summarize(folds: Sequence[Found]) -> dict[str, pl.DataFrame]:
    """Means of every system over all questions, each type, fold and seed; gains over all, each type, and over the
    questions without a passage seen; what folds were like, and what they left out."""
    first = first_of_each(folds)
    scores = stack_scores(first)
    unseen = scores.filter(pl.col("query_id").is_in([name for found in first for name in found["unseen"]]))
    gains = score_gains(scores, STEPS, metrics=SHOWN)
    repeated = {found["fold"] for found in folds if found["seed"] != 0}
    return {
        "means": average_systems(scores),
        "means by type": average_systems(scores, by="type"),
        "means by fold": average_systems(scores, by="fold"),
        "seeds": average_systems(stack_scores(folds).filter(pl.col("fold").is_in(repeated)), by="seed"),
        "gains": gains.filter(pl.col("slice") == ALL),
        "types": gains.filter(pl.col("slice") != ALL),
        "unseen": score_gains(unseen, STEPS, metrics=SHOWN).filter(pl.col("slice") == ALL),
        "folds": list_folds(first),
        "left out": count_left_out(first),
    }


def average_systems(scores: pl.DataFrame, *, by: str | None = None) -> pl.DataFrame:
    """Every system's figures with intervals that draw form families; by the values of a column, where one is named."""
    keys = [*([by] if by else []), "system", "metric"]
    rows = []
    for values, own in scores.drop_nulls("value").sort("query_id").group_by(keys, maintain_order=True):
        interval = score_interval(own["value"].to_list(), own["family"].to_list(), seed=0, stream=[str(values[-1])])
        families = own["family"].n_unique()
        rows.append((*values, interval.value, interval.low, interval.high, own.height, families))
    columns = {"value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "families": pl.Int64}
    schema = {name: scores.schema[name] for name in keys} | columns
    place = pl.col("system").replace_strict({name: ix for ix, name in enumerate(SYSTEMS)}, default=len(SYSTEMS))
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.sort(*([by] if by else []), place, "system", "metric")


def gather_accuracies(folds: Sequence[Found]) -> list[Accuracy]:
    """Near misses of all folds, each by a model that never saw its form; a fold may have none."""
    first = [found for found in first_of_each(folds) if found["near_misses"]]
    if not first:
        return []
    queried = [row for found in first for row in found["near_misses"]]
    items = [NearMiss(row["kind"], row["wording"], "", row["form"], "", "", "") for row in queried]
    systems = [name for name in first[0]["margins"] if all(name in found["margins"] for found in first)]
    margins = {name: [value for found in first for value in found["margins"][name]] for name in systems}
    return score_near_misses(items, margins, families=[row["family"] for row in queried])


def list_folds(first: Sequence[Found]) -> pl.DataFrame:
    """What each fold held out, learned from and was queried."""
    rows = []
    for found in first:
        facts = found["training"]
        rows.append(
            {
                "fold": found["fold"],
                "held_out": ", ".join(found["families"]),
                "questions": stack_scores([found])["query_id"].n_unique(),
                "near misses": len(found["near_misses"]),
                "examples": found["examples"],
                **{f"left out: {name}": sum(found["removed"].get(name, {}).values()) for name in REASONS},
                **{name: facts.get(name) for name in ("alpha", "dev_base", "dev_tuned", "weight", "peak_mb")},
                "training_s": round(found["training_s"]),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def count_left_out(first: Sequence[Found]) -> pl.DataFrame:
    """By kind of pair: what every fold left out as it repeats a question, and what single folds did, added up."""
    counts = {name: Counter[str]() for name in REASONS}
    for found in first:
        for name, own in found["removed"].items():
            counts[name].update(own)
    repeats = Counter(first[0]["repeats"]) if first else Counter[str]()
    learned = Counter[str]()
    for found in first:
        learned.update(found["kinds"])
    kinds = sorted({*repeats, *learned, *(kind for own in counts.values() for kind in own)})
    rows = [(kind, learned[kind], repeats[kind], *(counts[name][kind] for name in REASONS)) for kind in kinds]
    return pl.DataFrame(rows, schema=["kind", "learned from", REPEATS, *REASONS], orient="row")


def share_passed(folds: Sequence[Found]) -> pl.DataFrame:
    """Of each fold's near misses the share that each system distinguished."""
    rows = [
        {"fold": found["fold"], "near misses": len(found["near_misses"])}
        | {name: float(np.mean(np.array(own) > 0)) for name, own in found["margins"].items()}
        for found in first_of_each(folds)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
