"""Contrastive training steps: each query against the positives and hard negatives of its batch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from taxkg_assets.training.batches import Tokens, pad_rows, split_by_length
from taxkg_assets.training.dense_scores import Vectors
from taxkg_assets.training.examples import Example
from taxkg_assets.training.lazy_torch import torch
from taxkg_assets.training.losses import LossSettings, find_allowed, score_late, score_ranking_loss
from taxkg_assets.training.steps import StepSettings

_LAYER = re.compile(r"\blayers?\.(\d+)\.")


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """Hyperparameters of an encoder's training."""

    steps: StepSettings = field(default_factory=StepSettings)
    loss: LossSettings = field(default_factory=LossSettings)
    negatives: int = 2
    """Hard negatives per example and step, sampled again each step."""
    query_tokens: int = 48
    passage_tokens: int = 160
    group_tokens: int = 4096
    """Most tokens in one forward pass; memory grows with it."""
    is_cached: bool = True
    """Gradient caching: any batch fits in memory, for a third more time."""
    frozen_layers: int = 3
    """Lowest layers that are frozen together with the embeddings; the highest layer is never frozen."""
    late: float = 0.5
    """Share of the late-interaction loss, 0 to 1, so that the encoder can rerank as well; above 0, gradients are not
    cached."""
    late_scale: float = 30.0
    dimensions: tuple[int, ...] = ()
    """Matryoshka: shorter vector lengths that are trained as well; empty for the full length only."""
    alphas: tuple[float, ...] = (1.0, 0.6)
    """Interpolation weights that are tried, 1 for the tuned model alone."""
    is_bfloat16: bool = False


