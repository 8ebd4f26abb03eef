"""Is a trained model better than its base? Question by question, with an interval, and kind by kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taxkg_assets.training.dense_scores import QueryScore

Interval = Callable[[Sequence[float], Sequence[str]], tuple[float | None, float | None]]
"""Ends of the interval of a mean, given values and their clusters."""
WORST = -0.02
"""What any kind of question may lose."""
DECIDING = "nDCG@10"
METRICS: Mapping[str, Callable[[QueryScore], float]] = {
    DECIDING: lambda score: score.ndcg,
    "recall@5": lambda score: score.recall,
    "MRR@10": lambda score: score.reciprocal_rank,
}
LEAST = 20
"""Questions of a kind from which its loss counts for itself; fewer say nothing."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over the development questions of base and model, and the interval of the difference by families."""

    base: float
    own: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Gain:
    """What a model gains over its base on the development questions, and whether that is enough.

    Attributes: figures: by metric; what decides is nDCG@10. by_kind: gain in it of each kind of question.
    """

    questions: int
    figures: dict[str, Figure]
    by_kind: dict[str, float]
    is_enough: bool
    reason: str

    @property
    def deciding(self) -> Figure:
        """Of the metric that decides."""
        return self.figures[DECIDING]

    def row(self) -> dict[str, Any]:
        """The columns that tables of models share."""
        return {
            "dev_questions": self.questions,
            "base_score": self.deciding.base,
            "own_score": self.deciding.own,
            "gain": self.deciding.own - self.deciding.base,
            "gain_low": self.deciding.low,
            "gain_high": self.deciding.high,
            "gain_by_kind": json.dumps({kind: round(value, 4) for kind, value in self.by_kind.items()}),
            "is_chosen": self.is_enough,
            "reason": self.reason,
        }


def _spare(members: Mapping[str, Sequence[float]]) -> str:
    """Which kinds have too few questions to tell."""
    few = [kind for kind, values in members.items() if len(values) < LEAST]
    return f" ({', '.join(few)}: too few to tell)" if few else ""


def judge_gain(base: Sequence[QueryScore], own: Sequence[QueryScore], *, interval: Interval) -> Gain:
    """Enough is an interval above 0 with no kind of question that loses more than 0.02."""
    families = [score.family for score in base]
    figures, gains = {}, {}
    for name, read in METRICS.items():
        before, after = [read(score) for score in base], [read(score) for score in own]
        gains[name] = [new - old for old, new in zip(before, after, strict=True)]
        figures[name] = Figure(float(np.mean(before)), float(np.mean(after)), *interval(gains[name], families))
    members: dict[str, list[float]] = {kind: [] for kind in sorted({score.kind for score in base})}
    for gain, score in zip(gains[DECIDING], base, strict=True):
        members[score.kind].append(gain)
    by_kind = {kind: float(np.mean(values)) for kind, values in members.items()}
    worse = [kind for kind, values in members.items() if len(values) >= LEAST and by_kind[kind] < WORST]
    low = figures[DECIDING].low
    is_above = low is not None and low > 0
    reason = (
        "the interval of the gain holds 0"
        if not is_above
        else f"worse for questions of kind {', '.join(worse)}"
        if worse
        else f"better than the base, its interval above 0, and no kind of question worse{_spare(members)}"
    )
    return Gain(len(base), figures, by_kind, is_above and not worse, reason)
