"""Vectors of the evaluation's questions, kept in the home from build to build: they are the same each time.

They are named after the encoder's weights and its code, so that another encoder or another arithmetic finds none.
"""

from __future__ import annotations

import fcntl
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from taxkg_assets.defs.fingerprint import code_fingerprint
from taxkg_assets.defs.place import atomic_write
from taxkg_assets.defs.store import Store, digest
from taxkg_assets.retrieval.encoder import SentenceEncoder, Vectors

QUESTIONS = "questions"


@dataclass(frozen=True, slots=True)
class QuestionVectors:
    """The vectors that one home keeps of questions."""

    store: Store

    def read(self, model_hash: str) -> dict[str, Vectors]:
        """Vectors of questions by their text; none where nothing is kept of this encoder."""
        path = self._path(model_hash)
        if not path.is_file():
            return {}
        kept = pl.read_ipc(path)
        return dict(zip(kept["question"], kept["vector"].to_numpy(), strict=True))

    def keep(self, model_hash: str, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors with those that are kept already; two processes may do so at a time."""
        path = self._path(model_hash)
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = self.read(model_hash)
            if vectors.keys() <= known.keys():
                return
            every = {**known, **vectors}
            frame = pl.DataFrame({"question": list(every), "vector": pl.Series(np.stack(list(every.values())))})
            written = io.BytesIO()
            frame.write_ipc(written)
            atomic_write(path, written.getvalue())

    def _path(self, model_hash: str) -> Path:
        named = digest(model_hash, code_fingerprint(SentenceEncoder))
        return self.store.folder("cache", QUESTIONS) / f"{named}.arrow"
