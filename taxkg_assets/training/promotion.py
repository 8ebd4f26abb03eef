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
    """Mean of a metric over the development questions for base and tuned model; interval of the difference."""

    base: float
    tuned: float
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
        """Return the figure of the metric that decides."""
        return self.figures[DECIDING]

    def columns(self) -> PromotionRecord:
        """Return the columns that the tables `model` and `reranker` share."""
        return {
            "dev_questions": self.questions,
            "base_score": self.deciding.base,
            "candidate_score": self.deciding.tuned,
            "gain": self.deciding.tuned - self.deciding.base,
            "gain_low": self.deciding.low,
            "gain_high": self.deciding.high,
            "gain_by_kind": json.dumps({kind: round(value, 4) for kind, value in self.by_kind.items()}),
            "is_chosen": self.is_promoted,
            "reason": self.reason,
        }


def _note_small_kinds(gains_by_kind: Mapping[str, Sequence[float]]) -> str:
    """Return a note on the kinds that have too few questions; empty if there are none."""
    small = [kind for kind, gains in gains_by_kind.items() if len(gains) < MIN_QUESTIONS]
    return f" ({', '.join(small)}: too few to judge)" if small else ""


def decide_promotion(base: Sequence[QueryScore], tuned: Sequence[QueryScore], *, interval: Interval) -> Promotion:
    """Decide whether to promote a model.

    The interval of its gain must be above 0, and no kind of question may lose more than 0.02.

    Args:
        base: Scores of the base, one per question.
        tuned: Scores of the trained model, for the same questions in the same order.
        interval: Confidence interval of a mean over clusters.

    Returns:
        The decision with its figures and reason.
    """
    families = [score.family for score in base]
    figures: dict[str, Figure] = {}
    gains: dict[str, list[float]] = {}
    for name, read_metric in METRICS.items():
        base_values = [read_metric(score) for score in base]
        tuned_values = [read_metric(score) for score in tuned]
        gains[name] = [after - before for before, after in zip(base_values, tuned_values, strict=True)]
        low, high = interval(gains[name], families)
        figures[name] = Figure(float(np.mean(base_values)), float(np.mean(tuned_values)), low, high)
    gains_by_kind: dict[str, list[float]] = {kind: [] for kind in sorted({score.kind for score in base})}
    for gain, score in zip(gains[DECIDING], base, strict=True):
        gains_by_kind[score.kind].append(gain)
    mean_by_kind = {kind: float(np.mean(values)) for kind, values in gains_by_kind.items()}
    has_enough = {kind: len(values) >= MIN_QUESTIONS for kind, values in gains_by_kind.items()}
    worse_kinds = [kind for kind, mean in mean_by_kind.items() if has_enough[kind] and mean < MIN_KIND_GAIN]
    lowest_gain = figures[DECIDING].low
    is_promoted = False
    if lowest_gain is None:
        reason = "no interval of the gain, as all questions are about one family of documents"
    elif not lowest_gain > 0:  # not a number, too
        reason = "the interval of the gain contains 0"
    elif worse_kinds:
        reason = f"worse for questions of kind {', '.join(worse_kinds)}"
    else:
        is_promoted = True
        note = _note_small_kinds(gains_by_kind)
        reason = f"better than the base, its interval above 0, and no kind of question worse{note}"
    return Promotion(len(base), figures, mean_by_kind, is_promoted, reason)
