"""Tokens of passages that an earlier build found and encoded, by the digest of the passage.

Here: the memory and its conversion to arrays and back. Not here: where it is stored, and what is computed from it.
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
        distinct: Distinct tokens of each text, in order.
        sums: Tokens of each sampled text with the sum of their vectors, shape (tokens, dimension).
        lone: Vector of each token in a text of its own, shape (dimension,).
    """

    distinct: dict[bytes, Tokens] = field(default_factory=dict)
    sums: dict[bytes, TokenVectors] = field(default_factory=dict)
    lone: dict[int, Vectors] = field(default_factory=dict)

    def forget_others(self, texts: Collection[bytes], *, sampled: Collection[bytes]) -> None:
        """Remove cached entries that no text of an index needs.

        Args:
            texts: Digests of the texts of an index.
            sampled: Digests of those whose vectors are summed.
        """
        for known, needed in ((self.distinct, set(texts)), (self.sums, set(sampled))):
            for key in known.keys() - needed:
                del known[key]

    def list_keys(self) -> tuple[frozenset[bytes], frozenset[bytes], frozenset[int]]:
        """List the cached texts, the texts with summed vectors, and the tokens encoded alone.

        Returns:
            Hashes of the texts, hashes of the sampled texts, and token ids.
        """
        return frozenset(self.distinct), frozenset(self.sums), frozenset(self.lone)

    def list_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Convert the memory to arrays that `read_memory` reads.

        Returns:
            Arrays by name.
        """
        sums = list(self.sums.values())
        lone = np.array(list(self.lone), dtype=np.int32)
        return {
            **_list_parts("distinct", self.distinct.keys(), list(self.distinct.values())),
            **_list_parts("sums", self.sums.keys(), [sums_of_text.tokens for sums_of_text in sums]),
            "sums_vectors": np.concatenate([sums_of_text.vectors for sums_of_text in sums])
            if sums
            else np.zeros((0, 0), np.float32),
            "lone": lone,
            "lone_vectors": np.stack(list(self.lone.values())) if len(lone) else np.zeros((0, 0), np.float32),
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
    memory.distinct.update((key, distinct[part]) for key, part in _read_parts("distinct", arrays))
    memory.sums.update((key, TokenVectors(tokens[part], vectors[part])) for key, part in _read_parts("sums", arrays))
    memory.lone.update(zip(arrays["lone"].tolist(), arrays["lone_vectors"], strict=True))
    return memory


def _list_parts(name: str, keys: Collection[bytes], parts: Sequence[Tokens]) -> dict[str, npt.NDArray[Any]]:
    """Return the digests, the ends and the tokens of lists of tokens, one after another."""
    return {
        f"{name}_keys": np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, _DIGEST_BYTES),
        f"{name}_ends": np.cumsum([len(part) for part in parts], dtype=np.int64),
        name: np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32),
    }


def _read_parts(name: str, arrays: Arrays) -> list[tuple[bytes, slice]]:
    """Return each digest with the place of its tokens."""
    joined = arrays[f"{name}_keys"].tobytes()
    keys = [joined[first : first + _DIGEST_BYTES] for first in range(0, len(joined), _DIGEST_BYTES)]
    ends = arrays[f"{name}_ends"].tolist()
    return [(key, slice(start, end)) for key, start, end in zip(keys, [0, *ends], ends, strict=False)]
