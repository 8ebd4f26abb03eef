"""Vectors of the evaluation's questions and of their tokens, kept in the home from build to build.

They are named after the encoder's weights and its code, so that another encoder or another arithmetic finds none.
"""

from __future__ import annotations

import fcntl
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from taxkg_assets.defs.home.fingerprint import code_fingerprint
from taxkg_assets.defs.home.storage import atomic_write
from taxkg_assets.defs.home.store import Store, digest
from taxkg_assets.retrieval.encoding.encoder import TokenVectors, Vectors
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder

QUESTIONS = "questions"
VECTORS, TOKENS = "", "-tokens"
"""Ends of the names of files: of questions as wholes, and of their tokens."""
TOKEN_ROW: dict[str, Any] = {
    "question": pl.String,
    "tokens": pl.List(pl.Int32),
    "dimension": pl.Int32,
    "vectors": pl.List(pl.Float32),
}


@dataclass(frozen=True, slots=True)
class QuestionVectors:
    """The cached question vectors of one home."""

    store: Store

    def read(self, model_hash: str) -> dict[str, Vectors]:
        """Return the stored question vectors by question text; empty if none are stored for this encoder.

        Args:
            model_hash: Hash of the encoder.
        """
        cached_rows = _read(self._path(model_hash, VECTORS))
        return (
            {}
            if cached_rows is None
            else dict(zip(cached_rows["question"], cached_rows["vector"].to_numpy(), strict=True))
        )

    def keep(self, model_hash: str, vectors: Mapping[str, Vectors]) -> None:
        """Add question vectors to the cache; safe with two processes at a time.

        Args:
            model_hash: Hash of the encoder.
            vectors: Vectors by text of the question, each of shape (dimension,).
        """
        if vectors:
            vector = pl.Series(np.stack(list(vectors.values())))
            _add(self._path(model_hash, VECTORS), pl.DataFrame({"question": list(vectors), "vector": vector}))

    def read_tokens(self, model_hash: str) -> dict[str, TokenVectors]:
        """Return cached token vectors by question; empty if there are none for this encoder.

        Args:
            model_hash: Hash of the encoder.
        """
        cached_rows = _read(self._path(model_hash, TOKENS))
        return (
            {}
            if cached_rows is None
            else {row["question"]: _read_token_row(row) for row in cached_rows.iter_rows(named=True)}
        )

    def keep_tokens(self, model_hash: str, tokens: Mapping[str, TokenVectors]) -> None:
        """Add question tokens to the cache; safe with two processes at a time.

        Args:
            model_hash: Hash of the encoder.
            tokens: Tokens with their vectors by text of the question.
        """
        rows = [
            {
                "question": question,
                "tokens": question_tokens.tokens.tolist(),
                "dimension": question_tokens.vectors.shape[1],
                "vectors": question_tokens.vectors.ravel().tolist(),
            }
            for question, question_tokens in tokens.items()
        ]
        if rows:
            _add(self._path(model_hash, TOKENS), pl.DataFrame(rows, schema=TOKEN_ROW))

    def _path(self, model_hash: str, kind: str) -> Path:
        key = digest(model_hash, code_fingerprint(SentenceEncoder))
        return self.store.folder("cache", QUESTIONS) / f"{key}{kind}.arrow"


def _read(path: Path) -> pl.DataFrame | None:
    return pl.read_ipc(path) if path.is_file() else None


def _add(path: Path, rows: pl.DataFrame) -> None:
    """Write rows of questions that a file lacks, with those that it has."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cached_rows = _read(path)
        if cached_rows is not None:
            rows = pl.concat([cached_rows, rows.join(cached_rows, on="question", how="anti", maintain_order="left")])
            if rows.height == cached_rows.height:
                return
        buffer = io.BytesIO()
        rows.write_ipc(buffer)
        atomic_write(path, buffer.getvalue())


def _read_token_row(row: Mapping[str, Any]) -> TokenVectors:
    vectors = np.array(row["vectors"], dtype=np.float32).reshape(len(row["tokens"]), row["dimension"])
    return TokenVectors(np.array(row["tokens"], dtype=np.int32), vectors)
