"""The encoder, tuned: contrastive training of a sentence-transformers model on pairs with hard negatives.

Here: training, mixing with the base, choosing by the development split. Not here: pairs, negatives, the gate.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from taxkg_assets.training.batches import Tokens, pad_rows, split_by_length
from taxkg_assets.training.dense_scores import QueryScore, Vectors, mean_of, score_dense
from taxkg_assets.training.examples import Example
from taxkg_assets.training.losses import LossSettings, find_allowed, score_ranking_loss
from taxkg_assets.training.steps import (
    Course,
    Progress,
    StepSettings,
    Weights,
    copy_weights,
    draw_batches,
    peak_memory_mb,
    run_steps,
    seeded,
)

STATE = "training_state.pt"


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """How an encoder is trained."""

    steps: StepSettings = field(default_factory=StepSettings)
    loss: LossSettings = field(default_factory=LossSettings)
    negatives: int = 2
    """Hard negatives of each example that take part in a step; another choice of them each time."""
    query_tokens: int = 48
    passage_tokens: int = 128
    group_tokens: int = 4096
    """Tokens that run through the model together; what a step holds in memory grows with it."""
    is_cached: bool = True
    """Gradients of the vectors first, then group by group: any batch fits in memory, for a third more time."""
    frozen_layers: int = 0
    """Embeddings and so many of the lowest layers keep their weights."""
    dimensions: tuple[int, ...] = ()
    """Matryoshka: lengths to which vectors may be cut; empty for the full length only."""
    alphas: tuple[float, ...] = (1.0, 0.75, 0.5, 0.25)
    """Shares of the tuned weights that are tried in a mixture with the base."""
    is_bfloat16: bool = False


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A trained model in its folder, and what training and development split say of it."""

    folder: Path
    sha256: str
    settings: dict[str, Any]
    alpha: float
    base: list[QueryScore]
    tuned: list[QueryScore]
    alphas: dict[float, float]
    steps: int
    examples: int
    seconds: float
    peak_mb: float
    course: list[tuple[int, float]]


def train_encoder(
    examples: Sequence[Example],
    dev: Sequence[Example],
    *,
    base: Any,
    settings: EncoderSettings,
    out: Path,
    pool: Sequence[str] = (),
    progress: Progress | None = None,
) -> TrainedModel:
    """Tune a loaded SentenceTransformer and save the mixture with its base that the development split likes best.

    Args:   base: changed by training; load another one to go on with the base. out: folder for the model; a state
            lies there while training runs, from which a killed training of the same data and settings goes on.
            pool: further passages that development questions are ranked against.
    """
    with seeded(settings.steps):
        trainer = _Trainer(base, settings)
        origin = copy_weights(base)
        base.eval()
        scores_of_base = score_dense(trainer.encode, dev, pool=pool)
        guide = trainer.find_guide(examples) if settings.loss.name.startswith("gist") else {}
        trainer.freeze()
        course = run_steps(
            base,
            draw_batches(len(examples), settings=settings.steps),
            step=lambda batch: trainer.step([examples[place] for place in batch], guide),
            score=lambda: mean_of(score_dense(trainer.encode, dev, pool=pool)),
            settings=settings.steps,
            state=out / STATE,
            identity=identify_training(examples, dev, settings=settings),
            progress=progress,
        )
        alpha, found, tried = _mix(trainer, origin, course, dev=dev, pool=pool)
    base.eval()
    base.save(str(out), create_model_card=False)
    return TrainedModel(
        folder=out,
        sha256=hash_weights(out),
        settings=asdict(settings),
        alpha=alpha,
        base=scores_of_base,
        tuned=found,
        alphas=tried,
        steps=course.steps,
        examples=course.examples,
        seconds=course.seconds,
        peak_mb=peak_memory_mb(),
        course=course.scores,
    )


def identify_training(examples: Sequence[Example], dev: Sequence[Example], *, settings: Any) -> str:
    """Digest of everything that decides how a training goes."""
    hashed = hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode())
    for example in (*examples, *dev):
        hashed.update("\x1f".join([example.query, example.positive, *example.negatives, str(example.weight)]).encode())
    return hashed.hexdigest()


