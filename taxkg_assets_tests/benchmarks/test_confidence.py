"""The fit of confidence: near the weights in place, exact where the answers say so, and written in their place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.confidence import (
    DEVELOPMENT,
    RULES,
    TRAINING,
    Outcome,
    compare_sources,
    count_silent,
    fit_bias,
    fit_kinds,
    fit_near,
    replace_weights,
    score_outcome,
    score_risk,
)
from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.rules.models.guardrail import load_guardrail


def _outcome(evidence: float, *, is_right: bool, family: str = "z") -> Outcome:
    signals = {"evidence": evidence, "gap": 0.5, "size": 2.0}
    return Outcome(DEVELOPMENT, family, guardrail.PASSAGES, signals, is_right)


OUTCOMES = [_outcome(n % 5 - 2, is_right=n % 4 > 0, family=f"z{n % 9}") for n in range(200)]


def test_the_mean_of_fitted_probabilities_is_the_share_of_right_answers() -> None:
    weights = fit_near(OUTCOMES, load_guardrail().confidence[guardrail.PASSAGES])
    mean = sum(score_outcome(weights, own) for own in OUTCOMES) / len(OUTCOMES)
    assert mean == pytest.approx(0.75, abs=0.002)


def test_questions_with_one_listed_passage_do_not_lower_the_stated_confidence() -> None:
    unjudged = [replace(own, source=TRAINING, is_right=False) for own in OUTCOMES]
    weights = fit_kinds([*OUTCOMES, *unjudged])[guardrail.PASSAGES]
    mean = sum(score_outcome(weights, own) for own in OUTCOMES) / len(OUTCOMES)
    assert mean == pytest.approx(0.75, abs=0.002)
    all_right = [own for own in OUTCOMES if own.is_right]
    assert fit_bias(all_right, weights) == weights


def test_few_answers_hardly_move_a_weight() -> None:
    prior = load_guardrail().confidence[guardrail.PASSAGES]
    weights = fit_near(OUTCOMES[:4], prior)
    assert weights["size"] == prior["size"]
    assert weights["evidence"] == pytest.approx(prior["evidence"], abs=0.5)


def test_weights_replace_those_in_place_and_nothing_else() -> None:
    rules = RULES.read_text(encoding="utf8")
    changed = replace_weights(rules, {guardrail.TABLE: {"bias": -1.5, "aptness": 3.25}})
    assert "  table: {bias: -1.500, aptness: 3.250}\n" in changed
    assert len(set(rules.splitlines()) ^ set(changed.splitlines())) == 2
    with pytest.raises(ValueError, match="0 lines"):
        replace_weights(rules, {"songs": {"bias": 1.0}})


def test_the_surest_half_is_wrong_less_often() -> None:
    pairs = [(0.9, True), (0.8, True), (0.4, False), (0.3, True)]
    assert score_risk(pairs, share=0.5) == (0.5, 0.0)
    assert score_risk(pairs, share=1.0) == (1.0, pytest.approx(1 / 4))


def test_silence_is_counted_apart_for_questions_that_nothing_answers() -> None:
    assert count_silent([(0.1, True), (0.9, True), (0.1, False)]) == {"answerable": 0.5, "unanswerable": 1.0}
    assert count_silent([(0.1, True)])["unanswerable"] is None


def test_each_source_has_both_figures() -> None:
    found = compare_sources(OUTCOMES)
    assert set(found) == {DEVELOPMENT}
    assert set(found[DEVELOPMENT]) == {"in place", "fitted on other families"}
    assert set(fit_kinds(OUTCOMES)) == {guardrail.PASSAGES}
