"""An encoder that runs a sentence-transformers model with torch."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from taxkg_assets.retrieval.encoding.encoder import (
    DECIMALS,
    MAX_TOKENS,
    ROWS,
    SHORT_ROWS,
    TOKENIZED_AT_ONCE,
    UNSCALED,
    Batch,
    CosineScale,
    MapBatches,
    Progress,
    TokenVectors,
    Vectors,
    batch_by_padded_length,
    encode_by_length,
    make_token_vectors,
    pad_length,
)
from taxkg_assets.retrieval.encoding.gpu import GPU_ROWS, GpuModel


@contextmanager
def _one_thread() -> Iterator[MapBatches]:
    """Yield `map`, while torch uses one thread."""
    import torch  # loaded here: readers of the index's rows need no torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield map
    finally:
        torch.set_num_threads(threads)


@contextmanager
def _batch_threads() -> Iterator[MapBatches]:
    """Yield a parallel `map` that runs each batch in a thread of its own, while torch uses one thread per batch.

    This takes 20 % less processor time than all threads on one batch, as a batch of few rows fits in a core's cache and
    no matrix product waits for another thread.
    """
    import torch

    threads = torch.get_num_threads()
    pool = ThreadPoolExecutor(threads, "encoder", initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)


def narrow_products(model: Any) -> Any:
    """Copy a model with the weights of its linear layers in bfloat16.

    Autocast would convert these weights for every text. The vectors are the same to the last digit; the copy only runs
    under autocast.

    Args:
        model: Torch module.

    Returns:
        The copy.
    """
    import torch

    narrowed = copy.deepcopy(model)
    for module in narrowed.modules():
        if isinstance(module, torch.nn.Linear):
            module.to(torch.bfloat16)
    return narrowed


@dataclass(frozen=True, slots=True)
class SentenceEncoder:
    """A loaded SentenceTransformer with the hash of its weights.

    Attributes:
        model: The model.
        model_name: Its name or path.
        model_hash: Digest of its weights.
        max_tokens: Tokens of a text that are encoded.
        is_bfloat16: Whether to multiply in bfloat16, for CPUs with hardware for it; cosines change by less than 0.001.
        rows: Texts in a batch; 1 where a vector would depend on the other texts, as with 8-bit weights.
        scale: Map from the encoder's cosines to those of its base model.
        narrowed: Model from `narrow_products`, if any.
        has_own_threads: Whether the model itself divides a batch among threads, as ONNX Runtime does.
        gpu: Copy of the model on the GPU for batches, if any; a single question is encoded on the CPU.
    """

    model: Any
    model_name: str
    model_hash: str
    max_tokens: int = MAX_TOKENS
    is_bfloat16: bool = False
    rows: int = ROWS
    scale: CosineScale = UNSCALED
    narrowed: Any = None
    has_own_threads: bool = False
    gpu: GpuModel | None = None

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return int(self.model.get_embedding_dimension())

    def encode_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Encode passages, shortest first, in batches of one padded length.

        Args:
            texts: Texts.
            progress: Called with the number of encoded texts.

        Returns:
            Unit vectors, shape (texts, dimension).
        """
        return self._encode([self._prompt("document", "passage") + text for text in texts], progress)

    def encode_query(self, text: str) -> Vectors:
        """Encode one question in a single thread, which is faster for so few tokens.

        Args:
            text: The question.

        Returns:
            Unit vector, shape (1, dimension).
        """
        ids = self._token_ids([self._prompt("query") + text])
        with _one_thread():
            vector: Vectors = self._forward(ids, len(ids[0]), rows=1, model=self._narrow_model)[0]
        return vector

    def encode_questions(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Encode many questions, in batches of one padded length.

        Args:
            texts: Questions.
            progress: Called with the number of encoded texts.

        Returns:
            Vectors of shape (texts, dimension), in the order of `texts`.
        """
        return self._encode([self._prompt("query") + text for text in texts], progress)

    def encode_sentences(self, texts: Sequence[str]) -> Vectors:
        """Encode a few short texts in one padded batch, without a prompt, to compare them with each other.

        The vectors differ in the last bits from those of `encode_passages`: do not store them.

        Args:
            texts: At least one text.

        Returns:
            Vectors of shape (texts, dimension).
        """
        ids = self._token_ids(texts)
        return self._forward(ids, max(map(len, ids)), rows=len(ids))

    def find_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text without special tokens.

        Args:
            texts: Texts.
        """
        return [token_ids[1:-1] for token_ids in self._token_ids(texts)]

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Encode the tokens of texts, in batches of one padded length.

        Args:
            texts: Texts.

        Returns:
            Vectors of the tokens of each text.
        """
        return self._encode_rows(self._token_ids(texts), rows=self._batch_rows)

    def encode_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        """Encode passages and their tokens, in one pass where the model reads the same text for both.

        Args:
            texts: Texts.

        Returns:
            What `encode_passages` and `encode_tokens` return.
        """
        if self.gpu is not None or self.has_own_threads or self._prompt("document", "passage"):
            return self.encode_passages(texts), self.encode_tokens(texts)
        ids = self._token_ids(texts)
        vectors: Vectors = np.zeros((len(ids), self.dimension), dtype=np.float32)
        tokens: dict[int, TokenVectors] = {}

        def encode(batch: Batch) -> tuple[Vectors, Vectors]:
            features = self._pad([ids[row] for row in batch], pad_length(ids[batch[0]]), rows=self.rows)
            found = self._run_model(features, self._batch_model)
            return _normalize(found["sentence_embedding"].float().numpy()), found["token_embeddings"].float().numpy()

        batches = batch_by_padded_length(ids, rows=self.rows)
        with _batch_threads() as map_batches:
            for batch, (wholes, parts) in zip(batches, map_batches(encode, batches), strict=True):
                vectors[batch] = wholes[: len(batch)]
                tokens.update({row: make_token_vectors(ids[row], parts[ix]) for ix, row in enumerate(batch)})
        return vectors, [tokens[row] for row in range(len(ids))]

    def encode_lone_tokens(self, tokens: Sequence[int]) -> Vectors:
        """Encode each token between the special ones at both ends of every text, without padding.

        Args:
            tokens: Token ids.

        Returns:
            Unit vectors, shape (tokens, dimension).
        """
        (ends,) = self._token_ids([""])
        rows, ids = max(self._batch_rows, SHORT_ROWS), [[ends[0], token, ends[-1]] for token in tokens]
        vectors = self._encode_rows(ids, rows=rows, length=3)
        return np.concatenate([np.zeros((0, self.dimension), np.float32), *(tokens.vectors for tokens in vectors)])

    @property
    def _batch_rows(self) -> int:
        """Return the largest number of texts in a batch on the device of this encoder."""
        return self.rows if self.gpu is None else GPU_ROWS

    @property
    def _batch_model(self) -> Any:
        """Return the model for batches; None for `model`."""
        return self._narrow_model if self.gpu is None else self.gpu

    @property
    def _narrow_model(self) -> Any:
        return self.narrowed if self.is_bfloat16 else None

    def _encode_rows(self, ids: Sequence[list[int]], *, rows: int, length: int | None = None) -> list[TokenVectors]:
        """Return the tokens of texts, padded to a length; None for the next multiple of `LENGTH_STEP`."""

        def encode(batch: Batch) -> list[TokenVectors]:
            features = self._pad([ids[row] for row in batch], length or pad_length(ids[batch[0]]), rows=rows)
            raw = self._run(features, "token_embeddings", self._batch_model).numpy()
            return [make_token_vectors(ids[row], vector) for row, vector in zip(batch, raw[: len(batch)], strict=True)]

        batches = batch_by_padded_length(ids, rows=rows)
        # One thread per batch, as the last digits of sums depend on the number of threads.
        with self._map_batches(is_single=len(batches) == 1) as map_batches:
            encoded = map_batches(encode, batches)
            vectors = {
                row: row_vectors
                for batch, batch_vectors in zip(batches, encoded, strict=True)
                for row, row_vectors in zip(batch, batch_vectors, strict=True)
            }
        return [vectors[row] for row in range(len(ids))]

    def _prompt(self, *names: str) -> str:
        prompts: dict[str, str] = self.model.prompts or {}
        return next((prompts[name] for name in names if prompts.get(name)), "")

    def _encode(self, texts: Sequence[str], progress: Progress | None) -> Vectors:
        rows = self._batch_rows

        def forward(ids: list[list[int]], length: int) -> Vectors:
            return self._forward(ids, length, rows=rows, model=self._batch_model)

        with nullcontext(map) if self.has_own_threads or self.gpu else _batch_threads() as map_batches:
            return encode_by_length(
                texts,
                forward,
                tokenize=self._token_ids,
                dimension=self.dimension,
                rows=rows,
                progress=progress,
                map_batches=map_batches,
            )

    def _map_batches(self, *, is_single: bool) -> AbstractContextManager[MapBatches]:
        if self.gpu is not None:
            return nullcontext(map)
        return _one_thread() if self.has_own_threads or is_single else _batch_threads()

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        limit = min(self.max_tokens, self.model.max_seq_length or self.max_tokens)
        token_ids: list[list[int]] = []
        for start in range(0, len(texts), TOKENIZED_AT_ONCE):
            batch = list(texts[start : start + TOKENIZED_AT_ONCE])
            token_ids += self.model.tokenizer(batch, truncation=True, max_length=limit)["input_ids"]
        return token_ids

    def _pad(self, ids: list[list[int]], length: int, *, rows: int) -> dict[str, Any]:
        import torch  # loaded here: readers of the index's rows need no torch

        pad = self.model.tokenizer.pad_token_id or 0
        padded = ids + [ids[0]] * (rows - len(ids))
        return {
            "input_ids": torch.tensor([row + [pad] * (length - len(row)) for row in padded]),
            "attention_mask": torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in padded]),
        }

    def _run(self, features: dict[str, Any], output: str, model: Any) -> Any:
        """Return one output of a model, on the processor in single precision."""
        if isinstance(model, GpuModel):
            return model.run(features, output)
        return self._run_model(features, model)[output].float()

    def _run_model(self, features: dict[str, Any], model: Any) -> dict[str, Any]:
        """Return all outputs of a model on the processor, in the arithmetic of this encoder."""
        import torch

        reduced = torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.is_bfloat16)
        with torch.inference_mode(), reduced:
            outputs: dict[str, Any] = (self.model if model is None else model)(features)
        return outputs

    def _forward(self, ids: list[list[int]], length: int, *, rows: int, model: Any = None) -> Vectors:
        return _normalize(self._run(self._pad(ids, length, rows=rows), "sentence_embedding", model).numpy()[: len(ids)])


def _normalize(raw: Vectors) -> Vectors:
    """Return vectors of length one, rounded so that they do not depend on the processor."""
    unit = raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-12)
    rounded: Vectors = np.round(unit, DECIMALS).astype(np.float32)
    return rounded
