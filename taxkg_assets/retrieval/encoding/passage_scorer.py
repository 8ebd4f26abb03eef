"""Reranking: models that score a question and a passage together.

Here: the interface of a reranker, and its two implementations. Not here: finding, training or opening one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.arrays import Floats

GROUP = 8
"""Passages of similar length that run through the model together."""
LATE_TOKENS = 144
"""Maximum number of tokens of a text for late interaction."""


def score_tokens(question: npt.NDArray[np.floating], passages: Iterable[npt.NDArray[np.floating]]) -> Floats:
    """Score passages by the mean cosine of the question's tokens to the nearest token of a passage.

    Args:
        question: Unit vectors of the question's tokens, shape (tokens, dimension).
        passages: Unit vectors of the tokens of each passage.

    Returns:
        Scores of shape (passages,), -1 to 1.
    """
    return np.array([float((question @ passage.T).max(axis=1).mean()) for passage in passages])


class PassageScorer(Protocol):
    """Scores how well passages answer a question; higher is better."""

    def score(self, question: str, passages: Sequence[str]) -> Floats:
        """Return the score of each passage, shape (passages,).

        Args:
            question: The question.
            passages: Texts of the passages.
        """


@dataclass(frozen=True, slots=True)
class LateScorer:
    """Late interaction: each token of the question is matched with the nearest token of the passage.

    Source:
        Khattab and Zaharia 2020 (arXiv 2004.12832); here with the tokens of the encoder that makes the vectors.
    """

    model: Any
    max_tokens: int = LATE_TOKENS
    is_bfloat16: bool = False

    def score(self, question: str, passages: Sequence[str]) -> Floats:
        """Return the mean over the question's tokens of the cosine to the nearest token of each passage.

        Args:
            question: Words of the question.
            passages: Texts to score.

        Returns:
            Scores of shape (passages,), -1 to 1.
        """
        (question_tokens,) = self._vectors([question])
        return score_tokens(question_tokens, self._vectors(passages))

    def _vectors(self, texts: Sequence[str]) -> list[Floats]:
        """Return the unit vectors of the tokens of each text, without special tokens."""
        import torch  # loaded here: readers of the index's rows need no torch

        limit = min(self.max_tokens, self.model.max_seq_length or self.max_tokens)
        vectors: dict[int, Floats] = {}
        order = sorted(range(len(texts)), key=lambda ix: len(texts[ix]))
        for first in range(0, len(order), GROUP):
            group = order[first : first + GROUP]
            features = self.model.tokenizer(
                [texts[ix] for ix in group], truncation=True, max_length=limit, padding=True, return_tensors="pt"
            )
            reduced = torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.is_bfloat16)
            with torch.inference_mode(), reduced:
                tokens = self.model(dict(features))["token_embeddings"].float()
            unit = torch.nn.functional.normalize(tokens, dim=2).numpy()
            for ix, row, mask in zip(group, unit, features["attention_mask"].sum(dim=1).tolist(), strict=True):
                vectors[ix] = row[1 : mask - 1]
        return [vectors[ix] for ix in range(len(texts))]


@dataclass(frozen=True, slots=True)
class CrossScorer:
    """A cross-encoder of sentence-transformers, which reads a question and a passage together."""

    model: Any
    is_bfloat16: bool = False

    def score(self, question: str, passages: Sequence[str]) -> Floats:
        """Return the logits of the model.

        Args:
            question: Words of the question.
            passages: Texts to score.

        Returns:
            Scores of shape (passages,), unbounded.
        """
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
    """A scorer, its weight relative to the feature ranker, and the number of candidates that it scores (`depth`)."""

    name: str
    scorer: PassageScorer
    weight: float
    depth: int

    def score_penalties(self, question: str, passages: Sequence[str]) -> Floats:
        """Return how far each passage scores below the best one, on the scale of the feature ranker.

        Args:
            question: Words of the question.
            passages: Texts of the best candidates.

        Returns:
            Penalties of at most 0, shape (passages,); 0 for the best passage.
        """
        if not passages:
            return np.zeros(0)
        scores = self.scorer.score(question, passages)
        penalties: Floats = self.weight * (scores - scores.max())
        return penalties
