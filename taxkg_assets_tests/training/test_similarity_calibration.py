"""The line from tuned cosines to those of the base, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from taxkg_assets.training.similarity_calibration import SimilarityScale, fit_scale, score_mean_by_rank


def test_places_are_means_over_questions_of_the_nearest_the_second_and_so_on() -> None:
    cosines = np.array([[0.1, 0.9, 0.5], [0.7, 0.2, 0.3]], dtype=np.float32)
    assert score_mean_by_rank(cosines) == pytest.approx([(0.9 + 0.7) / 2, (0.5 + 0.3) / 2, (0.1 + 0.2) / 2])


def test_what_training_moved_and_spread_is_moved_and_drawn_together_again() -> None:
    base = np.array([0.6, 0.5, 0.45, 0.4])
    assert fit_scale(base, (base - 0.3) / 0.5) == SimilarityScale(0.5, 0.3)


@pytest.mark.parametrize("tuned", [np.full(3, 0.2), np.array([0.1, 0.2, 0.3])])
def test_cosines_without_a_spread_are_only_moved(tuned: np.ndarray) -> None:
    base = np.array([0.6, 0.5, 0.4])
    assert fit_scale(base, tuned) == SimilarityScale(1.0, pytest.approx(0.3))


def test_nothing_to_measure_by_leaves_cosines_as_they_are() -> None:
    assert fit_scale(np.zeros(0), np.zeros(0)) == SimilarityScale(1.0, 0.0)
