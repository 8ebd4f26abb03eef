"""Models exported to ONNX, run with ONNX Runtime, a tokenizer and numpy, without torch.

Here: the encoder and the two rerankers over opened sessions; their results are those of `sentence_encoder.py` and
`passage_scorer.py` in single precision. Not here: exporting, finding or verifying a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.arrays import Floats
from taxkg_assets.retrieval.encoding.encoder import (
    DECIMALS,
    TOKENIZED_AT_ONCE,
    UNSCALED,
    CosineScale,
    Progress,
    TokenVectors,
    Vectors,
    encode_by_length,
    make_token_vectors,
)
from taxkg_assets.retrieval.encoding.passage_scorer import GROUP, LATE_TOKENS, score_tokens

MEAN, FIRST = "mean", "cls"
POOLINGS = (MEAN, FIRST)
_EPSILON = 1e-12
_TOGETHER = 4
"""Sentences in a batch; larger batches need more padding."""
_KNOWN_SENTENCES = 10_000
"""Sentences whose vectors are cached, as questions on one subject compare the same sentences."""
_REMEMBERED = 8
"""Texts whose token vectors are cached."""


@dataclass(frozen=True, slots=True)
class ExportCard:
    """Metadata that an exported model needs besides its file, written at export and read at opening.

    Attributes:
        kind: `encoder`, also used for late interaction, or `cross` for a cross-encoder.
        model_name: Name or path of the model.
        weights: Digest of the model's weights.
        max_tokens: Tokens of a text that are read.
        pad_id: Token for padding.
        dimension: Length of a vector.
        pooling: `mean` or `cls`.
        prompts: Prefixes of texts by kind.
        scale: Map from the model's cosines to those of its base model.
        digests: SHA-256 of each file of the export.
        is_optimized: Whether the file has the optimized graph, so that opening it need not optimize it again.
    """

    kind: str
    model_name: str
    weights: str
    max_tokens: int
    pad_id: int
    dimension: int
    pooling: str = MEAN
    prompts: dict[str, str] = field(default_factory=dict)
    scale: CosineScale = UNSCALED
    digests: dict[str, str] = field(default_factory=dict)
    is_optimized: bool = False


@dataclass(frozen=True, slots=True)
class ExportedModel:
    """An opened session with its tokenizer and card."""

    session: Any
    tokenizer: Any
    card: ExportCard

    def token_ids(self, texts: Sequence[str], *, limit: int) -> list[list[int]]:
        """Tokenize texts, with special tokens at both ends.

        Args:
            texts: Texts.
            limit: Maximum number of tokens of a text.

        Returns:
            Token ids of each text.
        """
        self.tokenizer.enable_truncation(min(limit, self.card.max_tokens))
        if len(texts) == 1:  # a batch of one starts threads
            return [self.tokenizer.encode(texts[0]).ids]
        parts = (texts[first : first + TOKENIZED_AT_ONCE] for first in range(0, len(texts), TOKENIZED_AT_ONCE))
        return [encoding.ids for part in parts for encoding in self.tokenizer.encode_batch(list(part))]

    def token_vectors(self, ids: Sequence[Sequence[int]], length: int) -> tuple[Vectors, npt.NDArray[np.int64]]:
        """Run padded rows of tokens through the model.

        Args:
            ids: Token ids of each row.
            length: Length that rows are padded to.

        Returns:
            Vectors of shape (rows, length, dimension), and a mask of shape (rows, length), 0 for padding.
        """
        pad_id = self.card.pad_id
        padded = np.array([[*row, *[pad_id] * (length - len(row))] for row in ids], dtype=np.int64)
        mask = np.array([[1] * len(row) + [0] * (length - len(row)) for row in ids], dtype=np.int64)
        inputs = {"input_ids": padded, "attention_mask": mask}
        outputs: Vectors = self.session.run(None, {node.name: inputs[node.name] for node in self.session.get_inputs()})[
            0
        ]
        return outputs, mask


@dataclass(frozen=True, slots=True)
class ExportedEncoder:
    """An encoder for questions over an exported model; `model_hash` is that of the index which it searches."""

    model: ExportedModel
    model_hash: str
    recent: dict[tuple[int, ...], Vectors] = field(default_factory=dict, compare=False, repr=False)
    """Cached token vectors of the last questions, from which the vector of a question is pooled, too."""
    sentences: dict[str, Vectors] = field(default_factory=dict, compare=False, repr=False)
    """Cached vectors of the last sentences."""
    tokenized: dict[str, list[int]] = field(default_factory=dict, compare=False, repr=False)
    """Cached token ids of the last questions: their vectors are requested first, and then their tokens."""

    @property
    def model_name(self) -> str:
        """Return the name or path of the model."""
        return self.model.card.model_name

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return self.model.card.dimension

    @property
    def scale(self) -> CosineScale:
        """Return the map from its cosines to those of its base."""
        return self.model.card.scale

    def encode_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Encode passages, shortest first, in batches of one padded length.

        Args:
            texts: Texts.
            progress: Called with the number of encoded texts.

        Returns:
            Unit vectors, shape (texts, dimension).
        """
        prompted = [self._prompt("document", "passage") + text for text in texts]
        return encode_by_length(
            prompted, self._forward, tokenize=self._token_ids, dimension=self.dimension, progress=progress
        )

    def encode_query(self, text: str) -> Vectors:
        """Encode one question.

        Args:
            text: The question.

        Returns:
            Unit vector, shape (1, dimension).
        """
        ids = self._question_ids(self._prompt("query") + text)
        tokens = self._run_row(ids)
        vector: Vectors = self._pool(tokens, np.ones((1, len(ids)), dtype=np.int64))[0]
        return vector

    def encode_together(self, texts: Sequence[str]) -> None:
        """Encode a few questions in one batch and cache their token vectors, which `encode_query` then reuses.

        The vectors are the same. One batch takes less processor time, but no less wall-clock time than two questions in
        parallel.

        Args:
            texts: Questions.
        """
        # One at a time, as a tokenizer starts threads for several texts.
        ids = [self._question_ids(self._prompt("query") + text) for text in texts]
        vectors, _ = self.model.token_vectors(ids, max(map(len, ids)))
        if len(self.recent) + len(ids) > _REMEMBERED:
            self.recent.clear()
        self.recent.update(
            (tuple(token_ids), vectors[row : row + 1, : len(token_ids)]) for row, token_ids in enumerate(ids)
        )

    def encode_sentences(self, texts: Sequence[str]) -> Vectors:
        """Encode a few short texts without a prompt, batching texts of similar length to save padding.

        Args:
            texts: Texts.

        Returns:
            Unit vectors, shape (texts, dimension).
        """
        vector_by_text = {
            text: cached_vector for text in texts if (cached_vector := self.sentences.get(text)) is not None
        }
        new_texts = [text for text in dict.fromkeys(texts) if text not in vector_by_text]
        ids = self._token_ids(new_texts) if new_texts else []
        order = sorted(range(len(ids)), key=lambda ix: len(ids[ix]))
        for start in range(0, len(order), _TOGETHER):
            batch = order[start : start + _TOGETHER]
            vectors = self._forward([ids[ix] for ix in batch], len(ids[batch[-1]]))
            vector_by_text.update((new_texts[ix], vector.copy()) for ix, vector in zip(batch, vectors, strict=True))
        if len(self.sentences) + len(new_texts) > _KNOWN_SENTENCES:
            self.sentences.clear()
        self.sentences.update((text, vector_by_text[text]) for text in new_texts)
        return np.array([vector_by_text[text] for text in texts], dtype=np.float32).reshape(-1, self.dimension)

    def find_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text without special tokens.

        Args:
            texts: Texts.
        """
        return [token_ids[1:-1] for token_ids in self._token_ids(texts)]

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Encode the tokens of each text in a batch of its own.

        Args:
            texts: Texts.

        Returns:
            Tokens of each text with their unit vectors.
        """
        token_ids = [self._question_ids(texts[0])] if len(texts) == 1 else self._token_ids(texts)
        return [self._encode_row(ids) for ids in token_ids]

    def encode_lone_tokens(self, tokens: Sequence[int]) -> Vectors:
        """Encode each token alone, between the special tokens.

        Args:
            tokens: Token ids.

        Returns:
            Unit vectors, shape (tokens, dimension).
        """
        (ends,) = self._token_ids([""])
        vectors = [self._encode_row([ends[0], token, ends[-1]]).vectors for token in tokens]
        return np.concatenate([np.zeros((0, self.dimension), np.float32), *vectors])

    def _encode_row(self, ids: list[int]) -> TokenVectors:
        return make_token_vectors(ids, self._run_row(ids)[0])

    def _run_row(self, ids: list[int]) -> Vectors:
        """Return the token vectors of one text, shape (1, tokens, dimension)."""
        vectors = self.recent.get(key := tuple(ids))
        if vectors is None:
            vectors, _ = self.model.token_vectors([ids], len(ids))
            if len(self.recent) >= _REMEMBERED:
                self.recent.clear()
            self.recent[key] = vectors
        return vectors

    def _prompt(self, *names: str) -> str:
        return next((self.model.card.prompts[name] for name in names if self.model.card.prompts.get(name)), "")

    def _question_ids(self, text: str) -> list[int]:
        """Return the token ids of one question."""
        ids = self.tokenized.get(text)
        if ids is None:
            (ids,) = self._token_ids([text])
            if len(self.tokenized) >= _REMEMBERED:
                self.tokenized.clear()
            self.tokenized[text] = ids
        return ids

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return self.model.token_ids(texts, limit=self.model.card.max_tokens)

    def _forward(self, ids: list[list[int]], length: int) -> Vectors:
        return self._pool(*self.model.token_vectors(ids, length))

    def _pool(self, tokens: Vectors, mask: npt.NDArray[np.int64]) -> Vectors:
        if self.model.card.pooling == FIRST:
            raw = tokens[:, 0]
        else:
            is_token = mask[:, :, None].astype(np.float32)
            raw = (tokens * is_token).sum(axis=1) / np.maximum(is_token.sum(axis=1), 1e-9)
        unit = raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), _EPSILON)
        rounded: Vectors = np.round(unit, DECIMALS).astype(np.float32)
        return rounded


