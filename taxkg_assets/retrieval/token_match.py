"""Late interaction with one vector per token of the encoder: each token of a question, the nearest one of a passage.

A token's vector is the mean of its vectors in a sample of passages. It ranks about as well as the vectors of every
token in its place, and takes a few bytes per passage, not some hundred thousand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoder import Encoder, TokenVectors, Vectors
from taxkg_assets.retrieval.facts import Floats, Ints
from taxkg_assets.rules.loader import load_family

_NO_TOKEN = -1
"""Only token of an empty passage; no vector is near it."""
_READ_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """The distinct tokens of each passage, and a vector for each token.

    Attributes:
        tokens: Tokens of the encoder that passages print, in order.
        vectors: Their mean directions, shape (tokens, dimension).
        rarity: Their inverse document frequency.
        starts: First entry of each passage in `places`, one more than there are passages.
        places: Places in `tokens` of the distinct tokens of each passage; every passage has at least one.
    """

    tokens: npt.NDArray[np.int32]
    vectors: Vectors
    rarity: Vectors
    starts: Ints
    places: npt.NDArray[np.int32]

    def score_rows(self, question: TokenVectors, rows: Ints) -> Floats:
        """Score how near the question's tokens come to those of some passages.

        Args:
            question: Tokens of the question with their vectors.
            rows: Row numbers.

        Returns:
            Mean cosine of the question's tokens to the nearest token of each passage, rare tokens counting more;
            shape (rows,).

        Source:
            Khattab and Zaharia 2020 (arXiv 2004.12832), with one vector per token in the place of one per occurrence.
        """
        if not len(question.tokens) or not len(rows) or not len(self.tokens):
            return np.zeros(len(rows))
        near = (self.vectors @ question.vectors.T).T
        lengths = self.starts[rows + 1] - self.starts[rows]
        begins = np.cumsum(lengths) - lengths
        entries = np.arange(int(lengths.sum())) + np.repeat(self.starts[rows] - begins, lengths)
        best = np.maximum.reduceat(near[:, self.places[entries]], begins, axis=1)
        weights = self._weigh(question.tokens)
        scores: Floats = (weights @ best.astype(np.float64)) / weights.sum()
        return scores

    def _weigh(self, tokens: npt.NDArray[np.int32]) -> Floats:
        """Return the rarity of some tokens; an unknown one is as rare as one of a single passage."""
        places = np.minimum(np.searchsorted(self.tokens, tokens), len(self.tokens) - 1)
        known = self.tokens[places] == tokens
        return np.where(known, self.rarity[places], self.rarity.max()).astype(np.float64)


def build_token_index(texts: Sequence[str], *, encoder: Encoder) -> TokenIndex:
    """Collect the tokens of passages and compute a vector for each.

    Args:
        texts: Passages as they are encoded, in the order of the index's rows.
        encoder: Encoder of the index.

    Returns:
        Tokens by passage, with vectors. A token that the sample lacks has the vector of the token alone.
    """
    lists = _find_distinct(texts, encoder)
    tokens, numbers = np.unique(np.concatenate([*lists, np.zeros(0, np.int32)]), return_inverse=True)
    starts = np.concatenate([[0], np.cumsum([len(own) for own in lists])]).astype(np.int64)
    frequencies = np.bincount(numbers, minlength=len(tokens))
    rarity = np.log(1 + (len(lists) - frequencies + 0.5) / (frequencies + 0.5))
    return TokenIndex(
        tokens=tokens,
        vectors=_find_vectors(tokens, draw_sample(texts), encoder=encoder),
        rarity=rarity.astype(np.float32),
        starts=starts,
        places=numbers.astype(np.int32),
    )


def draw_sample(texts: Sequence[str]) -> list[str]:
    """Draw the passages that token vectors are computed from: those with the least digests of their words.

    Args:
        texts: Passages.

    Returns:
        Distinct passages. A change of few passages changes few of them.
    """
    count: int = load_family("ranking")["tokens"]["sample"]
    return sorted(set(texts), key=lambda text: hashlib.sha256(text.encode()).digest())[:count]


def _find_distinct(texts: Sequence[str], encoder: Encoder) -> list[npt.NDArray[np.int32]]:
    found: list[npt.NDArray[np.int32]] = []
    for first in range(0, len(texts), _READ_AT_ONCE):
        lists = encoder.find_tokens(texts[first : first + _READ_AT_ONCE])
        found += [np.unique(np.array(own or [_NO_TOKEN], dtype=np.int32)) for own in lists]
    return found


def _find_vectors(tokens: npt.NDArray[np.int32], sample: Sequence[str], *, encoder: Encoder) -> Vectors:
    """Return the mean direction of each token over a sample of texts."""
    sums: Vectors = np.zeros((len(tokens), encoder.dimension), dtype=np.float32)
    for own in encoder.encode_tokens(sample):
        np.add.at(sums, np.searchsorted(tokens, own.tokens), own.vectors)
    lone = np.flatnonzero(~sums.any(axis=1) & (tokens != _NO_TOKEN))
    sums[lone] = encoder.encode_lone_tokens(tokens[lone].tolist())
    unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return unit.round(4)
