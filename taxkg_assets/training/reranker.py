"""Rerankers, trained and evaluated: a cross-encoder on the pairs, or late interaction of the encoder's tokens.

Here: training a cross-encoder, fitting the weight of a reranker's score. Not here: the pipeline.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import dataframely as dy
import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.training.batches import Tokens, pad_rows, split_by_length
from taxkg_assets.training.dense_scores import QueryScore, mean_of, score_question
from taxkg_assets.training.examples import Example
from taxkg_assets.training.lazy_torch import torch
from taxkg_assets.training.model import STATE, hash_weights, identify_training
from taxkg_assets.training.promotion import Interval, decide_promotion
from taxkg_assets.training.sampling import sample_examples
from taxkg_assets.training.steps import (
    Checkpoint,
    Progress,
    StepSettings,
    draw_batches,
    peak_memory_mb,
    run_steps,
    seeded,
)
from taxkg_assets.training.trained_model import TrainedModel

Floats = npt.NDArray[np.float64]
Score = Callable[[str, Sequence[str]], Floats]
"""Scores passages for a question, one number per passage; higher is better."""
WEIGHTS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Weights of a reranker's score that are tried; 0 is the pipeline without it."""


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """Hyperparameters of a cross-encoder: each query's positive against its hard negatives."""

    steps: StepSettings = field(default_factory=lambda: StepSettings(epochs=1.0, batch=8, learning_rate=4e-5))
    negatives: int = 3
    """Hard negatives per example and step, sampled again each step."""
    tokens: int = 176
    """Most tokens of question and passage together."""
    group_tokens: int = 4096
    """Most tokens in one forward pass; memory grows with it."""
    is_bfloat16: bool = False
    """Whether the forward pass computes in bfloat16, which needs less memory than float32."""


