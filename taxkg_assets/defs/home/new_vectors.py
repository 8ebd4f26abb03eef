"""Vectors of new passages, encoded while the build makes other tables; the table `embeddings` takes them from here.

They are named after the encoder's code; each row names the encoder.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs.home.fingerprint import code_fingerprint
from taxkg_assets.defs.home.storage import atomic_write
from taxkg_assets.defs.home.store import Store
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder


@dataclass(frozen=True, slots=True)
class NewVectors:
    """Vectors of one home that were encoded before its embeddings table is written."""

    store: Store

    def read(self) -> pl.DataFrame:
        """Return vectors that were encoded ahead of the table; empty if there are none or the file is unreadable."""
        try:
            return pl.read_ipc(self._path().read_bytes())
        except (OSError, pl.exceptions.PolarsError):
            return schemas.Embeddings.create_empty()

    def keep(self, rows: pl.DataFrame) -> None:
        """Write the vectors encoded ahead, replacing earlier ones.

        Args:
            rows: Rows of `embeddings`.
        """
        buffer = io.BytesIO()
        rows.write_ipc(buffer)
        atomic_write(self._path(), buffer.getvalue())

    def _path(self) -> Path:
        return self.store.folder("cache", "vectors") / f"{code_fingerprint(SentenceEncoder)}.arrow"
