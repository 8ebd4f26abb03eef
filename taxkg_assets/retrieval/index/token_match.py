"""Late interaction: each token of a question is compared with the nearest token of a passage.

Each token of the encoder has one vector, the mean of its vectors in a sample of passages. This ranks about as well as
one vector per occurrence of a token, and takes a few bytes per passage, not some hundred thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.encoder import Encoder, TokenEncoder, TokenVectors, Vectors
from taxkg_assets.retrieval.index.token_memory import TokenMemory, digest_text
from taxkg_assets.rules.models.ranking import load_ranking

_NO_TOKEN = -1
"""Only token of an empty passage; its similarity to every token is 0."""
_READ_AT_ONCE = 2_000
"""Passages that the encoder splits into tokens in one call."""
_REMEMBERED = 8
"""Questions whose comparison with all tokens is remembered."""


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """Token index for late interaction: the distinct tokens of each passage, and one vector for each token.

    Attributes:
        tokens: Ids of the tokens that passages contain, in ascending order.
        vectors: Mean vector of each of these tokens, shape (tokens, dimension).
        rarity: Inverse document frequency of each of these tokens.
        starts: First entry of each passage in `places`, and the end of the last passage.
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
        first_entries = np.cumsum(lengths) - lengths
        entries = np.arange(int(lengths.sum())) + np.repeat(self.starts[rows] - first_entries, lengths)
        cosines, token_ids = self.compare(question, self.places[entries])
        # `reduceat` needs at least one entry per passage; an empty passage has `_NO_TOKEN`.
        best_cosines = np.maximum.reduceat(cosines[token_ids], first_entries, axis=0)
        weights = self._read_rarity(question.tokens)
        scores: Floats = (best_cosines.astype(np.float64) @ weights) / weights.sum()
        return scores

    def score_texts(self, question: TokenVectors, texts: Sequence[Sequence[int]]) -> Floats:
        """Score the similarity of the question's tokens to those of some texts, as `score_rows` does for passages.

        Args:
            question: Tokens of the question with their vectors.
            texts: Token ids of each text.

        Returns:
            Scores of shape (texts,); the similarity of a token that no passage contains is 0.
        """
        lengths = np.array([max(1, len(text)) for text in texts], dtype=np.int64)
        if not len(question.tokens) or not len(lengths) or not len(self.tokens):
            return np.zeros(len(lengths))
        text_tokens = np.concatenate([np.array(text or [_NO_TOKEN], dtype=np.int32) for text in texts])
        distinct_tokens, distinct_ixs = np.unique(text_tokens, return_inverse=True)
        token_ixs = np.minimum(np.searchsorted(self.tokens, distinct_tokens), len(self.tokens) - 1)
        cosines = self.vectors[token_ixs] @ question.vectors.T
        cosines[self.tokens[token_ixs] != distinct_tokens] = 0.0
        best_cosines = np.maximum.reduceat(cosines[distinct_ixs], np.cumsum(lengths) - lengths, axis=0)
        weights = self._read_rarity(question.tokens)
        scores: Floats = (best_cosines.astype(np.float64) @ weights) / weights.sum()
        return scores

    def compare(self, question: TokenVectors, places: npt.NDArray[np.int32]) -> tuple[Vectors, Ints]:
        """Compute the cosine similarity of some tokens of the index with every token of a question.

        Args:
            question: Vectors of the question's tokens.
            places: Indices into `tokens`; may repeat.

        Returns:
            Similarities with one row per distinct token and one column per token of the question, and for each entry
            of `places` the index of its row in the similarities.
        """
        is_used = np.zeros(len(self.tokens), dtype=np.bool_)
        is_used[places] = True
        similarities: Vectors = self.vectors[is_used] @ question.vectors.T
        return similarities, (np.cumsum(is_used) - 1)[places]

    def _read_rarity(self, tokens: npt.NDArray[np.int32]) -> Floats:
        """Return the rarity of some tokens; an unknown token is as rare as the rarest one."""
        token_ixs = np.minimum(np.searchsorted(self.tokens, tokens), len(self.tokens) - 1)
        is_known = self.tokens[token_ixs] == tokens
        return np.where(is_known, self.rarity[token_ixs], self.rarity.max()).astype(np.float64)


