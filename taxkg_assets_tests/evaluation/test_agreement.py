"""Agreement of a judge with labels, worked by hand."""

from __future__ import annotations

import pytest

from taxkg_assets.evaluation.agreement import score_agreement, score_rate


def test_agreement_beyond_chance() -> None:
    """Cohen's example shape: 20 yes by both, 5 and 10 by one alone, 15 by neither."""
    verdicts = [True] * 20 + [True] * 5 + [False] * 10 + [False] * 15
    labels = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    found = score_agreement(verdicts, labels)
    assert (found.both, found.judge_alone, found.label_alone, found.neither) == (20, 5, 10, 15)
    chance = (25 * 30 + 25 * 20) / 50**2
    assert found.accuracy == 35 / 50
    assert found.kappa == pytest.approx((35 / 50 - chance) / (1 - chance))


def test_a_judge_that_always_says_the_same_agrees_by_chance() -> None:
    assert score_agreement([False] * 4, [True, False, False, False]).kappa == 0.0
    assert score_agreement([False] * 4, [False] * 4).kappa is None


def test_a_rate_draws_questions_and_not_rows() -> None:
    hits = [True] * 10 + [False] * 10
    by_row = score_rate(hits, [str(n) for n in range(20)], stream=["x"])
    by_question = score_rate(hits, [str(n // 5) for n in range(20)], stream=["x"])
    assert by_row.value == by_question.value == 10 / 20
    assert by_row.low is not None
    assert by_question.low is not None
    assert by_question.low < by_row.low