@dataclass(frozen=True, slots=True)
class ExportedLateScorer:
    """Late interaction over an exported model: `LateScorer` without torch."""

    model: ExportedModel

    def score(self, question: str, passages: Sequence[str]) -> Floats:
        """Score passages by the mean cosine of the question's tokens to the nearest token of a passage.

        Args:
            question: Words of the question.
            passages: Texts to score.

        Returns:
            Scores of shape (passages,), -1 to 1.
        """
        (question_tokens,) = self._vectors([question])
        return score_tokens(question_tokens, self._vectors(passages))

    def _vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Return the unit vectors of the tokens of each text, without special tokens."""
        ids = self.model.token_ids(texts, limit=LATE_TOKENS)
        vectors: dict[int, Vectors] = {}
        order = sorted(range(len(texts)), key=lambda ix: len(texts[ix]))
        for first in range(0, len(order), GROUP):
            group = order[first : first + GROUP]
            batch = [ids[ix] for ix in group]
            tokens, _ = self.model.token_vectors(batch, max(map(len, batch)))
            unit = tokens / np.maximum(np.linalg.norm(tokens, axis=2, keepdims=True), _EPSILON)
            for ix, row, text_ids in zip(group, unit, batch, strict=True):
                vectors[ix] = row[1 : len(text_ids) - 1]
        return [vectors[ix] for ix in range(len(texts))]


@dataclass(frozen=True, slots=True)
class ExportedCrossScorer:
    """A cross-encoder over an exported model: `CrossScorer` without torch."""

    model: ExportedModel

    def score(self, question: str, passages: Sequence[str]) -> Floats:
        """Return the logits of the model.

        Args:
            question: Words of the question.
            passages: Texts to score.

        Returns:
            Scores of shape (passages,), unbounded.
        """
        tokenizer, card = self.model.tokenizer, self.model.card
        tokenizer.enable_truncation(card.max_tokens)
        pairs = tokenizer.encode_batch([(question, passage) for passage in passages])
        scores = np.zeros(len(passages))
        order = sorted(range(len(pairs)), key=lambda ix: len(pairs[ix].ids))
        for first in range(0, len(order), GROUP):
            group = [pairs[ix] for ix in order[first : first + GROUP]]
            scores[order[first : first + GROUP]] = self._run(group, max(len(pair.ids) for pair in group))
        return scores

    def _run(self, pairs: Sequence[Any], length: int) -> Floats:
        def pad(rows: Sequence[Sequence[int]], filler: int) -> npt.NDArray[np.int64]:
            return np.array([[*row, *[filler] * (length - len(row))] for row in rows], dtype=np.int64)

        inputs = {
            "input_ids": pad([pair.ids for pair in pairs], self.model.card.pad_id),
            "attention_mask": pad([pair.attention_mask for pair in pairs], 0),
            "token_type_ids": pad([pair.type_ids for pair in pairs], 0),
        }
        session = self.model.session
        raw = session.run(None, {node.name: inputs[node.name] for node in session.get_inputs()})[0]
        return np.asarray(raw, dtype=np.float64).reshape(len(pairs))
