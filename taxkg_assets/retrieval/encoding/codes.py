"""Quantized vectors: one bit and one byte per dimension. Bits find the nearest rows; bytes put them in order.

At 500,000 vectors of 384 dimensions the bits take 24 MB and 3 ms to compare, the bytes 192 MB, of which only the rows
that are near by their bits are read; the vectors themselves would take 768 MB.

Source:
    The sign code of Gao and Long 2024, RaBitQ (arXiv 2405.12497), around the mean of all vectors; candidates are
    compared again by their bytes, as there by their vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.encoding.vector import score_rows

Ints = npt.NDArray[np.int64]
_WORD = 64
_BLOCK = 1_024
"""Rows whose bytes are multiplied at once: they fit into the processor's cache."""
_SIGNS_AT_ONCE = 1 << 14
"""Rows whose bits are compared at once, for the same reason."""
_LARGEST = 127
_STRIDE = 8


@dataclass(frozen=True, slots=True)
class VectorCodes:
    """Codes of vectors; they may be mapped from files.

    Attributes:
        center: Mean vector, shape (dimension,).
        signs: Bits of all rows word by word, shape (words, rows).
        octets: Each value in units of 1/127 of the largest of all, shape (rows, dimension).
    """

    center: Vectors
    signs: npt.NDArray[np.uint64]
    octets: npt.NDArray[np.int8]

    @property
    def height(self) -> int:
        """Return the number of rows."""
        return len(self.octets)

    def count_differences(self, query_vector: Vectors) -> npt.NDArray[np.uint16]:
        """Count, for each row, the dimensions in which row and question are on opposite sides of the mean.

        Args:
            query_vector: Vector of shape (dimension,), of any length.

        Returns:
            Counts of shape (rows,), from 0 to the dimension.
        """
        counts = np.zeros(self.height, dtype=np.uint16)
        unit = query_vector / max(
            float(np.linalg.norm(query_vector)), 1e-9
        )  # a mixture of vectors is shorter than they are
        query_bits = _pack(unit[None] - self.center)[:, 0]
        differing, counted = np.empty(_SIGNS_AT_ONCE, dtype=np.uint64), np.empty(_SIGNS_AT_ONCE, dtype=np.uint8)
        for first in range(0, self.height, _SIGNS_AT_ONCE):
            part = counts[first : first + _SIGNS_AT_ONCE]
            bits, count = differing[: len(part)], counted[: len(part)]
            for word, mine in zip(self.signs[:, first : first + len(part)], query_bits, strict=True):
                np.bitwise_xor(word, mine, out=bits)
                part += np.bitwise_count(bits, out=count)
        return counts

    def compare(self, query_vector: Vectors, rows: Ints) -> Vectors:
        """Approximate the inner products of some rows with a vector, from the rows' bytes, up to one constant factor.

        Args:
            query_vector: Vector of shape (dimension,).
            rows: Row numbers.

        Returns:
            Products in the order of `rows`.
        """
        blocks = (rows[first : first + _BLOCK] for first in range(0, len(rows), _BLOCK))
        products = [
            score_rows(np.take(self.octets, block, axis=0).astype(np.float32), query_vector) for block in blocks
        ]
        return np.concatenate(products) if products else np.zeros(0, dtype=np.float32)


def build_codes(vectors: Vectors) -> VectorCodes:
    """Build the codes of all rows of a matrix.

    Args:
        vectors: Unit vectors of shape (rows, dimension).

    Returns:
        Codes in the same order.
    """
    center: Vectors = vectors.mean(axis=0, dtype=np.float64).astype(np.float32) if len(vectors) else vectors.sum(axis=0)
    signs = np.zeros((-(-vectors.shape[1] // _WORD), len(vectors)), dtype=np.uint64)
    octets = np.zeros(vectors.shape, dtype=np.int8)
    largest = max((float(np.abs(vectors[part]).max()) for part in _parts(len(vectors))), default=1.0) or 1.0
    for part in _parts(len(vectors)):
        signs[:, part] = _pack(vectors[part] - center)
        octets[part] = np.rint(vectors[part] * np.float32(_LARGEST / largest))
    return VectorCodes(center, signs, octets)


def find_smallest_distances(differences: npt.NDArray[np.uint16], count: int) -> Ints:
    """Find the indices of the smallest Hamming distances, including ties with the largest of them.

    Args:
        differences: Distances of shape (rows,).
        count: Number of indices.

    Returns:
        Indices in ascending order.
    """
    if len(differences) <= count:
        return np.arange(len(differences))
    step = _STRIDE if len(differences) > _STRIDE * count else 1
    cut = int(np.searchsorted(np.cumsum(np.bincount(differences[::step])), -(-count // step)))
    return np.flatnonzero(differences <= cut)


def _pack(moved: Vectors) -> npt.NDArray[np.uint64]:
    """Return the signs of rows as bits, word by word: (words, rows)."""
    bits = np.packbits(moved > 0, axis=1, bitorder="little")
    padded: Any = np.pad(bits, ((0, 0), (0, -bits.shape[1] % (_WORD // 8))))
    words: npt.NDArray[np.uint64] = np.ascontiguousarray(padded).view(np.uint64).T
    return words


def _parts(height: int) -> Iterator[slice]:
    return (slice(first, first + 16 * _BLOCK) for first in range(0, height, 16 * _BLOCK))
