"""Reciprocal rank fusion, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from taxkg_assets.retrieval.index.fuse import fuse_rankings
from taxkg_assets.retrieval.index.top_rows import find_top


def test_fused_score_is_the_sum_of_reciprocal_ranks() -> None:
    fused = fuse_rankings([[7, 8], [8, 9]])
    assert fused == pytest.approx({7: 1 / (60 + 1), 8: 1 / (60 + 2) + 1 / (60 + 1), 9: 1 / (60 + 2)})


def test_weights_scale_a_ranking() -> None:
    assert fuse_rankings([[1], [2]], weights=[2.0, 1.0]) == pytest.approx({1: 2 / 61, 2: 1 / 61})


def test_top_rows_break_ties_by_number_and_stop_at_the_floor() -> None:
    scores = np.array([0.0, 2.0, 1.0, 2.0, 0.0], dtype=np.float32)
    assert find_top(scores, 4, floor=0.0).tolist() == [1, 3, 2]
    assert find_top(scores, 1).tolist() == [1]
    assert find_top(scores[:0], 3).tolist() == []
    assert find_top(scores, 0).tolist() == []


def test_top_rows_are_found_among_some_alone() -> None:
    scores = np.array([3.0, 2.0, 1.0, 2.0, 0.0], dtype=np.float32)
    among = np.array([False, True, True, True, True])
    assert find_top(scores, 2, among=among).tolist() == [1, 3]
    assert find_top(scores, 9, floor=1.0, among=among).tolist() == [1, 3]


@pytest.mark.parametrize("levels", [3, 40, 100_000])
@pytest.mark.parametrize("kept", [1.0, 0.5, 0.001])
def test_the_top_of_very_many_is_what_ordering_all_gives(levels: int, kept: float) -> None:
    draw = np.random.default_rng(7)
    scores = draw.integers(0, levels, 50_000).astype(np.float32)
    among = draw.random(len(scores)) < kept
    order = np.lexsort((np.arange(len(scores)), -scores))
    exact = order[among[order] & (scores[order] > 0.0)][:100]
    assert find_top(scores, 100, floor=0.0, among=among).tolist() == exact.tolist()


@pytest.mark.parametrize("shift", [0, 1])
def test_the_top_is_found_where_the_scores_inspected_are_not_like_the_others(shift: int) -> None:
    scores = np.zeros(50_000, dtype=np.float32)
    scores[shift::16] = np.arange(3_125)
    assert find_top(scores, 3_000).tolist() == [shift + 16 * number for number in range(3_124, 124, -1)]
