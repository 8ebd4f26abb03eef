"""The interface of encoders from text to vectors, and batching that never changes a vector.

Not here: encoders (`sentence_encoder.py`, `exported.py`), and finding or opening a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Progress = Callable[[int, int], None]

# A text is padded to a multiple of this many tokens and run with exactly this many rows, so that the matrix shapes,
# and with them the order of additions, depend on the text alone and not on its batch mates.
LENGTH_STEP = 32
ROWS = 8
SHORT_ROWS = 64
"""Texts in a batch of texts of one token."""
DECIMALS = 5
MAX_TOKENS = 256
"""Tokens of a text that are encoded, unless its model takes fewer."""
TOKENIZED_AT_ONCE = 1_000
"""Texts in one call of a tokenizer, whose full output takes fifty times the memory of the token ids."""

ENCODED_AT_ONCE = 4_000
"""Texts whose token ids are in memory at a time, which take five times the memory of their vectors."""


@dataclass(frozen=True, slots=True)
class CosineScale:
    """Linear map from the cosines of an encoder to those of its base model.

    The weights and limits of the rules are made for cosines of the base model, and training changes their distribution.

    Attributes:
        slope: Factor.
        offset: Summand.
    """

    slope: float = 1.0
    offset: float = 0.0

    def convert(self, cosines: Vectors) -> Vectors:
        """Convert cosines of the encoder to cosines of its base model.

        Args:
            cosines: Array of any shape.

        Returns:
            Array of the same shape and type.
        """
        return cosines if self == UNSCALED else (self.slope * cosines + self.offset).astype(cosines.dtype)


UNSCALED = CosineScale()


Batch = list[int]
"""Rows of texts that are encoded together."""
MapBatches = Callable[[Callable[[Batch], Any], Iterable[Batch]], Iterable[Any]]
"""Applies a function to batches as `map` does, in their order."""


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """Tokens of a text without special tokens, with their unit vectors of shape (tokens, dimension)."""

    tokens: npt.NDArray[np.int32]
    vectors: Vectors


class TokenEncoder(Protocol):
    """Encoder of the tokens of texts, each text independent of the others."""

    def find_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text as far as the encoder reads it, without the special ones at both ends.

        Args:
            texts: Texts.
        """

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the tokens of each text with a vector for each; these depend on the text alone.

        Args:
            texts: Texts.
        """

    def encode_lone_tokens(self, tokens: Sequence[int]) -> Vectors:
        """Return the vector of each token when encoded alone, shape (tokens, dimension).

        Args:
            tokens: Token ids.
        """


class Encoder(TokenEncoder, Protocol):
    """Encoder of texts to unit vectors, one row per text, each independent of the others."""

    @property
    def model_name(self) -> str:
        """Return the name or path of the model."""

    @property
    def model_hash(self) -> str:
        """Return the digest of the model's weights."""

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""

    @property
    def scale(self) -> CosineScale:
        """Return the map from the encoder's cosines to those of its base model."""

    def encode_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Encode passages for storage.

        Args:
            texts: Passages with their context.
            progress: Receives the number of encoded texts, and the number of all texts.

        Returns:
            Unit vectors of shape (texts, dimension).
        """

    def encode_query(self, text: str) -> Vectors:
        """Encode one question.

        Args:
            text: Words of the question.

        Returns:
            Unit vector of shape (dimension,).
        """

    def encode_sentences(self, texts: Sequence[str]) -> Vectors:
        """Encode a few short texts for a comparison among themselves, not for storage.

        Args:
            texts: Short texts.

        Returns:
            Unit vectors of shape (texts, dimension).
        """


def pad_length(tokens: Sequence[int]) -> int:
    """Return the padded length of a tokenized text.

    Args:
        tokens: Token ids of the text.
    """
    return -(-len(tokens) // LENGTH_STEP) * LENGTH_STEP


def batch_by_padded_length(ids: Sequence[list[int]], *, rows: int) -> list[Batch]:
    """Group tokenized texts whose lengths round up to the same multiple of `LENGTH_STEP`.

    Args:
        ids: Token ids of each text.
        rows: Maximum number of texts in a batch.

    Returns:
        Batches of indices into `ids`, the shortest texts first.
    """
    texts_by_length: dict[int, list[int]] = {}
    for row, token_ids in enumerate(ids):
        texts_by_length.setdefault(pad_length(token_ids), []).append(row)
    return [
        text_ixs[first : first + rows]
        for _, text_ixs in sorted(texts_by_length.items())
        for first in range(0, len(text_ixs), rows)
    ]


def encode_by_length(
    texts: Sequence[str],
    forward: Callable[[list[list[int]], int], Vectors],
    *,
    tokenize: Callable[[list[str]], list[list[int]]],
    dimension: int,
    rows: int = ROWS,
    progress: Progress | None = None,
    map_batches: MapBatches = map,
) -> Vectors:
    """Encode texts, shortest first, in batches of one padded length.

    Args:
        texts: Texts of any number; the tokens of `ENCODED_AT_ONCE` of them are in memory at a time.
        forward: Returns the vectors of a batch of token ids, padded to a length. It must be safe to call from several
            threads if `map_batches` uses these.
        tokenize: Returns the token ids of each text.
        dimension: Length of a vector.
        rows: Maximum number of texts in a batch.
        progress: Called after each batch with the number of encoded texts, and the number of all texts.
        map_batches: Runs the batches; `map` runs one after the other.

    Returns:
        Vectors of shape (texts, dimension), in the order of `texts`.
    """
    vectors: Vectors = np.zeros((len(texts), dimension), dtype=np.float32)
    text_ixs = sorted(range(len(texts)), key=lambda ix: len(texts[ix]))
    done = 0
    for first in range(0, len(texts), ENCODED_AT_ONCE):
        part = text_ixs[first : first + ENCODED_AT_ONCE]
        ids = tokenize([texts[ix] for ix in part])
        batches = batch_by_padded_length(ids, rows=rows)
        for batch, encoded in zip(batches, map_batches(partial(_encode_batch, ids, forward), batches), strict=True):
            vectors[[part[row] for row in batch]] = encoded
            done += len(batch)
            if progress is not None:
                progress(done, len(texts))
    return vectors


def _encode_batch(
    ids: Sequence[list[int]], forward: Callable[[list[list[int]], int], Vectors], batch: Batch
) -> Vectors:
    return forward([ids[row] for row in batch], pad_length(ids[batch[0]]))


def make_token_vectors(ids: Sequence[int], vectors: Vectors) -> TokenVectors:
    """Pair the tokens of a text with their unit vectors, leaving out the special tokens.

    Args:
        ids: Token ids of the text.
        vectors: Vectors of all its tokens and of the padding after them, shape (length, dimension).

    Returns:
        Tokens and vectors.
    """
    inner = vectors[1 : len(ids) - 1]
    unit: Vectors = inner / np.maximum(np.linalg.norm(inner, axis=1, keepdims=True), 1e-12)
    return TokenVectors(np.array(ids[1:-1], dtype=np.int32), unit)