def hash_weights(folder: Path) -> str:
    """SHA-256 of a saved model's weights."""
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def mix_weights(origin: Weights, tuned: Weights, *, alpha: float) -> Weights:
    """So much of the tuned weights, the rest of the base's.

    Source: Wortsman et al. 2022 (arXiv 2109.01903), robust fine-tuning by weight interpolation.
    """
    return {
        name: torch.lerp(weight, tuned[name], alpha) if weight.is_floating_point() else weight
        for name, weight in origin.items()
    }


def _mix(
    trainer: _Trainer, origin: Weights, course: Course, *, dev: Sequence[Example], pool: Sequence[str]
) -> tuple[float, list[QueryScore], dict[float, float]]:
    """Try mixtures with the base, leave the best one in the model."""
    trainer.model.eval()
    tried: dict[float, list[QueryScore]] = {}
    for alpha in trainer.settings.alphas:
        trainer.model.load_state_dict(mix_weights(origin, course.best, alpha=alpha))
        tried[alpha] = score_dense(trainer.encode, dev, pool=pool)
    best = max(tried, key=lambda alpha: (mean_of(tried[alpha]), -alpha))
    trainer.model.load_state_dict(mix_weights(origin, course.best, alpha=best))
    return best, tried[best], {alpha: mean_of(scores) for alpha, scores in tried.items()}


