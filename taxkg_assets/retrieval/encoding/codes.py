"""Quantized vectors with one bit and one byte per dimension. Bits find the nearest rows; bytes put these in order.

For 500,000 vectors of 384 dimensions the bits take 24 MB and 3 ms to compare, and the bytes 192 MB, of which only the
nearest rows are read; the vectors themselves would take 768 MB.

Source:
    Gao and Long 2024, RaBitQ (arXiv 2405.12497): the sign code around the mean of all vectors. Candidates are compared
    again by their bytes here, by their vectors there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.encoding.parallel import run_in_parallel
from taxkg_assets.retrieval.encoding.vector import score_rows

Ints = npt.NDArray[np.int64]
_WORD = 64
"""Bits of a word."""
_BLOCK = 256
"""Rows whose bytes are multiplied at once: they and their numbers fit into the processor's cache."""
_BUILT_AT_ONCE = 1 << 14
"""Rows whose codes are built at once."""
_SIGNS_AT_ONCE = 1 << 15
"""Rows whose bits are compared at once, for the same reason."""
_DIVIDED_FROM = 200_000
"""Rows from which two threads compare half of the bits each: they take 1 ms of one."""
_WORDS_AT_ONCE = 3
"""Words whose differing bits are counted in one byte: at most 192 of 255."""
_LARGEST = 127
"""Largest value of a byte with a sign."""
_STRIDE = 8
"""Of many distances one in `_STRIDE` is sampled to estimate the largest of the smallest ones."""


@dataclass(frozen=True, slots=True)
class VectorCodes:
    """Codes of vectors; they may be mapped from files.

    Attributes:
        center: Mean vector, shape (dimension,).
        signs: Bits of all rows word by word, shape (words, rows).
        octets: Values as bytes, shape (rows, dimension); 127 is the largest absolute value of all vectors.
    """

    center: Vectors
    signs: npt.NDArray[np.uint64]
    octets: npt.NDArray[np.int8]

    @property
    def height(self) -> int:
        """Return the number of rows."""
        return len(self.octets)

    def count_differences(self, query_vector: Vectors) -> npt.NDArray[np.uint16]:
        """Count for each row the dimensions in which row and question are on different sides of the mean.

        Args:
            query_vector: Vector of shape (dimension,), of any length.

        Returns:
            Counts of shape (rows,), from 0 to the dimension.
        """
        counts = np.empty(self.height, dtype=np.uint16)
        # The vector of an expanded question is a mean of unit vectors, and so shorter than 1.
        unit = query_vector / max(float(np.linalg.norm(query_vector)), 1e-9)
        query_bits = _pack(unit[None] - self.center)[:, 0]
        if self.height < _DIVIDED_FROM:
            _count_bits(self.signs, query_bits, counts)
            return counts
        middle = self.height // 2
        run_in_parallel(
            lambda: _count_bits(self.signs[:, :middle], query_bits, counts[:middle]),
            lambda: _count_bits(self.signs[:, middle:], query_bits, counts[middle:]),
        )
        return counts

    def compare(self, query_vector: Vectors, rows: Ints) -> Vectors:
        """Approximate the inner products of some rows with a vector by the rows' bytes, up to a constant factor.

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
        Codes in the order of the rows.
    """
    center: Vectors = vectors.mean(axis=0, dtype=np.float64).astype(np.float32) if len(vectors) else vectors.sum(axis=0)
    signs = np.zeros((-(-vectors.shape[1] // _WORD), len(vectors)), dtype=np.uint64)
    octets = np.zeros(vectors.shape, dtype=np.int8)
    largest = max((float(np.abs(vectors[part]).max()) for part in _parts(len(vectors))), default=1.0) or 1.0
    for part in _parts(len(vectors)):
        signs[:, part] = _pack(vectors[part] - center)
        octets[part] = np.rint(vectors[part] * np.float32(_LARGEST / largest))
    return VectorCodes(center, signs, octets)


def find_smallest_distances(distances: npt.NDArray[np.uint16], count: int) -> Ints:
    """Find the indices of the smallest Hamming distances, including ties with the largest of these.

    Args:
        distances: Distances of shape (rows,).
        count: Number of indices.

    Returns:
        Indices in ascending order.
    """
    if len(distances) <= count:
        return np.arange(len(distances))
    step = _STRIDE if len(distances) > _STRIDE * count else 1
    cut = int(np.searchsorted(np.cumsum(np.bincount(distances[::step])), -(-count // step)))
    return np.flatnonzero(distances <= cut)


def _count_bits(
    signs: npt.NDArray[np.uint64], query_bits: npt.NDArray[np.uint64], counts: npt.NDArray[np.uint16]
) -> None:
    """Write to `counts` how many bits of each row differ from those of a question; `signs` has shape (words, rows)."""
    xor_buffer = np.empty(_SIGNS_AT_ONCE, dtype=np.uint64)
    count_buffers = np.empty((2, _SIGNS_AT_ONCE), dtype=np.uint8)
    for start in range(0, len(counts), _SIGNS_AT_ONCE):
        part_counts = counts[start : start + _SIGNS_AT_ONCE]
        differing_bits, (count, total) = xor_buffer[: len(part_counts)], count_buffers[:, : len(part_counts)]
        row_words = signs[:, start : start + len(part_counts)]
        for word_ix, (row_word, query_word) in enumerate(zip(row_words, query_bits, strict=True)):
            np.bitwise_xor(row_word, query_word, out=differing_bits)
            if word_ix % _WORDS_AT_ONCE:
                total += np.bitwise_count(differing_bits, out=count)
                continue
            if word_ix:
                part_counts += total
            else:
                part_counts[:] = 0
            np.bitwise_count(differing_bits, out=total)
        part_counts += total


def _pack(centered: Vectors) -> npt.NDArray[np.uint64]:
    """Return the signs of the values as bits in words, shape (words, rows)."""
    bits = np.packbits(centered > 0, axis=1, bitorder="little")
    padded: Any = np.pad(bits, ((0, 0), (0, -bits.shape[1] % (_WORD // 8))))
    words: npt.NDArray[np.uint64] = np.ascontiguousarray(padded).view(np.uint64).T
    return words


def _parts(height: int) -> Iterator[slice]:
    return (slice(first, first + _BUILT_AT_ONCE) for first in range(0, height, _BUILT_AT_ONCE))
