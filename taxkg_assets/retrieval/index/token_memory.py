"""Cache of the tokens that earlier builds found in passages and encoded, by the digest of the passage.

Here: the cache and its conversion to arrays and back. Not here: where it is stored, and what is computed from it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.encoder import TokenVectors, Vectors

Tokens = npt.NDArray[np.int32]
Arrays = Mapping[str, npt.NDArray[Any]]
_DIGEST_BYTES = 32


def digest_text(text: str) -> bytes:
    """Return the digest of a text, the key of the token cache.

    Args:
        text: Any text.

    Returns:
        SHA-256, 32 bytes.
    """
    return hashlib.sha256(text.encode()).digest()


@dataclass(frozen=True, slots=True)
class TokenMemory:
    """Token computations of one encoder, cached between builds; each depends only on a text or a token.

    Attributes:
        tokens_by_text: Distinct token ids of each text in ascending order, by the digest of the text.
        sums_by_text: Distinct tokens of each sampled text with the sum of each one's vectors, by text digest.
        lone_vectors: Vector of each token in a text of this token alone, shape (dimension,), by token id.
    """

    tokens_by_text: dict[bytes, Tokens] = field(default_factory=dict)
    sums_by_text: dict[bytes, TokenVectors] = field(default_factory=dict)
    lone_vectors: dict[int, Vectors] = field(default_factory=dict)

    def forget_others(self, texts: Collection[bytes], *, sampled: Collection[bytes]) -> None:
        """Remove cached entries that no text of an index needs.

        Args:
            texts: Digests of the texts that an index still has.
            sampled: Digests of the texts of its sample.
        """
        for entries, needed_digests in ((self.tokens_by_text, set(texts)), (self.sums_by_text, set(sampled))):
            for digest in entries.keys() - needed_digests:
                del entries[digest]

    def list_keys(self) -> tuple[frozenset[bytes], frozenset[bytes], frozenset[int]]:
        """List the keys of all entries, to detect changes.

        Returns:
            Digests of the texts, digests of the sampled texts, and ids of the tokens with a lone vector.
        """
        return frozenset(self.tokens_by_text), frozenset(self.sums_by_text), frozenset(self.lone_vectors)

    def list_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Convert the memory to arrays that `read_memory` reads.

        Returns:
            Arrays by name.
        """
        sums = list(self.sums_by_text.values())
        lone_tokens = np.array(list(self.lone_vectors), dtype=np.int32)
        return {
            **_list_parts("distinct", self.tokens_by_text.keys(), list(self.tokens_by_text.values())),
            **_list_parts("sums", self.sums_by_text.keys(), [sums_of_text.tokens for sums_of_text in sums]),
            "sums_vectors": np.concatenate([sums_of_text.vectors for sums_of_text in sums])
            if sums
            else np.zeros((0, 0), np.float32),
            "lone": lone_tokens,
            "lone_vectors": np.stack(list(self.lone_vectors.values()))
            if len(lone_tokens)
            else np.zeros((0, 0), np.float32),
        }


def read_memory(arrays: Arrays) -> TokenMemory:
    """Restore a token cache from the arrays of `TokenMemory.list_arrays`.

    Args:
        arrays: Arrays by name.

    Returns:
        The memory.

    Raises:
        KeyError: An array is missing.
    """
    memory = TokenMemory()
    distinct, tokens, vectors = arrays["distinct"], arrays["sums"], arrays["sums_vectors"]
    memory.tokens_by_text.update((key, distinct[part]) for key, part in _read_parts("distinct", arrays))
    memory.sums_by_text.update(
        (key, TokenVectors(tokens[part], vectors[part])) for key, part in _read_parts("sums", arrays)
    )
    memory.lone_vectors.update(zip(arrays["lone"].tolist(), arrays["lone_vectors"], strict=True))
    return memory


def _list_parts(name: str, keys: Collection[bytes], parts: Sequence[Tokens]) -> dict[str, npt.NDArray[Any]]:
    """Return three arrays for lists of tokens: their digests, the end of each list, and all lists joined."""
    return {
        f"{name}_keys": np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, _DIGEST_BYTES),
        f"{name}_ends": np.cumsum([len(part) for part in parts], dtype=np.int64),
        name: np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32),
    }


def _read_parts(name: str, arrays: Arrays) -> list[tuple[bytes, slice]]:
    """Return each digest with the slice of its tokens in the joined array."""
    key_bytes = arrays[f"{name}_keys"].tobytes()
    keys = [key_bytes[first : first + _DIGEST_BYTES] for first in range(0, len(key_bytes), _DIGEST_BYTES)]
    ends = arrays[f"{name}_ends"].tolist()
    return [(key, slice(start, end)) for key, start, end in zip(keys, [0, *ends], ends, strict=False)]
