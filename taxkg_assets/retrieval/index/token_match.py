"""Late interaction with one vector per token of the encoder: each token of a question, the nearest one of a passage.

A token's vector is the mean of its vectors in a sample of passages. It ranks about as well as the vectors of every
token in its place, and takes a few bytes per passage, not some hundred thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.encoder import Encoder, TokenEncoder, TokenVectors, Vectors
from taxkg_assets.retrieval.index.token_memory import TokenMemory, digest_text
from taxkg_assets.rules.models.ranking import load_ranking

_NO_TOKEN = -1
"""Only token of an empty passage; no vector is near it."""
_READ_AT_ONCE = 2_000
_REMEMBERED = 8
"""Questions whose comparison with all tokens is remembered."""


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """Token index for late interaction: the distinct tokens of each passage, and one vector for each token.

    Attributes:
        tokens: Tokens of the encoder that passages print, in order.
        vectors: Their mean directions, shape (tokens, dimension).
        rarity: Their inverse document frequency.
        starts: First entry of each passage in `places`, one more than there are passages.
        places: Indices into `tokens` of the distinct tokens of each passage; every passage has at least one.
    """

    tokens: npt.NDArray[np.int32]
    vectors: Vectors
    rarity: Vectors
    starts: Ints
    places: npt.NDArray[np.int32]

    def score_rows(self, question: TokenVectors, rows: Ints) -> Floats:
        """Score the similarity of the question's tokens to those of some passages.

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
        lengths = self.starts[rows + 1] - self.starts[rows]
        begins = np.cumsum(lengths) - lengths
        entries = np.arange(int(lengths.sum())) + np.repeat(self.starts[rows] - begins, lengths)
        cosines, token_ids = self.compare(question, self.places[entries])
        # `reduceat` needs at least one entry per passage; an empty passage has `_NO_TOKEN`, which is near nothing.
        best = np.maximum.reduceat(cosines[token_ids], begins, axis=0)
        weights = self._read_rarity(question.tokens)
        scores: Floats = (best.astype(np.float64) @ weights) / weights.sum()
        return scores

    def score_texts(self, question: TokenVectors, texts: Sequence[Sequence[int]]) -> Floats:
        """Score the similarity of the question's tokens to those of some texts, as `score_rows` does for passages.

        Args:
            question: Tokens of the question with their vectors.
            texts: Tokens of each text.

        Returns:
            Scores of shape (texts,); a token that no passage prints has no similarity.
        """
        lengths = np.array([max(1, len(text)) for text in texts], dtype=np.int64)
        if not len(question.tokens) or not len(lengths) or not len(self.tokens):
            return np.zeros(len(lengths))
        printed = np.concatenate([np.array(text or [_NO_TOKEN], dtype=np.int32) for text in texts])
        distinct, numbers = np.unique(printed, return_inverse=True)
        places = np.minimum(np.searchsorted(self.tokens, distinct), len(self.tokens) - 1)
        near = self.vectors[places] @ question.vectors.T
        near[self.tokens[places] != distinct] = 0.0
        best = np.maximum.reduceat(near[numbers], np.cumsum(lengths) - lengths, axis=0)
        weights = self._read_rarity(question.tokens)
        scores: Floats = (best.astype(np.float64) @ weights) / weights.sum()
        return scores

    def compare(self, question: TokenVectors, places: npt.NDArray[np.int32]) -> tuple[Vectors, Ints]:
        """Compute the cosine similarity of some tokens of the index with every token of a question.

        Args:
            question: Vectors of the question's tokens.
            places: Indices into `tokens`, with repeats.

        Returns:
            Similarities of shape (distinct tokens, tokens of the question), and the row of each place in them.
        """
        is_printed = np.zeros(len(self.tokens), dtype=np.bool_)
        is_printed[places] = True
        near: Vectors = self.vectors[is_printed] @ question.vectors.T
        return near, (np.cumsum(is_printed) - 1)[places]

    def _read_rarity(self, tokens: npt.NDArray[np.int32]) -> Floats:
        """Return the rarity of some tokens; an unknown one is as rare as one of a single passage."""
        places = np.minimum(np.searchsorted(self.tokens, tokens), len(self.tokens) - 1)
        known = self.tokens[places] == tokens
        return np.where(known, self.rarity[places], self.rarity.max()).astype(np.float64)


@dataclass(frozen=True, slots=True)
class RememberingTokens(TokenIndex):
    """A token index that caches the similarities of recent questions, for comparisons that repeat questions."""

    known: dict[bytes, Vectors] = field(default_factory=dict, init=False, compare=False, repr=False)

    @classmethod
    def of(cls, tokens: TokenIndex) -> RememberingTokens:
        """Wrap a token index with a separate cache.

        Args:
            tokens: The index of tokens.

        Returns:
            The wrapper.
        """
        return cls(**{one.name: getattr(tokens, one.name) for one in fields(TokenIndex)})

    def compare(self, question: TokenVectors, places: npt.NDArray[np.int32]) -> tuple[Vectors, Ints]:
        """Compute the cosines of all tokens to those of a question once for each question.

        Args:
            question: Tokens of the question with their unit vectors.
            places: Indices into `tokens`, with repeats.

        Returns:
            Similarities of shape (tokens, tokens of the question), and the row of each place in them.
        """
        key = question.tokens.tobytes() + question.vectors.tobytes()
        if key not in self.known:
            if len(self.known) >= _REMEMBERED:
                self.known.clear()
            self.known[key] = self.vectors @ question.vectors.T
        return self.known[key], places.astype(np.int64)