class _Trainer:
    """A model with its tokens: steps of training and vectors."""

    def __init__(self, model: Any, settings: EncoderSettings) -> None:
        self.model, self.settings = model, settings
        prompts = model.prompts or {}
        self.prompts = {
            True: prompts.get("query") or "",
            False: prompts.get("document") or prompts.get("passage") or "",
        }
        self.tokens = {
            True: Tokens(model.tokenizer, settings.query_tokens),
            False: Tokens(model.tokenizer, settings.passage_tokens),
        }

    def freeze(self) -> None:
        """Keep the embeddings and the lowest layers as they are."""
        lowest = [f"layer.{number}." for number in range(self.settings.frozen_layers)]
        for name, weight in self.model.named_parameters():
            is_low = any(part in name for part in (*lowest, "embeddings."))
            weight.requires_grad = not (self.settings.frozen_layers and is_low)

    def encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        """Unit-length vectors without gradients."""
        vectors = torch.zeros(len(texts), self.model.get_embedding_dimension())
        ids = self._ids(texts, is_query)
        with torch.inference_mode():
            for group in split_by_length(ids, tokens=self.settings.group_tokens):
                vectors[group] = self._forward([ids[place] for place in group])
        found: Vectors = vectors.numpy()
        return found

    def find_guide(self, examples: Sequence[Example]) -> dict[tuple[str, bool], torch.Tensor]:
        """Vectors by the base of all texts that take part."""
        queries = list(dict.fromkeys(example.query for example in examples))
        passages = list(dict.fromkeys(text for e in examples for text in (e.positive, *e.negatives)))
        found = {(text, True): vector for text, vector in zip(queries, self.encode(queries, True), strict=True)}
        found |= {(text, False): vector for text, vector in zip(passages, self.encode(passages, False), strict=True)}
        return {key: torch.from_numpy(np.array(vector)) for key, vector in found.items()}

    def step(self, batch: Sequence[Example], guide: dict[tuple[str, bool], torch.Tensor]) -> float:
        """Gradients of one batch: each question against the answers and the hard negatives of all."""
        queries = [example.query for example in batch]
        chosen = [text for example in batch for text in self._choose(example.negatives)]
        passages = list(dict.fromkeys([*(example.positive for example in batch), *chosen]))
        column = {text: number for number, text in enumerate(passages)}
        right = torch.tensor([column[example.positive] for example in batch])
        is_allowed = find_distinct(batch, column)
        if guide:
            judged = (
                torch.stack([guide[text, True] for text in queries])
                @ torch.stack([guide[text, False] for text in passages]).T
            )
            allowed = find_allowed(judged, right, settings=self.settings.loss)
            is_allowed = is_allowed if allowed is None else is_allowed & (allowed | find_own(batch, column))
        weights = torch.tensor([example.weight for example in batch])

        def loss_of(vectors: torch.Tensor) -> torch.Tensor:
            total = torch.zeros(())
            for length in (vectors.shape[1], *self.settings.dimensions):
                cut = torch.nn.functional.normalize(vectors[:, :length], dim=1)
                scores = cut[: len(queries)] @ cut[len(queries) :].T
                total = total + score_ranking_loss(
                    scores, right, weights=weights, settings=self.settings.loss, is_allowed=is_allowed
                )
            return total / (1 + len(self.settings.dimensions))

        ids = [*self._ids(queries, True), *self._ids(passages, False)]
        return self._backward_cached(ids, loss_of) if self.settings.is_cached else self._backward(ids, loss_of)

    def _backward(self, ids: list[list[int]], loss_of: Any) -> float:
        groups = list(split_by_length(ids, tokens=self.settings.group_tokens))
        vectors = torch.cat([self._forward([ids[place] for place in group]) for group in groups])
        order = torch.tensor([place for group in groups for place in group])
        loss = loss_of(vectors[torch.argsort(order)])
        torch.autograd.backward(loss)
        return float(loss.detach())

    def _backward_cached(self, ids: list[list[int]], loss_of: Any) -> float:
        """As `_backward`, with one group in memory at a time.

        Source: Gao et al. 2021 (arXiv 2101.06983), gradient cache; the draws of dropout are repeated.
        """
        groups = list(split_by_length(ids, tokens=self.settings.group_tokens))
        vectors = torch.zeros(len(ids), self.model.get_embedding_dimension())
        states = []
        with torch.no_grad():
            for group in groups:
                states.append(torch.get_rng_state())
                vectors[group] = self._forward([ids[place] for place in group])
        after = torch.get_rng_state()
        vectors.requires_grad_()
        loss = loss_of(vectors)
        torch.autograd.backward(loss)
        assert vectors.grad is not None
        for group, state in zip(groups, states, strict=True):
            torch.set_rng_state(state)
            torch.autograd.backward((self._forward([ids[place] for place in group]) * vectors.grad[group]).sum())
        torch.set_rng_state(after)
        return float(loss.detach())

    def _forward(self, ids: list[list[int]]) -> torch.Tensor:
        features = pad_rows(ids, pad_id=self.tokens[False].pad_id)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.settings.is_bfloat16):
            vectors = self.model(features)["sentence_embedding"]
        return torch.nn.functional.normalize(vectors.float(), dim=1)

    def _ids(self, texts: Sequence[str], is_query: bool) -> list[list[int]]:
        return self.tokens[is_query].find_ids([self.prompts[is_query] + text for text in texts])

    def _choose(self, negatives: Sequence[str]) -> list[str]:
        if len(negatives) <= self.settings.negatives:
            return list(negatives)
        order = torch.randperm(len(negatives)).tolist()
        return [negatives[place] for place in order[: self.settings.negatives]]


def find_distinct(batch: Sequence[Example], column: dict[str, int]) -> torch.Tensor:
    """False where a passage answers the row's question by another example of the batch."""
    allowed = torch.ones(len(batch), len(column), dtype=torch.bool)
    answers: dict[str, set[int]] = {}
    for example in batch:
        answers.setdefault(example.query, set()).add(column[example.positive])
    for row, example in enumerate(batch):
        allowed[row, list(answers[example.query])] = False
    return allowed


def find_own(batch: Sequence[Example], column: dict[str, int]) -> torch.Tensor:
    """True where a passage is a hard negative of the row's own example: those were judged when they were made."""
    own = torch.zeros(len(batch), len(column), dtype=torch.bool)
    for row, example in enumerate(batch):
        own[row, [column[text] for text in example.negatives if text in column]] = True
    return own
