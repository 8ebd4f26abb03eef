"""Figures of the training benchmarks as Markdown tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from benchmarks.training.summary import (
    SHOWN,
    TYPE_STEPS,
    Found,
    gather_accuracies,
    share_passed,
    summarize,
)
from taxkg_assets.evaluation.gains import find_worse_types
from taxkg_assets.evaluation.near_misses import KINDS, Accuracy
from taxkg_assets.evaluation.significance import Interval
from taxkg_assets.training.promotion import MIN_KIND_GAIN

IN_SHORT = {
    "dense": ("dense base", "dense tuned", "dense tuned + rerank"),
    "full": ("full base", "full tuned", "full tuned + rerank"),
}


def render_interval(interval: Interval, *, digits: int = 2) -> str:
    """A figure with the ends of its interval, where it has one."""
    if interval.low is None or interval.high is None:
        return f"{interval.value:.{digits}f}"
    return f"{interval.value:.{digits}f} ({interval.low:.{digits}f} to {interval.high:.{digits}f})"


def render_accuracies(accuracies: Sequence[Accuracy]) -> str:
    """One line a system, one column a kind of near miss."""
    cells = {(accuracy.system, accuracy.kind): accuracy for accuracy in accuracies}
    kinds = [kind for kind in ("all", *KINDS) if any(key[1] == kind for key in cells)]
    counts = {kind: next(a.n for a in accuracies if a.kind == kind) for kind in kinds}
    head = " | ".join(f"{kind.replace('_', ' ')} ({counts[kind]})" for kind in kinds)
    lines = [f"| right passage before its near miss | {head} |", "|---" * (len(kinds) + 1) + "|"]
    for system in dict.fromkeys(accuracy.system for accuracy in accuracies):
        lines.append(
            f"| {system} | " + " | ".join(render_interval(cells[system, kind].interval) for kind in kinds) + " |"
        )
    return "\n".join(lines) + "\n"


def render_gains(gains: pl.DataFrame) -> str:
    """One line a step, slice and metric: means, gain with interval, test."""
    lines = [
        "| change | questions | n | metric | without | with | gain | relative | p |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in gains.iter_rows(named=True):
        relative = "" if row["relative"] is None else f"{100 * row['relative']:+.0f} %"
        lines.append(
            f"| {row['system_without']} → {row['system_with']} | {row['slice']} | {row['n']} | {row['metric']} "
            f"| {row['without']:.3f} | {row['with']:.3f} | {_render_gain(row)} | {relative} | {row['p_value']:.3f} |"
        )
    return "\n".join(lines) + "\n"


def render_types(gains: pl.DataFrame, *, steps: Sequence[tuple[str, str]], metrics: Sequence[str]) -> str:
    """One line a type of question and step, one column a metric: gain with interval; and which types lose."""
    lines = ["| questions | n | change | " + " | ".join(metrics) + " |", "|---" * (len(metrics) + 3) + "|"]
    cells = {(r["slice"], r["system_without"], r["system_with"], r["metric"]): r for r in gains.to_dicts()}
    for name in gains["slice"].unique(maintain_order=True):
        for without, system in steps:
            own = [cells.get((name, without, system, metric)) for metric in metrics]
            reported = next((row for row in own if row is not None), None)
            if reported is not None:
                said = " | ".join("" if row is None else _render_gain(row) for row in own)
                lines.append(f"| {name} | {reported['n']} | {without} → {system} | {said} |")
    return "\n".join(lines) + "\n\n" + _tell_worse(gains, steps=steps, metrics=metrics)


def _tell_worse(gains: pl.DataFrame, *, steps: Sequence[tuple[str, str]], metrics: Sequence[str]) -> str:
    """The types that a change makes worse by more than it may, in words."""
    said = []
    for without, system in steps:
        own = gains.filter(pl.col("system_without") == without, pl.col("system_with") == system)
        worse = [
            f"{row['slice']} ({metric} {row['gain']:+.3f}, n {row['n']})"
            for metric in metrics
            for row in find_worse_types(own, metric=metric, allowed=-MIN_KIND_GAIN).iter_rows(named=True)
        ]
        said.append(f"{without} → {system}, worse by more than {-MIN_KIND_GAIN}: {', '.join(worse) or 'none'}.")
    return "\n".join(said) + "\n"


def render_means(means: pl.DataFrame, *, metrics: Sequence[str], by: str | None = None) -> str:
    """One line a system, one column a metric; for each value of a column, where one is named."""
    head = ([by.replace("_", " "), "n", "families"] if by else []) + ["system", *metrics]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for key, own in means.group_by(*([by] if by else []), "system", maintain_order=True):
        cells = {row["metric"]: row for row in own.iter_rows(named=True)}
        first = next(iter(cells.values()))
        front = [str(key[0]), str(first["n"]), str(first["families"])] if by else []
        shown = [_render_mean(cells[metric]) if metric in cells else "" for metric in metrics]
        lines.append("| " + " | ".join([*front, str(key[-1]), *shown]) + " |")
    return "\n".join(lines) + "\n"


def render_short(means: pl.DataFrame, *, metrics: Sequence[str], by: str) -> str:
    """One line a value of a column and a way to search: base, tuned and reranked side by side, without intervals."""
    lines = [f"| {by} | n | search | " + " | ".join(metrics) + " |", "|---" * (len(metrics) + 3) + "|"]
    held_out = {(str(row[by]), row["system"], row["metric"]): row for row in means.iter_rows(named=True)}
    for value in dict.fromkeys(key[0] for key in held_out):
        for search, reported in (("dense", "vectors alone"), ("full", "whole search")):
            systems = [name for name in IN_SHORT[search] if (value, name, metrics[0]) in held_out]
            cells = [
                ", ".join(
                    f"{held_out[value, name, metric]['value']:.3f}"
                    for name in systems
                    if (value, name, metric) in held_out
                )
                for metric in metrics
            ]
            if systems:
                count = held_out[value, systems[0], metrics[0]]["n"]
                lines.append(f"| {value.replace('_', ' ')} | {count} | {reported} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def render_frame(frame: pl.DataFrame) -> str:
    """A frame as it is."""
    lines = ["| " + " | ".join(frame.columns) + " |", "|---" * frame.width + "|"]
    for row in frame.iter_rows():
        cells = ["" if cell is None else f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def render_summary(folds: Sequence[Found]) -> str:
    """The whole report as Markdown."""
    found = summarize(folds)
    means = {name: frame.filter(pl.col("metric").is_in(SHOWN)) for name, frame in found.items() if "metric" in frame}
    parts = [
        ("systems", render_means(means["means"], metrics=SHOWN)),
        ("gains over all questions", render_gains(found["gains"])),
        ("gains over questions whose passages are all of held out families", render_gains(found["unseen"])),
        ("base, tuned, tuned and reranked by type", render_short(means["means by type"], metrics=SHOWN, by="type")),
        ("base, tuned, tuned and reranked by fold", render_short(means["means by fold"], metrics=SHOWN, by="fold")),
        ("systems by type of question", render_means(means["means by type"], metrics=SHOWN, by="type")),
        ("gains by type of question", render_types(found["types"], steps=TYPE_STEPS, metrics=SHOWN)),
        ("folds", render_frame(found["folds"])),
        ("systems by fold", render_means(means["means by fold"], metrics=SHOWN, by="fold")),
        ("pairs by kind: learned from and left out, all folds together", render_frame(found["left out"])),
    ]
    if accuracies := gather_accuracies(folds):
        parts += [
            ("near misses", render_accuracies(accuracies)),
            ("near misses by fold", render_frame(share_passed(folds))),
        ]
    if found["seeds"].height:
        parts.append(("seeds of one fold", render_means(means["seeds"], metrics=SHOWN, by="seed")))
    return "\n".join(f"## {title}\n\n{text}" for title, text in parts)


def _render_gain(row: Mapping[str, Any]) -> str:
    """A gain with its sign and the ends of its interval."""
    span = "" if row["low"] is None else f" ({row['low']:.3f} to {row['high']:.3f})"
    return f"{row['gain']:+.3f}{span}"


def _render_mean(row: Mapping[str, Any]) -> str:
    return render_interval(Interval(row["value"], row["low"], row["high"]), digits=3)
