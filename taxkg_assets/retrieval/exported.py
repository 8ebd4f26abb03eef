"""Models exported to ONNX, as a question's path asks them: ONNX Runtime, a tokenizer, and numpy for what pools.

Here: the encoder and the two rerankers over opened sessions. Not here: exporting, finding or verifying a file. Nothing
here needs torch, and what they compute is what `encoder.py` and `passage_scorer.py` compute in single precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoder import (
    DECIMALS,
    TOKENIZED_AT_ONCE,
    UNSCALED,
    CosineScale,
    Progress,
    Vectors,
    encode_by_length,
)
from taxkg_assets.retrieval.facts import Floats
from taxkg_assets.retrieval.passage_scorer import GROUP, LATE_TOKENS

MEAN, FIRST = "mean", "cls"
POOLINGS = (MEAN, FIRST)
_EPSILON = 1e-12


@dataclass(frozen=True, slots=True)
class ExportCard:
    """What an exported model needs besides its file: written at export, read at opening.

    `kind`: encoder or cross. `digests`: SHA-256 of each file of the export.
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


@dataclass(frozen=True, slots=True)
class ExportedModel:
    """An opened session with its tokenizer and card."""

    session: Any
    tokenizer: Any
    card: ExportCard

    def token_ids(self, texts: Sequence[str], *, limit: int) -> list[list[int]]:
        """Tokens of each text with the marks at both ends, cut to a limit."""
        self.tokenizer.enable_truncation(min(limit, self.card.max_tokens))
        parts = (texts[first : first + TOKENIZED_AT_ONCE] for first in range(0, len(texts), TOKENIZED_AT_ONCE))
        return [found.ids for part in parts for found in self.tokenizer.encode_batch(list(part))]

    def token_vectors(self, ids: Sequence[Sequence[int]], length: int) -> tuple[Vectors, npt.NDArray[np.int64]]:
        """Vectors of padded rows of tokens, and which of them are none of the padding.

        Returns: (rows, length, dimension) and (rows, length).
        """
        pad = self.card.pad_id
        padded = np.array([[*row, *[pad] * (length - len(row))] for row in ids], dtype=np.int64)
        mask = np.array([[1] * len(row) + [0] * (length - len(row)) for row in ids], dtype=np.int64)
        given = {"input_ids": padded, "attention_mask": mask}
        found: Vectors = self.session.run(None, {one.name: given[one.name] for one in self.session.get_inputs()})[0]
        return found, mask


@dataclass(frozen=True, slots=True)
class ExportedEncoder:
    """An encoder for questions over an exported model; `model_hash` is that of the index whose vectors it meets."""

    model: ExportedModel
    model_hash: str

    @property
    def model_name(self) -> str:
        return self.model.card.model_name

    @property
    def dimension(self) -> int:
        return self.model.card.dimension

    @property
    def scale(self) -> CosineScale:
        return self.model.card.scale

    def encode_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Encode passages, shortest first, in batches of one padded length."""
        ids = self._token_ids([self._prompt("document", "passage") + text for text in texts])
        return encode_by_length(ids, self._forward, dimension=self.dimension, progress=progress)

    def encode_query(self, text: str) -> Vectors:
        """Encode one question."""
        ids = self._token_ids([self._prompt("query") + text])
        vector: Vectors = self._forward(ids, len(ids[0]))[0]
        return vector

    def encode_sentences(self, texts: Sequence[str]) -> Vectors:
        """Encode a few short texts as they are; like lengths together, for to pad costs as much as to read."""
        ids = self._token_ids(texts)
        vectors: Vectors = np.zeros((len(ids), self.dimension), dtype=np.float32)
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        for first in range(0, len(order), GROUP):
            group = order[first : first + GROUP]
            vectors[group] = self._forward([ids[place] for place in group], len(ids[group[-1]]))
        return vectors

    def _prompt(self, *names: str) -> str:
        return next((self.model.card.prompts[name] for name in names if self.model.card.prompts.get(name)), "")

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return self.model.token_ids(texts, limit=self.model.card.max_tokens)

    def _forward(self, ids: list[list[int]], length: int) -> Vectors:
        tokens, mask = self.model.token_vectors(ids, length)
        if self.model.card.pooling == FIRST:
            raw = tokens[:, 0]
        else:
            held = mask[:, :, None].astype(np.float32)
            raw = (tokens * held).sum(axis=1) / np.maximum(held.sum(axis=1), 1e-9)
        unit = raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), _EPSILON)
        rounded: Vectors = np.round(unit, DECIMALS).astype(np.float32)
        return rounded


@dataclass(frozen=True, slots=True)
class ExportedLateScorer:
    """Late interaction over an exported model: `LateScorer` without torch."""

    model: ExportedModel

    def score(self, question: str, passages: Sequence[str]) -> Floats:
        """Mean over the question's tokens of the cosine to the nearest token of each passage."""
        (asked,) = self._vectors([question])
        return np.array([float((asked @ held.T).max(axis=1).mean()) for held in self._vectors(passages)])

    def _vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Unit-length vectors of each text's tokens, the marks at both ends aside."""
        ids = self.model.token_ids(texts, limit=LATE_TOKENS)
        found: dict[int, Vectors] = {}
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for first in range(0, len(order), GROUP):
            group = order[first : first + GROUP]
            own = [ids[place] for place in group]
            tokens, _ = self.model.token_vectors(own, max(map(len, own)))
            unit = tokens / np.maximum(np.linalg.norm(tokens, axis=2, keepdims=True), _EPSILON)
            for place, row, held in zip(group, unit, own, strict=True):
                found[place] = row[1 : len(held) - 1]
        return [found[place] for place in range(len(texts))]


@dataclass(frozen=True, slots=True)
class ExportedCrossScorer:
    """A cross-encoder over an exported model: `CrossScorer` without torch."""

    model: ExportedModel

    def score(self, question: str, passages: Sequence[str]) -> Floats:
        """The model's own figure, before any squashing."""
        tokenizer, card = self.model.tokenizer, self.model.card
        tokenizer.enable_truncation(card.max_tokens)
        pairs = tokenizer.encode_batch([(question, passage) for passage in passages])
        scores = np.zeros(len(passages))
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].ids))
        for first in range(0, len(order), GROUP):
            group = [pairs[place] for place in order[first : first + GROUP]]
            scores[order[first : first + GROUP]] = self._run(group, max(len(pair.ids) for pair in group))
        return scores

    def _run(self, pairs: Sequence[Any], length: int) -> Floats:
        def pad(rows: Sequence[Sequence[int]], filler: int) -> npt.NDArray[np.int64]:
            return np.array([[*row, *[filler] * (length - len(row))] for row in rows], dtype=np.int64)

        given = {
            "input_ids": pad([pair.ids for pair in pairs], self.model.card.pad_id),
            "attention_mask": pad([pair.attention_mask for pair in pairs], 0),
            "token_type_ids": pad([pair.type_ids for pair in pairs], 0),
        }
        session = self.model.session
        raw = session.run(None, {one.name: given[one.name] for one in session.get_inputs()})[0]
        return np.asarray(raw, dtype=np.float64).reshape(len(pairs))
