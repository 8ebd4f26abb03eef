"""Intervals and tests on cases that can be worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from taxkg_assets.evaluation.significance import compute_p_value, score_interval


def test_one_family_alone_has_no_interval() -> None:
    found = score_interval([0.0, 1.0], ["a", "a"], seed=0, stream=["x"])
    assert (found.value, found.low, found.high) == (1 / 2, None, None)


def test_two_families_of_constants_bound_the_interval() -> None:
    """Draws of (a,a), (a,b), (b,b) have chances 1/4, 1/2, 1/4: both ends lie beyond the 2.5 % quantiles."""
    found = score_interval([0.0, 0.0, 1.0, 1.0], ["a", "a", "b", "b"], seed=0, stream=["x"])
    assert (found.low, found.value, found.high) == (0.0, 0.5, 1.0)


def test_clusters_widen_the_interval() -> None:
    values = [1.0] * 20 + [0.0] * 20
    alone = score_interval(values, [str(n) for n in range(40)], seed=0, stream=["x"])
    together = score_interval(values, [str(n // 10) for n in range(40)], seed=0, stream=["x"])
    assert alone.low is not None
    assert together.low is not None
    assert together.low < alone.low


def test_two_families_that_agree_by_chance_make_no_narrow_interval() -> None:
    """Both families have the mean 1/2; eight values of 0 and 1 have the variance 2/7, their mean 2/7/8."""
    found = score_interval([1.0, 0.0] * 4, ["a"] * 4 + ["b"] * 4, seed=0, stream=["x"])
    assert found.low == pytest.approx(0.5 - 1.96 * (2 / 7 / 8) ** 0.5)
    assert found.high == pytest.approx(0.5 + 1.96 * (2 / 7 / 8) ** 0.5)


def test_interval_of_many_single_values_is_near_the_normal_one() -> None:
    values = np.random.default_rng(7).integers(0, 2, size=400).astype(float).tolist()
    mean = sum(values) / 400
    half = 1.96 * (mean * (1 - mean) / 400) ** 0.5
    found = score_interval(values, [str(n) for n in range(400)], seed=1, stream=["x"])
    assert found.low == pytest.approx(mean - half, abs=0.01)
    assert found.high == pytest.approx(mean + half, abs=0.01)


def test_p_value_of_three_wins_is_exact() -> None:
    """Of the 2**3 ways to swap, all kept and all swapped differ as much: 2 / 8."""
    assert compute_p_value([1, 1, 1], [0, 0, 0], seed=0, stream=["x"]) == pytest.approx(2 / 8)


def test_equal_systems_are_not_different() -> None:
    assert compute_p_value([1, 0, 1], [1, 0, 1], seed=0, stream=["x"]) == 1.0


def test_many_wins_are_bounded_by_the_number_of_draws() -> None:
    assert compute_p_value([1] * 40, [0] * 40, seed=0, stream=["x"]) == pytest.approx(1 / 10000)


def test_same_seed_and_name_same_numbers() -> None:
    values = np.random.default_rng(0).random(30).tolist()
    families = [str(n) for n in range(30)]
    first = score_interval(values, families, seed=3, stream=["x"])
    again = score_interval(values, families, seed=3, stream=["x"])
    other = score_interval(values, families, seed=4, stream=["x"])
    assert first == again
    assert first != other
