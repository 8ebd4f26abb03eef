"""Is a trained model better than its base? Question by question, with an interval, and kind by kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taxkg_assets.training.dense_scores import QueryScore, mean_of

Interval = Callable[[Sequence[float], Sequence[str]], tuple[float | None, float | None]]
"""Ends of the interval of a mean, given values and their clusters."""
WORST = -0.02
"""What any kind of question may lose."""
LEAST = 20
"""Questions of a kind from which its loss counts for itself; fewer say nothing."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What a model gains over its base on the development questions, and whether that is enough."""

    questions: int
    base: float
    own: float
    low: float | None
    high: float | None
    by_kind: dict[str, float]
    is_enough: bool
    reason: str

    def row(self) -> dict[str, Any]:
        """The columns that tables of models share."""
        return {
            "dev_questions": self.questions,
            "base_score": self.base,
            "own_score": self.own,
            "gain": self.own - self.base,
            "gain_low": self.low,
            "gain_high": self.high,
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
    gains = [new.ndcg - old.ndcg for old, new in zip(base, own, strict=True)]
    low, high = interval(gains, [score.family for score in base])
    kinds = sorted({score.kind for score in base})
    members = {kind: [gain for gain, score in zip(gains, base, strict=True) if score.kind == kind] for kind in kinds}
    by_kind = {kind: float(np.mean(values)) for kind, values in members.items()}
    worse = [kind for kind, values in members.items() if len(values) >= LEAST and by_kind[kind] < WORST]
    is_above = low is not None and low > 0
    reason = (
        "the interval of the gain holds 0"
        if not is_above
        else f"worse for questions of kind {', '.join(worse)}"
        if worse
        else f"better than the base, its interval above 0, and no kind of question worse{_spare(members)}"
    )
    return Gain(len(base), mean_of(base), mean_of(own), low, high, by_kind, is_above and not worse, reason)
