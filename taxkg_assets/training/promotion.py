"""The decision whether a trained model replaces its base: paired differences with an interval, overall and by kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from taxkg_assets.records import PromotionRecord
from taxkg_assets.training.dense_scores import QueryScore

Interval = Callable[[Sequence[float], Sequence[str]], tuple[float | None, float | None]]
"""Bounds of the confidence interval of a mean, given values and their clusters; None where there is none."""
MIN_KIND_GAIN = -0.02
"""Smallest gain (largest loss) that any kind of question may have."""
DECIDING = "nDCG@10"
METRICS: Mapping[str, Callable[[QueryScore], float]] = {
    DECIDING: lambda score: score.ndcg,
    "recall@5": lambda score: score.recall,
    "MRR@10": lambda score: score.reciprocal_rank,
}
MIN_QUESTIONS = 20
"""Questions from which a kind is judged by itself."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Mean of a metric for base and model over the development questions, with the interval of the difference."""

    base: float
    own: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Promotion:
    """The decision whether a model is promoted, with its gain over the base on the development questions.

    Attributes:
        figures: Means by metric; nDCG@10 decides.
        by_kind: Gain in nDCG@10 by kind of question.
        reason: Why it is promoted or not.
    """

    questions: int
    figures: dict[str, Figure]
    by_kind: dict[str, float]
    is_promoted: bool
    reason: str

    @property
    def deciding(self) -> Figure:
        """Return the metric that decides."""
        return self.figures[DECIDING]

    def columns(self) -> PromotionRecord:
        """Return the columns that the tables `model` and `reranker` share."""
        return {
            "dev_questions": self.questions,
            "base_score": self.deciding.base,
            "candidate_score": self.deciding.own,
            "gain": self.deciding.own - self.deciding.base,
            "gain_low": self.deciding.low,
            "gain_high": self.deciding.high,
            "gain_by_kind": json.dumps({kind: round(value, 4) for kind, value in self.by_kind.items()}),
            "is_chosen": self.is_promoted,
            "reason": self.reason,
        }


def _spare(members: Mapping[str, Sequence[float]]) -> str:
    """Return a note on the kinds that have too few questions."""
    few = [kind for kind, values in members.items() if len(values) < MIN_QUESTIONS]
    return f" ({', '.join(few)}: too few to judge)" if few else ""


def decide_promotion(base: Sequence[QueryScore], own: Sequence[QueryScore], *, interval: Interval) -> Promotion:
    """Decide whether to promote a model.

    The interval of its gain must be above 0, and no kind of question may lose more than 0.02.

    Args:
        base: Scores of the base, one per question.
        own: Scores of the trained model, for the same questions in the same order.
        interval: Confidence interval of a mean over clusters.

    Returns:
        The decision with its figures and reason.
    """
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
    worse = [kind for kind, values in members.items() if len(values) >= MIN_QUESTIONS and by_kind[kind] < MIN_KIND_GAIN]
    low = figures[DECIDING].low
    is_above = low is not None and low > 0
    reason = (
        "the interval of the gain contains 0"
        if not is_above
        else f"worse for questions of kind {', '.join(worse)}"
        if worse
        else f"better than the base, its interval above 0, and no kind of question worse{_spare(members)}"
    )
    return Promotion(len(base), figures, by_kind, is_above and not worse, reason)
