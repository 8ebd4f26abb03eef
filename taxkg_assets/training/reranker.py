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
"""A question and passages to one figure a passage; higher is better."""
WEIGHTS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """Hyperparameters of a cross-encoder: each query's positive against its hard negatives."""

    steps: StepSettings = field(default_factory=lambda: StepSettings(epochs=1.0, batch=8, learning_rate=4e-5))
    negatives: int = 3
    tokens: int = 176
    """Of question and passage together."""
    group_tokens: int = 4096
    is_bfloat16: bool = False


@dataclass(frozen=True, slots=True)
class RankedList:
    """The search results for a development question, with their relevance.

    Attributes:
        passages: Texts.
        scores: Score of each passage, higher is better.
        is_right: Relevance of each passage.
    """

    query: str
    kind: str
    family: str
    passages: tuple[str, ...]
    scores: Floats
    is_right: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reranker to evaluate: its scoring function, and the columns of its row."""

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
        pairs: Most training examples.
        dev: Most development examples.
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
    examples, dev = sample_examples(pairs, hard_negatives, most=context.pairs, dev=context.dev)
    lists = context.read_lists(dev) if dev else []
    rows = (
        [_evaluate(candidate, lists, context) for candidate in context.open_candidates(examples, dev)] if lists else []
    )
    best = max((row["gain"] for row in rows if row["is_chosen"]), default=None)
    for row in rows:
        if row["is_chosen"] and row["gain"] != best:
            row |= {"is_chosen": False, "reason": "another one gains more"}
    table = pl.DataFrame(rows, schema=schemas.Reranker.create_empty().schema).sort("name")
    return schemas.Reranker.validate(table)


def _evaluate(candidate: Candidate, lists: Sequence[RankedList], context: RerankerTrainingContext) -> dict[str, Any]:
    found = [candidate.score(ranked.query, ranked.passages) for ranked in lists]
    weights = find_weights(lists, found)
    own = [
        score_list(ranked, scores, weight=weights[ranked.family]) for ranked, scores in zip(lists, found, strict=True)
    ]
    base = [score_list(ranked, scores, weight=0.0) for ranked, scores in zip(lists, found, strict=True)]
    gain = decide_promotion(base, own, interval=context.interval)
    return {
        "name": f"{candidate.kind}-{(candidate.sha256 or candidate.base)[:12]}",
        "kind": candidate.kind,
        "path": candidate.path,
        "base": candidate.base,
        "sha256": candidate.sha256,
        "settings": candidate.settings,
        "depth": context.depth,
        "weight": weights[""],
        **gain.columns(),
    }


def find_weights(lists: Sequence[RankedList], found: Sequence[Floats]) -> dict[str, float]:
    """Fit the weight of a reranker's score by cross-validation over families.

    Args:
        lists: Ranked lists.
        found: The reranker's scores of each list's passages.

    Returns:
        Weight by family, fitted on the other families; under "" the weight fitted on all.
    """
    tried = {
        weight: np.array([score_list(ranked, s, weight=weight).ndcg for ranked, s in zip(lists, found, strict=True)])
        for weight in WEIGHTS
    }
    families = np.array([ranked.family for ranked in lists])
    chosen: dict[str, float] = {}
    for family in ("", *sorted(set(families.tolist()))):
        others = families != family
        kept = others if others.any() else np.ones(len(lists), dtype=np.bool_)
        chosen[family] = _find_modest({weight: values[kept] for weight, values in tried.items()})
    return chosen


def _find_modest(tried: Mapping[float, Floats]) -> float:
    """Return the smallest weight that the best one does not beat by more than one standard error of the difference.

    A few questions hardly separate large weights, and a large weight that fits them by chance moves many other answers.

    Source: Breiman et al., Classification and Regression Trees, 1984, section 3.4.3, the one-standard-error rule.
    """
    best = max(tried, key=lambda weight: (float(tried[weight].mean()), -weight))

    def is_near(weight: float) -> bool:
        behind = tried[best] - tried[weight]
        return bool(behind.mean() <= behind.std() / len(behind) ** 0.5)

    return min(weight for weight in tried if weight == best or is_near(weight))


def score_list(one: RankedList, scores: Floats, *, weight: float) -> QueryScore:
    """Score a reranked list; relevant passages missing in the list are ignored.

    Args:
        one: Ranked list.
        scores: The reranker's score of each passage.
        weight: Weight of these scores, added to the pipeline's.
    """
    order = np.argsort(-(one.scores + weight * scores), kind="stable")
    index_of = {str(number): number for number in range(len(one.passages))}
    right = [
        Example(one.query, str(number), (), one.kind, one.family, 1.0, "") for number in np.flatnonzero(one.is_right)
    ]
    return score_question(one.query, right, order=order, index_of=index_of)


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
        before = trainer.score_examples(dev)
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
        after = trainer.score_examples(dev)
    base.save_pretrained(str(out))
    (out / STATE).unlink()
    return TrainedModel(
        folder=out,
        sha256=hash_weights(out),
        settings=asdict(settings),
        alpha=1.0,
        base=before,
        tuned=after,
        alphas={1.0: mean_of(after)},
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
        chosen = [[example.positive, *self._choose(example.negatives)] for example in batch]
        pairs = [(example.query, text) for example, texts in zip(batch, chosen, strict=True) for text in texts]
        scores = self._forward(pairs)
        sizes = [len(texts) for texts in chosen]
        losses = [-part.log_softmax(dim=0)[0] for part in torch.split(scores, sizes)]
        weights = torch.tensor([example.weight for example in batch]).to(scores.device)
        loss = (torch.stack(losses) * weights).sum() / weights.sum()
        torch.autograd.backward(loss)
        return float(loss.detach())

    def score_examples(self, dev: Sequence[Example]) -> list[QueryScore]:
        """Score the rank of each example's positive among its negatives."""
        scores = []
        for example in dev:
            texts = [*example.negatives, example.positive]
            with torch.inference_mode():
                found = self._forward([(example.query, text) for text in texts]).cpu().numpy()
            index_of = {text: number for number, text in enumerate(texts)}
            scores.append(
                score_question(example.query, [example], order=np.argsort(-found, kind="stable"), index_of=index_of)
            )
        return scores

    def _forward(self, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
        features = self.tokens.find_pair_features(pairs)
        ids = [row for row, _ in features]
        groups = list(split_by_length(ids, tokens=self.settings.group_tokens))
        device = next(self.model.model.parameters()).device
        found = []
        for group in groups:
            rows = pad_rows([ids[ix] for ix in group], pad_id=self.tokens.pad_id)
            kinds = pad_rows([features[ix][1] for ix in group], pad_id=0)
            given = {**rows, "token_type_ids": kinds["input_ids"]}
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=self.settings.is_bfloat16):
                logits = self.model.model(**{name: tensor.to(device) for name, tensor in given.items()}).logits
            found.append(logits.float().squeeze(-1))
        order = torch.tensor([ix for group in groups for ix in group])
        return torch.cat(found)[torch.argsort(order)]

    def _choose(self, negatives: Sequence[str]) -> list[str]:
        order = torch.randperm(len(negatives)).tolist()
        return [negatives[ix] for ix in order[: self.settings.negatives]]
