"""When a trained model may take its base's place: gains by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from taxkg_assets.training.dense_scores import QueryScore
from taxkg_assets.training.promotion import MIN_QUESTIONS, decide_promotion


def score(ndcg: float, *, kind: str = "scenario") -> QueryScore:
    return QueryScore("q", kind, "f", ndcg, 0.0, 0.0)


def interval(low: float | None) -> object:
    def ends(values: Sequence[float], clusters: Sequence[str]) -> tuple[float | None, float | None]:
        return low, 1.0

    return ends


def test_the_gain_is_the_mean_of_the_paired_differences() -> None:
    gain = decide_promotion([score(0.2), score(0.6)], [score(0.6), score(0.8)], interval=interval(0.1))  # type: ignore[arg-type]
    assert gain.columns()["gain"] == pytest.approx(((0.6 - 0.2) + (0.8 - 0.6)) / 2)
    assert gain.figures["recall@5"].tuned == gain.figures["MRR@10"].tuned == 0.0
    assert gain.is_promoted


@pytest.mark.parametrize("low", [None, 0.0, -0.01])
def test_an_interval_that_holds_0_keeps_the_base(low: float | None) -> None:
    gain = decide_promotion([score(0.2)], [score(0.9)], interval=interval(low))  # type: ignore[arg-type]
    assert not gain.is_promoted
    assert gain.reason.startswith("no interval" if low is None else "the interval of the gain contains 0")


@pytest.mark.parametrize(("count", "is_promoted"), [(MIN_QUESTIONS, False), (MIN_QUESTIONS - 1, True)])
def test_a_kind_that_loses_keeps_the_base_where_it_is_queried_often(count: int, is_promoted: bool) -> None:
    base = [score(0.1)] * 100 + [score(0.5, kind="table")] * count
    own = [score(0.9)] * 100 + [score(0.47, kind="table")] * count
    assert decide_promotion(base, own, interval=interval(0.1)).is_promoted is is_promoted  # type: ignore[arg-type]


def test_kinds_with_too_few_questions_are_named() -> None:
    base, own = [score(0.1)] * 100 + [score(0.5, kind="table")], [score(0.9)] * 100 + [score(0.4, kind="table")]
    gain = decide_promotion(base, own, interval=interval(0.1))  # type: ignore[arg-type]
    assert gain.reason.endswith("no kind of question worse (table: too few to judge)")