def build_token_index(texts: Sequence[str], *, encoder: Encoder, memory: TokenMemory | None = None) -> TokenIndex:
    """Collect the tokens of passages and compute a vector for each.

    Args:
        texts: Passages as they are encoded, in the order of the index's rows.
        encoder: Encoder of the index.
        memory: What this encoder computed before. On return it contains only what these passages need; the index is the
            same with any memory.

    Returns:
        Tokens by passage, with vectors. A token that the sample lacks has the vector of the token alone.
    """
    memory = TokenMemory() if memory is None else memory
    keys, sample = remember_tokens(texts, encoder=encoder, memory=memory)
    lists = [memory.distinct[key] for key in keys]
    tokens, numbers = np.unique(np.concatenate([*lists, np.zeros(0, np.int32)]), return_inverse=True)
    starts = np.concatenate([[0], np.cumsum([len(token_ids) for token_ids in lists])]).astype(np.int64)
    frequencies = np.bincount(numbers, minlength=len(tokens))
    rarity = np.log(1 + (len(lists) - frequencies + 0.5) / (frequencies + 0.5))
    return TokenIndex(
        tokens=tokens,
        vectors=_find_vectors(tokens, sample, dimension=_find_dimension(encoder, memory), memory=memory),
        rarity=rarity.astype(np.float32),
        starts=starts,
        places=numbers.astype(np.int32),
    )


def draw_sample(texts: Sequence[str]) -> list[str]:
    """Sample the passages from which token vectors are computed, by the smallest digests of their texts.

    Args:
        texts: Passages.

    Returns:
        Distinct passages. Changing few passages changes few of the sample.
    """
    count: int = load_ranking().tokens.sample
    return sorted(set(texts), key=digest_text)[:count]


def remember_tokens(
    texts: Sequence[str], *, encoder: TokenEncoder, memory: TokenMemory
) -> tuple[list[bytes], list[bytes]]:
    """Encode the tokens that the cache lacks, and remove those that the index no longer needs.

    Args:
        texts: Passages as they are encoded.
        encoder: Encoder of the index.
        memory: What this encoder computed before; on return it contains only what these passages need.

    Returns:
        The digest of each passage, and those of the sample in its order.
    """
    keys = [digest_text(text) for text in texts]
    text_of = dict(zip(keys, texts, strict=True))
    sample = [digest_text(text) for text in draw_sample(texts)]
    memory.forget_others(text_of, sampled=sample)
    new = [key for key in text_of if key not in memory.distinct]
    for first in range(0, len(new), _READ_AT_ONCE):
        part = new[first : first + _READ_AT_ONCE]
        lists = encoder.find_tokens([text_of[key] for key in part])
        distinct = [np.unique(np.array(token_ids or [_NO_TOKEN], dtype=np.int32)) for token_ids in lists]
        memory.distinct.update(zip(part, distinct, strict=True))
    new = [key for key in sample if key not in memory.sums]
    encoded = encoder.encode_tokens([text_of[key] for key in new]) if new else []
    memory.sums.update(zip(new, map(_sum_by_token, encoded), strict=True))
    summed = np.concatenate([[_NO_TOKEN], *(token_ids.tokens for token_ids in memory.sums.values())])
    printed = np.concatenate([np.zeros(0, np.int32), *memory.distinct.values()])
    unknown = [token for token in np.setdiff1d(printed, summed).tolist() if token not in memory.lone]
    memory.lone.update(zip(unknown, encoder.encode_lone_tokens(unknown) if unknown else (), strict=True))
    return keys, sample


def _find_vectors(
    tokens: npt.NDArray[np.int32], sample: Sequence[bytes], *, dimension: int, memory: TokenMemory
) -> Vectors:
    """Return the mean direction of each token over a sample of texts; a token that it lacks has its own vector."""
    sums: Vectors = np.zeros((len(tokens), dimension), dtype=np.float32)
    is_summed = tokens == _NO_TOKEN
    for sums_of_text in map(memory.sums.__getitem__, sample):
        places = np.searchsorted(tokens, sums_of_text.tokens)
        sums[places] += sums_of_text.vectors
        is_summed[places] = True
    for place in np.flatnonzero(~is_summed).tolist():
        sums[place] = memory.lone[int(tokens[place])]
    unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return unit.round(4)


def _find_dimension(encoder: Encoder, memory: TokenMemory) -> int:
    """Return the length of a vector, without loading an encoder that is not needed."""
    known = next(iter(memory.sums.values()), None)
    return encoder.dimension if known is None else known.vectors.shape[1]


def _sum_by_token(own: TokenVectors) -> TokenVectors:
    """Return the distinct tokens of a text with the sums of their vectors."""
    tokens, numbers = np.unique(own.tokens, return_inverse=True)
    sums: Vectors = np.zeros((len(tokens), own.vectors.shape[1]), dtype=np.float32)
    np.add.at(sums, numbers, own.vectors)
    return TokenVectors(tokens, sums)
