"""All folds together: gains over questions that no model saw the forms of, near misses, seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.training.cross_validation import METRICS
from benchmarks.training.report import render_accuracies, render_gains
from taxkg_assets.evaluation.gains import ALL, score_gains
from taxkg_assets.evaluation.near_misses import Accuracy, NearMiss, score_near_misses
from taxkg_assets.evaluation.significance import score_interval

SHOWN = METRICS[:3]
STEPS = (
    ("dense base", "dense tuned"),
    ("full base", "full tuned"),
    ("full base", "full base + rerank"),
    ("full base", "full tuned + rerank"),
    ("full tuned", "full tuned + rerank"),
)
Found = Mapping[str, Any]


def read_folds(folder: Path) -> list[dict[str, Any]]:
    """What the folds wrote, in order of fold and seed."""
    found = [json.loads(path.read_text(encoding="utf8")) for path in sorted(folder.glob("fold-*-seed-*.json"))]
    return sorted(found, key=lambda row: (row["fold"], row["seed"]))


def first_of_each(folds: Sequence[Found]) -> list[Found]:
    """One run of each fold, that of the lowest seed."""
    first: dict[int, Found] = {}
    for found in folds:
        first.setdefault(found["fold"], found)
    return list(first.values())


def stack_scores(folds: Sequence[Found]) -> pl.DataFrame:
    """Every question's figures, one row per (system, query_id, metric)."""
    return pl.DataFrame([row for found in folds for row in found["scores"]], infer_schema_length=None)


def summarize(folds: Sequence[Found]) -> dict[str, pl.DataFrame]:
    """Means of every system, gains over all questions and types, and over the questions without a passage seen."""
    first = first_of_each(folds)
    scores = stack_scores(first)
    unseen = scores.filter(pl.col("query_id").is_in([name for found in first for name in found["unseen"]]))
    gains = score_gains(scores, STEPS, metrics=SHOWN)
    return {
        "means": average_systems(scores),
        "gains": gains.filter(pl.col("slice") == ALL),
        "types": gains.filter(pl.col("slice") != ALL),
        "unseen": score_gains(unseen, STEPS, metrics=SHOWN).filter(pl.col("slice") == ALL),
        "folds": _list_folds(first),
        "seeds": _list_seeds(folds),
    }


def average_systems(scores: pl.DataFrame) -> pl.DataFrame:
    """Every system's figures with intervals that draw documents."""
    rows = []
    for (system, metric), own in scores.drop_nulls("value").group_by("system", "metric", maintain_order=True):
        interval = score_interval(
            own.sort("query_id")["value"].to_list(),
            own.sort("query_id")["family"].to_list(),
            seed=0,
            stream=[str(metric)],
        )
        rows.append((system, metric, interval.value, interval.low, interval.high, own.height))
    return pl.DataFrame(rows, schema=["system", "metric", "value", "low", "high", "n"], orient="row")


def gather_accuracies(folds: Sequence[Found]) -> list[Accuracy]:
    """Near misses of all folds, each told apart by a model that never saw its form."""
    first = [found for found in first_of_each(folds) if found["near_misses"]]
    if not first:
        return []
    items = [
        NearMiss(row["kind"], row["wording"], "", row["form"], "", "", "")
        for found in first
        for row in found["near_misses"]
    ]
    systems = [name for name in first[0]["margins"] if all(name in found["margins"] for found in first)]
    margins = {name: [value for found in first for value in found["margins"][name]] for name in systems}
    return score_near_misses(items, margins, families=[item.form for item in items])


def _list_folds(first: Sequence[Found]) -> pl.DataFrame:
    """What each fold held out, learned from and left out."""
    rows = []
    for found in first:
        scores = stack_scores([found])
        row = {
            "fold": found["fold"],
            "held_out": ", ".join(found["families"]),
            "questions": scores["query_id"].n_unique(),
            "examples": found["examples"],
            **{f"removed: {name}": count for name, count in found["removed"].items()},
            "training_s": round(found["training_s"]),
        }
        for system in ("dense base", "dense tuned", "full base", "full tuned + rerank"):
            row[system] = _mean(scores, system, "recall@5")
        rows.append(row)
    return pl.DataFrame(rows)


def _list_seeds(folds: Sequence[Found]) -> pl.DataFrame:
    """Folds that ran with several seeds: the figures of each."""
    repeated = {found["fold"] for found in folds if found["seed"] != 0}
    rows = []
    for found in folds:
        if found["fold"] in repeated:
            scores = stack_scores([found])
            row = {"fold": found["fold"], "seed": found["seed"]}
            for system in scores["system"].unique(maintain_order=True):
                row |= {f"{system} {metric}": _mean(scores, system, metric) for metric in SHOWN}
            rows.append(row)
    return pl.DataFrame(rows)


def _mean(scores: pl.DataFrame, system: str, metric: str) -> float | None:
    own = scores.filter(pl.col("system") == system, pl.col("metric") == metric)["value"].drop_nulls()
    return float(np.mean(own.to_numpy())) if len(own) else None


def render_summary(folds: Sequence[Found]) -> str:
    """The whole report as Markdown."""
    found = summarize(folds)
    means = found["means"].filter(pl.col("metric").is_in(SHOWN))
    parts = ["## systems\n", _render_means(means), "\n## gains over all questions\n", render_gains(found["gains"])]
    parts += ["\n## gains over questions whose passages are all of held out families\n", render_gains(found["unseen"])]
    parts += ["\n## gains by type of question\n", render_gains(found["types"])]
    if accuracies := gather_accuracies(folds):
        parts += ["\n## near misses\n", render_accuracies(accuracies)]
    parts += ["\n## folds\n", _render_frame(found["folds"])]
    if found["seeds"].height:
        parts += ["\n## seeds\n", _render_frame(found["seeds"])]
    return "".join(parts)


def _render_means(means: pl.DataFrame) -> str:
    lines = ["| system | " + " | ".join(SHOWN) + " |", "|---" * (len(SHOWN) + 1) + "|"]
    for system in means["system"].unique(maintain_order=True):
        cells = []
        for metric in SHOWN:
            row = means.filter(pl.col("system") == system, pl.col("metric") == metric).row(0, named=True)
            span = "" if row["low"] is None else f" ({row['low']:.3f} to {row['high']:.3f})"
            cells.append(f"{row['value']:.3f}{span}")
        lines.append(f"| {system} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _render_frame(frame: pl.DataFrame) -> str:
    lines = ["| " + " | ".join(frame.columns) + " |", "|---" * frame.width + "|"]
    for row in frame.iter_rows():
        cells = ["" if cell is None else f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