@dataclass(frozen=True, slots=True)
class RememberingTokens(TokenIndex):
    """A token index that caches the similarities of recent questions, for comparisons that repeat questions."""

    cached_similarities: dict[bytes, Vectors] = field(default_factory=dict, init=False, compare=False, repr=False)

    @classmethod
    def wrap(cls, tokens: TokenIndex) -> RememberingTokens:
        """Wrap a token index with a separate cache.

        Args:
            tokens: The index of tokens.

        Returns:
            The wrapper.
        """
        return cls(**{index_field.name: getattr(tokens, index_field.name) for index_field in fields(TokenIndex)})

    def compare(self, question: TokenVectors, places: npt.NDArray[np.int32]) -> tuple[Vectors, Ints]:
        """Compute the cosines of all tokens to those of a question once for each question.

        Args:
            question: Tokens of the question with their unit vectors.
            places: Indices into `tokens`; may repeat.

        Returns:
            Similarities with one row per token of the index and one column per token of the question, and for each
            entry of `places` the index of its row in the similarities.
        """
        key = question.tokens.tobytes() + question.vectors.tobytes()
        if key not in self.cached_similarities:
            if len(self.cached_similarities) >= _REMEMBERED:
                self.cached_similarities.clear()
            self.cached_similarities[key] = self.vectors @ question.vectors.T
        return self.cached_similarities[key], places.astype(np.int64)


def build_token_index(texts: Sequence[str], *, encoder: Encoder, memory: TokenMemory | None = None) -> TokenIndex:
    """Collect the tokens of passages and compute a vector for each.

    Args:
        texts: Passages with their contexts, as the encoder encodes them, in the order of the index's rows.
        encoder: Encoder of the index.
        memory: Computations of earlier builds with this encoder. They save time and do not change the result. On return
            it contains only what these passages need.

    Returns:
        Tokens by passage, with vectors. A token that no sampled passage contains has the vector of a text of this token
        alone.
    """
    memory = TokenMemory() if memory is None else memory
    keys, sample = remember_tokens(texts, encoder=encoder, memory=memory)
    token_lists = [memory.tokens_by_text[key] for key in keys]
    tokens, token_ixs = _list_distinct(token_lists)
    starts = np.concatenate([[0], np.cumsum([len(token_ids) for token_ids in token_lists])]).astype(np.int64)
    frequencies = np.bincount(token_ixs, minlength=len(tokens))
    rarity = np.log(1 + (len(token_lists) - frequencies + 0.5) / (frequencies + 0.5))
    return TokenIndex(
        tokens=tokens,
        vectors=_find_vectors(tokens, sample, dimension=_find_dimension(encoder, memory), memory=memory),
        rarity=rarity.astype(np.float32),
        starts=starts,
        places=token_ixs.astype(np.int32),
    )


def draw_sample(digests: Iterable[bytes]) -> list[bytes]:
    """Sample the passages from which token vectors are computed: those with the smallest digests.

    Args:
        digests: Digests of the passages.

    Returns:
        Distinct digests. If few passages of an index change, few of its sample change.
    """
    sample_size: int = load_ranking().tokens.sample
    return sorted(set(digests))[:sample_size]


