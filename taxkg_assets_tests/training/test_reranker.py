"""The weight of a reranker next to the pipeline is decided by other families; a cross-encoder learns its lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from taxkg_assets.retrieval.encoding.passage_scorer import CrossScorer, LateScorer, Reranker
from taxkg_assets.training.dense_scores import mean_of
from taxkg_assets.training.reranker import RankedList, RerankerSettings, find_weights, score_list, train_reranker
from taxkg_assets.training.steps import StepSettings
from taxkg_assets_tests.training.tiny import open_tiny_model, save_tiny_model, write_examples

pytestmark = pytest.mark.slow

RIGHT_IS_THIRD = np.array([False, False, True])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


def ranked(family: str) -> RankedList:
    return RankedList("q", "scenario", family, ("a", "b", "c"), np.array([3.0, 2.0, 1.0]), RIGHT_IS_THIRD)


def test_reranking_moves_an_answer_up_by_its_weight() -> None:
    scores = np.array([0.0, 0.0, 0.75])
    assert score_list(ranked("f"), scores, weight=0.0).ndcg == pytest.approx(1 / math.log2(3 + 1))
    assert score_list(ranked("f"), scores, weight=2.0).ndcg == pytest.approx(1 / math.log2(2 + 1))
    assert score_list(ranked("f"), scores, weight=4.0).ndcg == 1.0


def test_no_family_chooses_its_own_weight() -> None:
    helped, misled = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    weights = find_weights([ranked("one"), ranked("other")], [helped, misled])
    assert weights["one"] == 0.0
    assert weights["other"] == 4.0


def test_looking_again_takes_from_all_but_the_best() -> None:
    class Fixed:
        def score(self, question: str, passages: Sequence[str]) -> np.ndarray:
            return np.array([0.25, 0.5])

    lost = Reranker("fixed", Fixed(), weight=4.0, depth=2).score_penalties("q", ["a", "b"])
    assert lost.tolist() == [4.0 * (0.25 - 0.5), 0.0]


def test_late_interaction_does_not_depend_on_batch_mates(tiny: Path) -> None:
    scorer = LateScorer(open_tiny_model(tiny))
    passages = [example.positive * (1 + place % 3) for place, example in enumerate(write_examples())]
    together = scorer.score("where does rent go", passages)
    apart = [scorer.score("where does rent go", [passage])[0] for passage in passages]
    assert np.allclose(together, apart, atol=1e-5)
    assert scorer.score(passages[0], passages)[0] == pytest.approx(1.0, abs=1e-5)


def test_a_cross_encoder_learns_to_put_answers_first(tiny: Path, tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    examples = write_examples()
    steps = StepSettings(epochs=30, batch=5, learning_rate=5e-3, evaluations=2)
    settings = RerankerSettings(steps=steps, negatives=1)
    base = CrossEncoder(str(tiny), num_labels=1, device="cpu")
    trained = train_reranker(examples, examples, base=base, settings=settings, out=tmp_path / "cross")
    assert mean_of(trained.tuned) > mean_of(trained.base)
    scorer = CrossScorer(CrossEncoder(str(tmp_path / "cross"), device="cpu"))
    assert scorer.score(examples[0].query, [examples[0].positive, examples[1].positive]).shape == (2,)
