"""Losses as arithmetic: what a question, its answer and other passages contribute."""

from __future__ import annotations

import math

import pytest
import torch

from taxkg_assets.training.losses import LossSettings, mask_guided_negatives, score_ranking_loss

pytestmark = pytest.mark.slow

SCORES = torch.tensor([[0.5, 0.25], [0.0, 0.5]])
RIGHT = torch.tensor([0, 1])
ONES = torch.ones(2)


def test_the_answer_competes_with_all_passages() -> None:
    loss = score_ranking_loss(SCORES, RIGHT, weights=ONES, settings=LossSettings("mnrl", scale=4.0))
    first = -math.log(math.exp(2) / (math.exp(2) + math.exp(1)))
    second = -math.log(math.exp(2) / (math.exp(2) + math.exp(0)))
    assert loss.item() == pytest.approx((first + second) / 2, rel=1e-5)


def test_an_example_counts_by_its_weight() -> None:
    weights = torch.tensor([3.0, 1.0])
    loss = score_ranking_loss(SCORES, RIGHT, weights=weights, settings=LossSettings("mnrl", scale=4.0))
    first, second = math.log(1 + math.exp(-1)), math.log(1 + math.exp(-2))
    assert loss.item() == pytest.approx((3 * first + second) / 4, rel=1e-5)


def test_an_answer_has_to_be_ahead_by_the_margin() -> None:
    loss = score_ranking_loss(SCORES[:1], RIGHT[:1], weights=ONES[:1], settings=LossSettings("margin", 4.0, 0.25))
    assert loss.item() == pytest.approx(math.log(2), rel=1e-5)


def test_what_is_not_allowed_does_not_compete() -> None:
    allowed = torch.tensor([[False, False], [True, True]])
    loss = score_ranking_loss(
        SCORES, RIGHT, weights=torch.tensor([1.0, 1e-9]), settings=LossSettings("mnrl"), is_negative=allowed
    )
    assert loss.item() == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "margin", "allowed"),
    [("gist", 0.1, [True, True, False, False]), ("gist_relative", 0.5, [False, True, False, False])],
)
def test_the_guide_forbids_what_it_puts_near_the_answer(name: str, margin: float, allowed: list[bool]) -> None:
    guide = torch.tensor([[0.35, 0.2, 0.45, 0.5]])
    found = mask_guided_negatives(guide, torch.tensor([3]), settings=LossSettings(name, margin=margin))  # type: ignore[arg-type]
    assert found is not None
    assert found.tolist() == [allowed]


def test_a_loss_without_a_guide_forbids_nothing() -> None:
    assert mask_guided_negatives(SCORES, RIGHT, settings=LossSettings("mnrl")) is None