class EncoderTrainer:
    """A SentenceTransformer with its tokenizer cache: training steps and encoding.

    Args:
        model: Loaded SentenceTransformer; changed by training.
        settings: Hyperparameters.
    """

    def __init__(self, model: Any, settings: EncoderSettings) -> None:
        self.model, self.settings = model, settings
        self.device = next(model.parameters()).device
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
        """Freeze the embeddings and the lowest layers; the highest layer is always trained.

        Raises:
            ValueError: No layer is left to train.
        """
        if not self.settings.frozen_layers:
            return
        weights = dict(self.model.named_parameters())
        layers = {int(match[1]) for name in weights if (match := _LAYER.search(name))}
        frozen = min(self.settings.frozen_layers, max(layers, default=0))
        for name, weight in weights.items():
            layer = _LAYER.search(name)
            weight.requires_grad = int(layer[1]) >= frozen if layer else "embeddings." not in name
        if not any(weight.requires_grad for weight in weights.values()):
            raise ValueError(
                "The model has no layers to train: it consists of embeddings only, and these stay frozen. "
                "Set TAXKG_MODEL to a model with more layers."
            )

    def encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        """Return unit-length vectors, shape (texts, dimensions), without gradients.

        Args:
            texts: Queries or passages.
            is_query: Whether the query prompt and length limit apply.
        """
        vectors = torch.zeros(len(texts), self.model.get_embedding_dimension())
        ids = self._ids(texts, is_query)
        with torch.inference_mode():
            for group in split_by_length(ids, tokens=self.settings.group_tokens):
                vectors[group] = self._forward([ids[ix] for ix in group]).cpu()
        found: Vectors = vectors.numpy()
        return found

    def encode_guide(self, examples: Sequence[Example]) -> dict[tuple[str, bool], torch.Tensor]:
        """Encode all training texts with the untrained model, as the guide of a GIST loss.

        Args:
            examples: Training examples.

        Returns:
            Unit-length vector by text and whether it is a query; empty for a loss without a guide.
        """
        if not self.settings.loss.name.startswith("gist"):
            return {}
        queries = list(dict.fromkeys(example.query for example in examples))
        passages = list(dict.fromkeys(text for e in examples for text in (e.positive, *e.negatives)))
        found = {(text, True): vector for text, vector in zip(queries, self.encode(queries, True), strict=True)}
        found |= {(text, False): vector for text, vector in zip(passages, self.encode(passages, False), strict=True)}
        return {key: torch.from_numpy(np.array(vector)) for key, vector in found.items()}

    def step(self, batch: Sequence[Example], guide: dict[tuple[str, bool], torch.Tensor]) -> float:
        """Compute the gradients of one batch: each query against all positives and sampled hard negatives.

        Args:
            batch: Examples of the step.
            guide: Vectors from `encode_guide`; empty for a loss without a guide.

        Returns:
            The loss.
        """
        queries = [example.query for example in batch]
        chosen = [text for example in batch for text in self._choose(example.negatives)]
        passages = list(dict.fromkeys([*(example.positive for example in batch), *chosen]))
        column = {text: number for number, text in enumerate(passages)}
        right = torch.tensor([column[example.positive] for example in batch])
        is_allowed = mask_in_batch_negatives(batch, column)
        if guide:
            judged = (
                torch.stack([guide[text, True] for text in queries])
                @ torch.stack([guide[text, False] for text in passages]).T
            )
            allowed = find_allowed(judged, right, settings=self.settings.loss)
            is_allowed = is_allowed if allowed is None else is_allowed & (allowed | mask_own_negatives(batch, column))
        weights = torch.tensor([example.weight for example in batch]).to(self.device)
        right, is_allowed = right.to(self.device), is_allowed.to(self.device)

        def loss_of_scores(scores: torch.Tensor, loss: LossSettings) -> torch.Tensor:
            return score_ranking_loss(scores, right, weights=weights, settings=loss, is_allowed=is_allowed)

        def loss_of(vectors: torch.Tensor) -> torch.Tensor:
            total = torch.zeros((), device=self.device)
            for length in (vectors.shape[1], *self.settings.dimensions):
                cut = torch.nn.functional.normalize(vectors[:, :length], dim=1)
                total = total + loss_of_scores(cut[: len(queries)] @ cut[len(queries) :].T, self.settings.loss)
            return total / (1 + len(self.settings.dimensions))

        def late_loss_of(tokens: Sequence[torch.Tensor]) -> torch.Tensor:
            scores = score_late(tokens[: len(queries)], tokens[len(queries) :])
            return loss_of_scores(scores, replace(self.settings.loss, scale=self.settings.late_scale))

        ids = [*self._ids(queries, True), *self._ids(passages, False)]
        if self.settings.late:
            return self._backward(ids, loss_of, late_loss_of)
        return self._backward_cached(ids, loss_of) if self.settings.is_cached else self._backward(ids, loss_of, None)

    def _backward(self, ids: list[list[int]], loss_of: Any, late_loss_of: Any) -> float:
        groups = list(split_by_length(ids, tokens=self.settings.group_tokens))
        order = torch.argsort(torch.tensor([ix for group in groups for ix in group]))
        found = [self._features([ids[ix] for ix in group]) for group in groups]
        loss = loss_of(torch.cat([vectors for vectors, _ in found])[order])
        if late_loss_of is not None:
            rows = [row for _, tokens in found for row in tokens]
            late = late_loss_of([rows[ix] for ix in order.tolist()])
            loss = (1 - self.settings.late) * loss + self.settings.late * late
        torch.autograd.backward(loss)
        return float(loss.detach())

    def _backward_cached(self, ids: list[list[int]], loss_of: Any) -> float:
        """Compute the same gradients as `_backward` with one group of rows in memory at a time.

        Source: Gao et al. 2021 (arXiv 2101.06983), gradient cache; dropout is repeated with the same random state.
        """
        groups = list(split_by_length(ids, tokens=self.settings.group_tokens))
        vectors = torch.zeros(len(ids), self.model.get_embedding_dimension(), device=self.device)
        states = []
        with torch.no_grad():
            for group in groups:
                states.append(self._read_random())
                vectors[group] = self._forward([ids[ix] for ix in group])
        after = self._read_random()
        vectors.requires_grad_()
        loss = loss_of(vectors)
        torch.autograd.backward(loss)
        assert vectors.grad is not None
        for group, state in zip(groups, states, strict=True):
            self._set_random(state)
            torch.autograd.backward((self._forward([ids[ix] for ix in group]) * vectors.grad[group]).sum())
        self._set_random(after)
        return float(loss.detach())

    def _read_random(self) -> torch.Tensor:
        """Return the state of the generator that draws dropout."""
        return torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else torch.get_rng_state()

    def _set_random(self, state: torch.Tensor) -> None:
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(state, self.device)
        else:
            torch.set_rng_state(state)

    def _forward(self, ids: list[list[int]]) -> torch.Tensor:
        return self._features(ids)[0]

    def _features(self, ids: list[list[int]]) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Return unit-length text vectors, and the token vectors of each text without special tokens."""
        padded = pad_rows(ids, pad_id=self.tokens[False].pad_id)
        features = {name: tensor.to(self.device) for name, tensor in padded.items()}
        is_narrow = self.settings.is_bfloat16
        with torch.autocast(self.device.type, dtype=torch.bfloat16) if is_narrow else nullcontext():
            found = self.model(features)
        vectors = torch.nn.functional.normalize(found["sentence_embedding"].float(), dim=1)
        return vectors, [row[1 : len(own) - 1] for row, own in zip(found["token_embeddings"], ids, strict=True)]

    def _ids(self, texts: Sequence[str], is_query: bool) -> list[list[int]]:
        return self.tokens[is_query].find_ids([self.prompts[is_query] + text for text in texts])

    def _choose(self, negatives: Sequence[str]) -> list[str]:
        if len(negatives) <= self.settings.negatives:
            return list(negatives)
        order = torch.randperm(len(negatives)).tolist()
        return [negatives[ix] for ix in order[: self.settings.negatives]]


def mask_in_batch_negatives(batch: Sequence[Example], column: dict[str, int]) -> torch.Tensor:
    """Return a mask of which passages may be in-batch negatives of each query, shape (queries, passages).

    Args:
        batch: Examples, one row each.
        column: Column of each passage.

    Returns:
        False where a passage is a positive of the same query in another example of the batch.
    """
    allowed = torch.ones(len(batch), len(column), dtype=torch.bool)
    answers: dict[str, set[int]] = {}
    for example in batch:
        answers.setdefault(example.query, set()).add(column[example.positive])
    for row, example in enumerate(batch):
        allowed[row, list(answers[example.query])] = False
    return allowed


def mask_own_negatives(batch: Sequence[Example], column: dict[str, int]) -> torch.Tensor:
    """Return a mask of which passages are hard negatives of the row's own example, shape (queries, passages).

    A guide does not overrule these, as they were validated when they were mined.

    Args:
        batch: Examples, one row each.
        column: Column of each passage.
    """
    own = torch.zeros(len(batch), len(column), dtype=torch.bool)
    for row, example in enumerate(batch):
        own[row, [column[text] for text in example.negatives if text in column]] = True
    return own
