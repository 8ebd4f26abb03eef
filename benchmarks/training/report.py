"""Figures of the training benchmarks as Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from taxkg_assets.evaluation.near_misses import KINDS, Accuracy
from taxkg_assets.evaluation.significance import Interval


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
        gain = render_interval(Interval(row["gain"], row["low"], row["high"]), digits=3)
        relative = "" if row["relative"] is None else f"{100 * row['relative']:+.0f} %"
        lines.append(
            f"| {row['system_without']} → {row['system_with']} | {row['slice']} | {row['n']} | {row['metric']} "
            f"| {row['without']:.3f} | {row['with']:.3f} | {gain} | {relative} | {row['p_value']:.3f} |"
        )
    return "\n".join(lines) + "\n"
