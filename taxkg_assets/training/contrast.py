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
from taxkg_assets.training.losses import LossSettings, mask_guided_negatives, score_late_interaction, score_ranking_loss
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
    """Most tokens of a query."""
    passage_tokens: int = 160
    """Most tokens of a passage."""
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
    """Factor of the late-interaction scores in the softmax."""
    dimensions: tuple[int, ...] = ()
    """Matryoshka: shorter vector lengths that are trained as well; empty for the full length only."""
    alphas: tuple[float, ...] = (1.0, 0.6)
    """Interpolation weights that are tried, 1 for the tuned model alone."""
    is_bfloat16: bool = False
    """Whether the forward pass computes in bfloat16, which needs less memory than float32."""


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
        layer_by_name = {name: int(match[1]) for name in weights if (match := _LAYER.search(name))}
        frozen_count = min(self.settings.frozen_layers, max(layer_by_name.values(), default=0))
        for name, weight in weights.items():
            if name in layer_by_name:
                weight.requires_grad = layer_by_name[name] >= frozen_count
            else:
                weight.requires_grad = "embeddings." not in name
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
        ids = self._read_token_ids(texts, is_query)
        with torch.inference_mode():
            for group in split_by_length(ids, max_tokens=self.settings.group_tokens):
                vectors[group] = self._encode_ids([ids[ix] for ix in group]).cpu()
        array: Vectors = vectors.numpy()
        return array

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
        passages = list(dict.fromkeys(text for row in examples for text in (row.positive, *row.negatives)))
        guide = {}
        for is_query, texts in ((True, queries), (False, passages)):
            for text, vector in zip(texts, self.encode(texts, is_query), strict=True):
                guide[text, is_query] = torch.from_numpy(np.array(vector))
        return guide

    def step(self, batch: Sequence[Example], guide: dict[tuple[str, bool], torch.Tensor]) -> float:
        """Compute the gradients of one batch: each query against all positives and sampled hard negatives.

        Args:
            batch: Examples of the step.
            guide: Vectors from `encode_guide`; empty for a loss without a guide.

        Returns:
            The loss.
        """
        queries = [example.query for example in batch]
        negatives = [text for example in batch for text in self._sample_negatives(example.negatives)]
        passages = list(dict.fromkeys([*(example.positive for example in batch), *negatives]))
        column_of = {text: column for column, text in enumerate(passages)}
        positive_columns = torch.tensor([column_of[example.positive] for example in batch])
        is_negative = mask_in_batch_negatives(batch, column_of)
        if guide:
            guide_cosines = (
                torch.stack([guide[text, True] for text in queries])
                @ torch.stack([guide[text, False] for text in passages]).T
            )
            guided = mask_guided_negatives(guide_cosines, positive_columns, settings=self.settings.loss)
            if guided is not None:
                is_negative &= guided | mask_own_negatives(batch, column_of)
        weights = torch.tensor([example.weight for example in batch]).to(self.device)
        positive_columns, is_negative = positive_columns.to(self.device), is_negative.to(self.device)

        def score_loss(scores: torch.Tensor, loss: LossSettings) -> torch.Tensor:
            return score_ranking_loss(scores, positive_columns, weights=weights, settings=loss, is_negative=is_negative)

        def score_vector_loss(vectors: torch.Tensor) -> torch.Tensor:
            """Return the mean loss over all trained lengths of the vectors; queries come first, then passages."""
            total = torch.zeros((), device=self.device)
            for length in (vectors.shape[1], *self.settings.dimensions):
                shortened = torch.nn.functional.normalize(vectors[:, :length], dim=1)
                cosines = shortened[: len(queries)] @ shortened[len(queries) :].T
                total = total + score_loss(cosines, self.settings.loss)
            return total / (1 + len(self.settings.dimensions))

        def score_late_loss(token_vectors: Sequence[torch.Tensor]) -> torch.Tensor:
            scores = score_late_interaction(token_vectors[: len(queries)], token_vectors[len(queries) :])
            return score_loss(scores, replace(self.settings.loss, scale=self.settings.late_scale))

        ids = [*self._read_token_ids(queries, True), *self._read_token_ids(passages, False)]
        if self.settings.late:
            return self._backward(ids, score_vector_loss, score_late_loss)
        if self.settings.is_cached:
            return self._backward_cached(ids, score_vector_loss)
        return self._backward(ids, score_vector_loss, None)

    def _backward(self, ids: list[list[int]], score_vector_loss: Any, score_late_loss: Any) -> float:
        """Compute the gradients of a batch with all its rows in memory, and return the loss.

        Args:
            ids: Token ids of the queries, then of the passages.
            score_vector_loss: Loss given the text vectors.
            score_late_loss: Loss given the token vectors of each text; None for none.
        """
        groups = list(split_by_length(ids, max_tokens=self.settings.group_tokens))
        order = torch.argsort(torch.tensor([ix for group in groups for ix in group]))
        encoded = [self._encode_with_tokens([ids[ix] for ix in group]) for group in groups]
        loss = score_vector_loss(torch.cat([vectors for vectors, _ in encoded])[order])
        if score_late_loss is not None:
            token_vectors = [row for _, rows in encoded for row in rows]
            late_loss = score_late_loss([token_vectors[ix] for ix in order.tolist()])
            loss = (1 - self.settings.late) * loss + self.settings.late * late_loss
        torch.autograd.backward(loss)
        return float(loss.detach())

    def _backward_cached(self, ids: list[list[int]], score_vector_loss: Any) -> float:
        """Compute the same gradients as `_backward` with one group of rows in memory at a time.

        Source: Gao et al. 2021 (arXiv 2101.06983), gradient cache; dropout is repeated with the same random state.
        """
        groups = list(split_by_length(ids, max_tokens=self.settings.group_tokens))
        vectors = torch.zeros(len(ids), self.model.get_embedding_dimension(), device=self.device)
        random_states = []
        with torch.no_grad():
            for group in groups:
                random_states.append(self._read_random())
                vectors[group] = self._encode_ids([ids[ix] for ix in group])
        last_state = self._read_random()
        vectors.requires_grad_()
        loss = score_vector_loss(vectors)
        torch.autograd.backward(loss)
        assert vectors.grad is not None
        for group, random_state in zip(groups, random_states, strict=True):
            self._set_random(random_state)
            torch.autograd.backward((self._encode_ids([ids[ix] for ix in group]) * vectors.grad[group]).sum())
        self._set_random(last_state)
        return float(loss.detach())

    def _read_random(self) -> torch.Tensor:
        """Return the state of the random generator that dropout uses."""
        return torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else torch.get_rng_state()

    def _set_random(self, state: torch.Tensor) -> None:
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(state, self.device)
        else:
            torch.set_rng_state(state)

    def _encode_ids(self, ids: list[list[int]]) -> torch.Tensor:
        return self._encode_with_tokens(ids)[0]

    def _encode_with_tokens(self, ids: list[list[int]]) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Return unit-length text vectors, and the token vectors of each text without special tokens."""
        padded = pad_rows(ids, pad_id=self.tokens[False].pad_id)
        features = {name: tensor.to(self.device) for name, tensor in padded.items()}
        is_bfloat16 = self.settings.is_bfloat16
        with torch.autocast(self.device.type, dtype=torch.bfloat16) if is_bfloat16 else nullcontext():
            output = self.model(features)
        vectors = torch.nn.functional.normalize(output["sentence_embedding"].float(), dim=1)
        # The first and the last token are special, and after them is only padding.
        token_vectors = [
            embeddings[1 : len(row) - 1] for embeddings, row in zip(output["token_embeddings"], ids, strict=True)
        ]
        return vectors, token_vectors

    def _read_token_ids(self, texts: Sequence[str], is_query: bool) -> list[list[int]]:
        return self.tokens[is_query].find_token_ids([self.prompts[is_query] + text for text in texts])

    def _sample_negatives(self, negatives: Sequence[str]) -> list[str]:
        if len(negatives) <= self.settings.negatives:
            return list(negatives)
        shuffled = torch.randperm(len(negatives)).tolist()
        return [negatives[ix] for ix in shuffled[: self.settings.negatives]]


def mask_in_batch_negatives(batch: Sequence[Example], column_of: dict[str, int]) -> torch.Tensor:
    """Return a mask of which passages may be in-batch negatives of each query, shape (queries, passages).

    Args:
        batch: Examples, one row each.
        column_of: Column of each passage.

    Returns:
        True for a negative; False where a passage is a positive of the same query, in any example of the batch.
    """
    is_negative = torch.ones(len(batch), len(column_of), dtype=torch.bool)
    positive_columns: dict[str, set[int]] = {}
    for example in batch:
        positive_columns.setdefault(example.query, set()).add(column_of[example.positive])
    for row, example in enumerate(batch):
        is_negative[row, list(positive_columns[example.query])] = False
    return is_negative


def mask_own_negatives(batch: Sequence[Example], column_of: dict[str, int]) -> torch.Tensor:
    """Return a mask of which passages are hard negatives of the row's own example, shape (queries, passages).

    A guide does not overrule these, as they were validated when they were mined.

    Args:
        batch: Examples, one row each.
        column_of: Column of each passage.
    """
    is_own_negative = torch.zeros(len(batch), len(column_of), dtype=torch.bool)
    for row, example in enumerate(batch):
        is_own_negative[row, [column_of[text] for text in example.negatives if text in column_of]] = True
    return is_own_negative
