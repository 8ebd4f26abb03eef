"""What did not run is reported with its reason: a model that was trained is never called untrained."""

from __future__ import annotations

import pytest

from taxkg_assets.evaluation.optional_components import describe_unmeasured
from taxkg_assets.records import PromotionRecord


def _model(gain: float, low: float | None, high: float | None, *, is_chosen: bool = False) -> PromotionRecord:
    return PromotionRecord(
        dev_questions=9,
        base_score=0.5,
        candidate_score=0.5 + gain,
        gain=gain,
        gain_low=low,
        gain_high=high,
        gain_by_kind="{}",
        is_chosen=is_chosen,
        reason="",
    )


@pytest.mark.parametrize(
    ("models", "state"),
    [
        ([], "not trained"),
        ([_model(0.003, -0.01, 0.02)], "trained, not promoted: gain +0.003 [-0.010, +0.020]"),
        ([_model(-0.1, -0.2, 0.0), _model(0.0, None, None)], "trained, not promoted: gain +0.000, no interval"),
        ([_model(0.1, 0.05, 0.2, is_chosen=True)], "promoted, not measured here"),
    ],
)
def test_a_trained_model_is_reported_with_its_gain(models: list[PromotionRecord], state: str) -> None:
    assert describe_unmeasured(["tuned model"], {"model": models}) == {"tuned model": state}
    assert describe_unmeasured(["reranker"], {"reranker": models}) == {"reranker": state}


def test_what_is_not_trained_is_switched_off() -> None:
    assert describe_unmeasured(["imagined passage"], {}) == {"imagined passage": "switched off"}