@dataclass(frozen=True, slots=True)
class RankedList:
    """The search results for a development question, with their relevance.

    Attributes:
        passages: Texts of the passages.
        scores: The pipeline's score of each passage, higher is better.
        is_right: Whether each passage is relevant.
    """

    query: str
    kind: str
    family: str
    passages: tuple[str, ...]
    scores: Floats
    is_right: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reranker to evaluate: its scoring function, and the columns of its row in `reranker`."""

    kind: str
    path: str
    base: str
    sha256: str
    settings: str
    score: Score


@dataclass(frozen=True)
class RerankerTrainingContext:
    """What the caller provides for training and evaluating rerankers.

    Attributes:
        read_lists: Ranks the questions of development examples with the pipeline.
        open_candidates: Trains or opens the rerankers, given training and development examples.
        interval: Confidence interval of a mean over clusters.
        depth: Passages that are reranked.
        pairs: Maximum number of training examples.
        dev: Maximum number of development examples.
    """

    read_lists: Callable[[Sequence[Example]], list[RankedList]]
    open_candidates: Callable[[Sequence[Example], Sequence[Example]], list[Candidate]]
    interval: Interval
    depth: int
    pairs: int
    dev: int


def build_reranker(
    pairs: dy.DataFrame[schemas.Pairs],
    hard_negatives: dy.DataFrame[schemas.HardNegatives],
    model: dy.DataFrame[schemas.Model],
    *,
    context: RerankerTrainingContext,
) -> dy.DataFrame[schemas.Reranker]:
    """Evaluate reranker candidates on the development families, and promote at most one.

    Args:
        pairs: Pairs of both splits.
        hard_negatives: Their negatives.
        model: Not read; makes this step run after the encoder, whose tokens a late reranker uses.
        context: Rankings, candidates and settings.

    Returns:
        One row per candidate.
    """
    examples, dev = sample_examples(pairs, hard_negatives, max_examples=context.pairs, max_dev=context.dev)
    lists = context.read_lists(dev) if dev else []
    candidates = context.open_candidates(examples, dev) if lists else []
    rows = [_evaluate(candidate, lists, context) for candidate in candidates]
    best_gain = max((row["gain"] for row in rows if row["is_chosen"]), default=None)
    for row in rows:
        if row["is_chosen"] and row["gain"] != best_gain:
            row |= {"is_chosen": False, "reason": "another one gains more"}
    table = pl.DataFrame(rows, schema=schemas.Reranker.create_empty().schema).sort("name")
    return schemas.Reranker.validate(table)


def _evaluate(candidate: Candidate, lists: Sequence[RankedList], context: RerankerTrainingContext) -> dict[str, Any]:
    """Return the row of a candidate: its weight, its gain over the pipeline without it, and whether it is promoted."""
    scores_by_list = [candidate.score(ranked.query, ranked.passages) for ranked in lists]
    weights = find_weights(lists, scores_by_list)
    scored_lists = list(zip(lists, scores_by_list, strict=True))
    reranked = [score_list(ranked, scores, weight=weights[ranked.family]) for ranked, scores in scored_lists]
    base = [score_list(ranked, scores, weight=0.0) for ranked, scores in scored_lists]
    promotion = decide_promotion(base, reranked, interval=context.interval)
    return {
        "name": f"{candidate.kind}-{(candidate.sha256 or candidate.base)[:12]}",
        "kind": candidate.kind,
        "path": candidate.path,
        "base": candidate.base,
        "sha256": candidate.sha256,
        "settings": candidate.settings,
        "depth": context.depth,
        "weight": weights[""],
        **promotion.columns(),
    }


def find_weights(lists: Sequence[RankedList], scores_by_list: Sequence[Floats]) -> dict[str, float]:
    """Fit the weight of a reranker's score by cross-validation over families.

    Args:
        lists: Search results of the development questions.
        scores_by_list: The reranker's scores of each list's passages.

    Returns:
        Weight by family, fitted on the other families; under "" the weight fitted on all.
    """
    scored_lists = list(zip(lists, scores_by_list, strict=True))
    ndcg_by_weight = {
        weight: np.array([score_list(ranked, scores, weight=weight).ndcg for ranked, scores in scored_lists])
        for weight in WEIGHTS
    }
    families = np.array([ranked.family for ranked in lists])
    weight_by_family: dict[str, float] = {}
    for family in ("", *sorted(set(families.tolist()))):
        is_other = families != family
        is_fitted = is_other if is_other.any() else np.ones(len(lists), dtype=np.bool_)
        weight_by_family[family] = _find_smallest_near_best(
            {weight: values[is_fitted] for weight, values in ndcg_by_weight.items()}
        )
    return weight_by_family


def _find_smallest_near_best(ndcg_by_weight: Mapping[float, Floats]) -> float:
    """Return the smallest weight that the best one does not beat by more than one standard error of the difference.

    A few questions hardly separate large weights, and a large weight that fits them by chance moves many other answers.

    Source: Breiman et al., Classification and Regression Trees, 1984, section 3.4.3, the one-standard-error rule.
    """
    best = max(ndcg_by_weight, key=lambda weight: (float(ndcg_by_weight[weight].mean()), -weight))

    def is_near_best(weight: float) -> bool:
        losses = ndcg_by_weight[best] - ndcg_by_weight[weight]
        return bool(losses.mean() <= losses.std() / len(losses) ** 0.5)

    return min(weight for weight in ndcg_by_weight if weight == best or is_near_best(weight))


def score_list(ranked: RankedList, scores: Floats, *, weight: float) -> QueryScore:
    """Score a reranked list; relevant passages that are not in the list are ignored.

    Args:
        ranked: Search results of one question.
        scores: The reranker's score of each passage.
        weight: Weight of these scores, added to the pipeline's.
    """
    order = np.argsort(-(ranked.scores + weight * scores), kind="stable")
    index_of = {str(ix): ix for ix in range(len(ranked.passages))}
    examples = [
        Example(ranked.query, str(ix), (), ranked.kind, ranked.family, 1.0, "")
        for ix in np.flatnonzero(ranked.is_right)
    ]
    return score_question(ranked.query, examples, order=order, index_of=index_of)


def train_reranker(
    examples: Sequence[Example],
    dev: Sequence[Example],
    *,
    base: Any,
    settings: RerankerSettings,
    out: Path,
    progress: Progress | None = None,
) -> TrainedModel:
    """Train a CrossEncoder to rank each positive before its hard negatives, and save the best state.

    Args:
        examples: Training examples; those without negatives are left out.
        dev: Development examples with negatives; each positive is ranked among its own negatives.
        base: Loaded CrossEncoder; changed by training.
        settings: Hyperparameters.
        out: Folder for the model, and for the state while training runs.
        progress: Receives steps done and steps in all.

    Returns:
        The saved model with its figures.

    Raises:
        ValueError: No evaluation gave a number.
    """
    examples = [example for example in examples if example.negatives]
    with seeded(settings.steps):
        trainer = _CrossTrainer(base, settings)
        base.model.eval()
        base_scores = trainer.score_examples(dev)
        history = run_steps(
            base.model,
            draw_batches(len(examples), settings=settings.steps),
            step=lambda batch: trainer.step([examples[ix] for ix in batch]),
            score=lambda: mean_of(trainer.score_examples(dev)),
            settings=settings.steps,
            checkpoint=Checkpoint(out / STATE, identify_training(examples, dev, settings=settings)),
            progress=progress,
        )
        base.model.load_state_dict(history.best)
        base.model.eval()
        tuned_scores = trainer.score_examples(dev)
    base.save_pretrained(str(out))
    (out / STATE).unlink()
    return TrainedModel(
        folder=out,
        sha256=hash_weights(out),
        settings=asdict(settings),
        alpha=1.0,
        base=base_scores,
        tuned=tuned_scores,
        alphas={1.0: mean_of(tuned_scores)},
        steps=history.steps,
        examples=history.examples,
        seconds=history.seconds,
        peak_mb=peak_memory_mb(),
        dev_scores=history.scores,
    )


def describe_settings(settings: RerankerSettings) -> str:
    """Return the settings as JSON.

    Args:
        settings: Hyperparameters.
    """
    return json.dumps(asdict(settings), sort_keys=True)


class _CrossTrainer:
    """A CrossEncoder with its tokenizer cache: training steps and scores."""

    def __init__(self, model: Any, settings: RerankerSettings) -> None:
        self.model, self.settings = model, settings
        self.tokens = Tokens(model.tokenizer, settings.tokens)

    def step(self, batch: Sequence[Example]) -> float:
        """Compute the gradients of one batch: a weighted softmax over each positive and its hard negatives.

        Source: Cao et al. 2007, listwise learning to rank; one relevant passage per list.
        """
        lists = [[example.positive, *self._sample_negatives(example.negatives)] for example in batch]
        pairs = [(example.query, text) for example, texts in zip(batch, lists, strict=True) for text in texts]
        scores = self._score_pairs(pairs)
        sizes = [len(texts) for texts in lists]
        # The positive is the first passage of its list.
        losses = [-list_scores.log_softmax(dim=0)[0] for list_scores in torch.split(scores, sizes)]
        weights = torch.tensor([example.weight for example in batch]).to(scores.device)
        loss = (torch.stack(losses) * weights).sum() / weights.sum()
        torch.autograd.backward(loss)
        return float(loss.detach())

    def score_examples(self, dev: Sequence[Example]) -> list[QueryScore]:
        """Score the rank of each example's positive among its negatives."""
        query_scores = []
        for example in dev:
            texts = [*example.negatives, example.positive]
            with torch.inference_mode():
                scores = self._score_pairs([(example.query, text) for text in texts]).cpu().numpy()
            index_of = {text: ix for ix, text in enumerate(texts)}
            order = np.argsort(-scores, kind="stable")
            query_scores.append(score_question(example.query, [example], order=order, index_of=index_of))
        return query_scores

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
        """Return the model's score of each pair of query and passage."""
        features = self.tokens.find_pair_features(pairs)
        ids = [row for row, _ in features]
        groups = list(split_by_length(ids, max_tokens=self.settings.group_tokens))
        device = next(self.model.model.parameters()).device
        group_scores = []
        for group in groups:
            inputs = pad_rows([ids[ix] for ix in group], pad_id=self.tokens.pad_id)
            inputs["token_type_ids"] = pad_rows([features[ix][1] for ix in group], pad_id=0)["input_ids"]
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=self.settings.is_bfloat16):
                logits = self.model.model(**{name: tensor.to(device) for name, tensor in inputs.items()}).logits
            group_scores.append(logits.float().squeeze(-1))
        order = torch.tensor([ix for group in groups for ix in group])
        return torch.cat(group_scores)[torch.argsort(order)]

    def _sample_negatives(self, negatives: Sequence[str]) -> list[str]:
        shuffled = torch.randperm(len(negatives)).tolist()
        return [negatives[ix] for ix in shuffled[: self.settings.negatives]]
