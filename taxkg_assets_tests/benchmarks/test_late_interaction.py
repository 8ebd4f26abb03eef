"""Late interaction by hand: each word of the question takes its best word of the passage."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.training.late_interaction import score_late_interaction

EAST, NORTH = np.array([1.0, 0.0], dtype=np.float32), np.array([0.0, 1.0], dtype=np.float32)
BETWEEN = (EAST + NORTH) / np.sqrt(np.float32(2))


def test_the_mean_of_the_best_cosines() -> None:
    assert score_late_interaction(np.stack([EAST, NORTH]), np.stack([EAST, BETWEEN])) == pytest.approx(
        (1 + 1 / 2**0.5) / 2
    )


def test_more_words_of_the_passage_never_hurt_and_empty_texts_score_nothing() -> None:
    query = np.stack([EAST, NORTH])
    assert score_late_interaction(query, np.stack([EAST])) <= score_late_interaction(query, np.stack([EAST, NORTH]))
    assert score_late_interaction(query, np.zeros((0, 2), dtype=np.float32)) == 0.0