def remember_tokens(
    texts: Sequence[str], *, encoder: TokenEncoder, memory: TokenMemory
) -> tuple[list[bytes], list[bytes]]:
    """Encode the tokens that a cache lacks, and remove from it what the index no longer needs.

    Args:
        texts: Passages with their contexts, as the encoder encodes them.
        encoder: Encoder of the index.
        memory: The cache, which is changed.

    Returns:
        Digest of each passage, and the digests of the sampled passages.
    """
    digests = [digest_text(text) for text in texts]
    text_by_digest = dict(zip(digests, texts, strict=True))
    sample = draw_sample(text_by_digest)
    memory.forget_others(text_by_digest, sampled=sample)
    new_digests = [digest for digest in text_by_digest if digest not in memory.tokens_by_text]
    for first in range(0, len(new_digests), _READ_AT_ONCE):
        batch = new_digests[first : first + _READ_AT_ONCE]
        lists = encoder.find_tokens([text_by_digest[digest] for digest in batch])
        distinct = [np.unique(np.array(token_ids or [_NO_TOKEN], dtype=np.int32)) for token_ids in lists]
        memory.tokens_by_text.update(zip(batch, distinct, strict=True))
    new_digests = [digest for digest in sample if digest not in memory.sums_by_text]
    encoded = encoder.encode_tokens([text_by_digest[digest] for digest in new_digests]) if new_digests else []
    memory.sums_by_text.update(zip(new_digests, map(_sum_by_token, encoded), strict=True))
    tokens_with_sum, _ = _list_distinct([token_ids.tokens for token_ids in memory.sums_by_text.values()])
    passage_tokens, _ = _list_distinct(memory.tokens_by_text.values())
    lone_tokens = [
        token
        for token in np.setdiff1d(passage_tokens, [_NO_TOKEN, *tokens_with_sum]).tolist()
        if token not in memory.lone_vectors
    ]
    memory.lone_vectors.update(
        zip(lone_tokens, encoder.encode_lone_tokens(lone_tokens) if lone_tokens else (), strict=True)
    )
    return digests, sample


def _list_distinct(token_lists: Iterable[npt.NDArray[np.int32]]) -> tuple[npt.NDArray[np.int32], Ints]:
    """Return the distinct tokens of some lists in ascending order, and the index among these of each occurrence.

    Ids are small numbers: to set a flag for each takes a tenth of the time of sorting millions of them.
    """
    occurrences = np.concatenate([np.zeros(0, np.int32), *token_lists])
    is_used = np.zeros(int(occurrences.max(initial=_NO_TOKEN)) - _NO_TOKEN + 1, dtype=np.bool_)
    is_used[occurrences - _NO_TOKEN] = True
    tokens = (np.flatnonzero(is_used) + _NO_TOKEN).astype(np.int32)
    return tokens, (np.cumsum(is_used) - 1)[occurrences - _NO_TOKEN]


def _find_vectors(
    tokens: npt.NDArray[np.int32], sample: Sequence[bytes], *, dimension: int, memory: TokenMemory
) -> Vectors:
    """Return the mean vector of each token over a sample of texts; one that the sample lacks has its lone vector."""
    sums: Vectors = np.zeros((len(tokens), dimension), dtype=np.float32)
    is_summed = tokens == _NO_TOKEN
    for sums_of_text in map(memory.sums_by_text.__getitem__, sample):
        token_ixs = np.searchsorted(tokens, sums_of_text.tokens)
        sums[token_ixs] += sums_of_text.vectors
        is_summed[token_ixs] = True
    for token_ix in np.flatnonzero(~is_summed).tolist():
        sums[token_ix] = memory.lone_vectors[int(tokens[token_ix])]
    unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return unit.round(4)


def _find_dimension(encoder: Encoder, memory: TokenMemory) -> int:
    """Return the length of a vector, without loading an encoder that is not needed."""
    cached_sums = next(iter(memory.sums_by_text.values()), None)
    return encoder.dimension if cached_sums is None else cached_sums.vectors.shape[1]


def _sum_by_token(occurrences: TokenVectors) -> TokenVectors:
    """Return the distinct tokens of a text with the sums of their vectors."""
    tokens, token_ixs = np.unique(occurrences.tokens, return_inverse=True)
    sums: Vectors = np.zeros((len(tokens), occurrences.vectors.shape[1]), dtype=np.float32)
    np.add.at(sums, token_ixs, occurrences.vectors)
    return TokenVectors(tokens, sums)
