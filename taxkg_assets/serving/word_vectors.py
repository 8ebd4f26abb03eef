"""The words of a text with the vectors that an encoder gives them in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from taxkg_assets.retrieval.encoding.encoder import Encoder, Vectors
from taxkg_assets.verification.language import WordVectors

_WORD = re.compile(r"\w+|[^\w\s]")


class WordEncoder:
    """Encodes the words of texts: the vector of a word is the mean of its token vectors."""

    def __init__(self, encoder: Encoder) -> None:
        """Take the encoder.

        Args:
            encoder: Encoder of the release.
        """
        self._encoder = encoder
        self._tokens_of = lru_cache(maxsize=50_000)(self._find_tokens)

    def read(self, text: str) -> WordVectors:
        """Return the words of a text with their vectors, up to the encoder's maximum length.

        Args:
            text: Any text.

        Returns:
            Words and punctuation marks with unit vectors. They end before the first word that the encoder splits into
            other tokens inside a text than alone.
        """
        (token_vectors,) = self._encoder.encode_tokens([text])
        words, sums = [], []
        for word, first, last in self._align_words(text, token_vectors.tokens.tolist()):
            words.append(word)
            sums.append(token_vectors.vectors[first:last].sum(axis=0))
        if not words:
            return WordVectors((), np.zeros((0, token_vectors.vectors.shape[1]), np.float32))
        vectors: Vectors = np.stack(sums)
        unit_vectors: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return WordVectors(tuple(words), unit_vectors)

    def _align_words(self, text: str, tokens: Sequence[int]) -> Iterator[tuple[str, int, int]]:
        """Find the tokens of each word; words that the encoder reads otherwise in a text end it."""
        start = 0
        for match in _WORD.finditer(text):
            word_tokens = self._tokens_of(match[0])
            end = start + len(word_tokens)
            if tuple(tokens[start:end]) != word_tokens:
                return
            if word_tokens:
                yield match[0], start, end
            start = end

    def _find_tokens(self, word: str) -> tuple[int, ...]:
        (tokens,) = self._encoder.find_tokens([word])
        return tuple(tokens)
