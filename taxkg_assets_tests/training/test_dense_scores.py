"""Figures of a ranking by vectors, worked by hand; groups of rows that run together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from taxkg_assets.training.batches import split_by_length
from taxkg_assets.training.dense_scores import Vectors, score_dense
from taxkg_assets.training.examples import Example

DIRECTIONS = {"q": 0.0, "near": 10.0, "right": 20.0, "also right": 40.0, "far": 90.0}


def encode(texts: Sequence[str], is_query: bool) -> Vectors:
    angles = np.radians([DIRECTIONS[text] for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_a_question_is_scored_by_the_ranks_of_all_its_answers() -> None:
    dev = [Example("q", answer, ("near",), "table", "f", 1.0, answer) for answer in ("right", "also right")]
    (score,) = score_dense(encode, dev, pool=["far"]).questions
    assert score.reciprocal_rank == 1 / 2
    assert score.recall == 1.0
    gained = 1 / math.log2(2 + 1) + 1 / math.log2(3 + 1)
    assert score.ndcg == pytest.approx(gained / (1 / math.log2(1 + 1) + 1 / math.log2(2 + 1)))


def test_groups_hold_rows_of_like_length_within_the_limit() -> None:
    ids = [[0] * length for length in (30, 3, 16, 8, 31)]
    groups = list(split_by_length(ids, max_tokens=64))
    assert groups == [[1, 3, 2], [0, 4]]
