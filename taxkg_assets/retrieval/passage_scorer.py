"""A second look at the best passages: models that read a question and a passage together.

Here: what a reranker is, and the two that there are. Not here: finding, training or opening one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from taxkg_assets.retrieval.facts import Floats

GROUP = 8
"""Passages of like length that run through the model together."""
LATE_TOKENS = 144
"""Tokens of a text that late interaction reads."""


class PassageScorer(Protocol):
    """Whatever says how well passages answer a question; higher is better."""

    def score(self, question: str, passages: Sequence[str]) -> Floats: ...


@dataclass(frozen=True, slots=True)
class LateScorer:
    """Late interaction: each word of the question looks for the nearest word of the passage.

    Source: Khattab and Zaharia 2020 (arXiv 2004.12832); here with the tokens of the encoder that makes the vectors.
    """

    model: Any
    max_tokens: int = LATE_TOKENS
    is_bfloat16: bool = False

    def score(self, question: str, passages: Sequence[str]) -> Floats:
        """Mean over the question's tokens of the cosine to the nearest token of each passage."""
        (asked,) = self._vectors([question])
        return np.array([float((asked @ held.T).max(axis=1).mean()) for held in self._vectors(passages)])

    def _vectors(self, texts: Sequence[str]) -> list[Floats]:
        """Unit-length vectors of each text's tokens, the marks at both ends aside."""
        import torch  # loaded here: readers of the index's rows need no torch

        limit = min(self.max_tokens, self.model.max_seq_length or self.max_tokens)
        found: dict[int, Floats] = {}
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for first in range(0, len(order), GROUP):
            group = order[first : first + GROUP]
            features = self.model.tokenizer(
                [texts[place] for place in group], truncation=True, max_length=limit, padding=True, return_tensors="pt"
            )
            reduced = torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.is_bfloat16)
            with torch.inference_mode(), reduced:
                tokens = self.model(dict(features))["token_embeddings"].float()
            unit = torch.nn.functional.normalize(tokens, dim=2).numpy()
            for place, row, mask in zip(group, unit, features["attention_mask"].sum(dim=1).tolist(), strict=True):
                found[place] = row[1 : mask - 1]
        return [found[place] for place in range(len(texts))]


@dataclass(frozen=True, slots=True)
class CrossScorer:
    """A cross-encoder of sentence-transformers: question and passage in one row."""

    model: Any
    is_bfloat16: bool = False

    def score(self, question: str, passages: Sequence[str]) -> Floats:
        """The model's own figure, before any squashing."""
        import torch

        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.is_bfloat16):
            raw = self.model.predict(
                [(question, passage) for passage in passages],
                batch_size=GROUP,
                show_progress_bar=False,
                activation_fn=torch.nn.Identity(),
            )
        return np.asarray(raw, dtype=np.float64).reshape(len(passages))


@dataclass(frozen=True, slots=True)
class Reranker:
    """A scorer with what its word counts beside the feature ranker's, and how far down it looks."""

    name: str
    scorer: PassageScorer
    weight: float
    depth: int

    def look(self, question: str, passages: Sequence[str]) -> Floats:
        """What the best passages lose against the one that it likes best, as the ranker counts; 0 for that one."""
        if not passages:
            return np.zeros(0)
        scores = self.scorer.score(question, passages)
        lost: Floats = self.weight * (scores - scores.max())
        return lost
