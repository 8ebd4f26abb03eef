"""Walks of calls: a step into a package that was left before is a return."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets.extraction.forms.line_numbers import plain_number
from taxkg_assets.retrieval.query.router import Route
from tools.call_walk import STEPS, count_returns, record_walk, walk_document, walk_question

MOST_RETURNS = 5
MOST_RETURNS_OF_A_QUESTION = 20
"""Returns in the first functions of each walk; a path that turns back more often has become hard to follow."""


@pytest.mark.parametrize(
    ("walk", "returns"),
    [([], 0), (["a", "a", "b"], 0), (["a", "b", "a"], 1), (["a", "b", "a", "b"], 2), (["a", "b", "c", "c"], 0)],
)
def test_a_step_into_a_package_that_was_left_is_a_return(walk: list[str], returns: int) -> None:
    assert count_returns(walk) == returns


def test_each_function_is_recorded_once_with_its_package() -> None:
    assert record_walk(lambda: [plain_number("(3)"), plain_number("4")]) == ["extraction.forms"]


def test_methods_that_are_generated_are_not_recorded() -> None:
    assert record_walk(lambda: Route() == Route(years=(2031,))) == []


def test_the_walk_of_a_document_does_not_turn_back_often() -> None:
    walk = walk_document()[:STEPS]
    assert len(walk) == STEPS
    assert count_returns(walk) <= MOST_RETURNS


@pytest.mark.slow
def test_the_walk_of_a_question_does_not_turn_back_often(built_samples: Path) -> None:
    walk = walk_question(built_samples)[:STEPS]
    assert len(walk) == STEPS
    assert count_returns(walk) <= MOST_RETURNS_OF_A_QUESTION
