"""Tokens of an index's passages, kept in the home from build to build: most passages are those of the last build.

They are named after the encoder's weights and its code, so that another encoder or another arithmetic finds none.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taxkg_assets.defs.home.fingerprint import code_fingerprint
from taxkg_assets.defs.home.storage import atomic_write
from taxkg_assets.defs.home.store import Store, digest
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder
from taxkg_assets.retrieval.index.token_match import build_token_index
from taxkg_assets.retrieval.index.token_memory import TokenMemory, read_memory

TOKENS = "tokens"
Keys = tuple[frozenset[bytes], frozenset[bytes], frozenset[int]]
_DIGEST_BYTES = hashlib.sha256().digest_size
KEPT_ENCODERS = 2
"""Files that are kept: of a tuned encoder and of its base."""


@dataclass(frozen=True, slots=True)
class TokenCache:
    """The cached token vectors of one home."""

    store: Store

    def read(self, model_hash: str) -> TokenMemory:
        """Return cached tokens by text; empty if this encoder has none or the file is damaged.

        Args:
            model_hash: Hash of the encoder.

        Returns:
            Tokens by text.
        """
        path = self._path(model_hash)
        if not path.is_file():
            return TokenMemory()
        try:
            content = path.read_bytes()
            arrays = io.BytesIO(content[_DIGEST_BYTES:])
            if hashlib.sha256(arrays.getbuffer()).digest() != content[:_DIGEST_BYTES]:
                return TokenMemory()
            names = np.load(arrays, allow_pickle=False)
            return read_memory({str(name): np.load(arrays, allow_pickle=False) for name in names})
        except (EOFError, KeyError, OSError, ValueError):
            return TokenMemory()

    def keep(self, model_hash: str, memory: TokenMemory, *, cached_keys: Keys | None = None) -> None:
        """Replace the cached tokens by those of the newest index, and delete the tokens of former encoders.

        Args:
            model_hash: Hash of the encoder.
            memory: Tokens by text.
            cached_keys: Keys of `memory` when it was read from the cache; if they are the same now, nothing is written.
        """
        path = self._path(model_hash)
        if cached_keys is not None and cached_keys == memory.list_keys() and path.is_file():
            return
        data = io.BytesIO()
        arrays = memory.list_arrays()
        for array in (np.array(list(arrays)), *arrays.values()):
            np.save(data, array, allow_pickle=False)
        atomic_write(path, hashlib.sha256(data.getbuffer()).digest() + data.getvalue())
        for former in sorted(path.parent.glob("*.npy"), key=lambda file: file.stat().st_mtime)[:-KEPT_ENCODERS]:
            former.unlink(missing_ok=True)

    def _path(self, model_hash: str) -> Path:
        key = digest(model_hash, code_fingerprint(SentenceEncoder), code_fingerprint(build_token_index))
        return self.store.folder("cache", TOKENS) / f"{key}.npy"
