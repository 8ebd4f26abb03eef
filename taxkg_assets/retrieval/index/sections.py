"""Mean vectors of sections, each over the passages under one heading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.encoder import Vectors

Ints = npt.NDArray[np.int64]


class Matrix(Protocol):
    """A matrix whose rows are read by number, in memory or mapped from a file."""

    def __getitem__(self, rows: Ints, /) -> Vectors: ...


@dataclass(frozen=True, slots=True)
class Sections:
    """Mean vector of each section by anchor number; a section with one passage uses that passage's vector.

    Attributes:
        first_rows: Row number of the first passage of each section.
        mean_ixs: Index of each section in `means`; -1 for a section with one passage.
        means: Mean vectors of the sections with several passages.
        vectors: Unit vectors of the passages.
    """

    first_rows: Ints
    mean_ixs: Ints
    means: Matrix
    vectors: Matrix

    def read(self, anchors: Ints) -> Vectors:
        """Return the mean vectors of some sections.

        Args:
            anchors: Anchor numbers, with repeats.

        Returns:
            Unit vectors in the order of `anchors`, shape (anchors, dimension).
        """
        distinct_anchors, section_ixs = np.unique(anchors, return_inverse=True)
        mean_ixs = self.mean_ixs[distinct_anchors]
        has_several = mean_ixs >= 0
        several_means = self.means[mean_ixs[has_several]]
        section_vectors: Vectors = np.empty((len(distinct_anchors), several_means.shape[1]), dtype=several_means.dtype)
        section_vectors[has_several] = several_means
        section_vectors[~has_several] = self.vectors[self.first_rows[distinct_anchors[~has_several]]]
        return section_vectors[section_ixs]


def open_sections(anchors: Ints, *, means: Matrix, vectors: Matrix) -> Sections:
    """Open the mean vectors of sections, each to be read when a ranking needs it.

    Args:
        anchors: Anchor number of each passage.
        means: Mean vectors from `build_section_means`.
        vectors: Unit vectors of the passages.

    Returns:
        Mean vectors by anchor number.
    """
    # Of the rows assigned to one anchor, the last assignment stays, which in reverse order is the first row. Anchors
    # with one passage have no stored mean: their vector is that of the passage.
    passage_counts = np.bincount(anchors)
    first_rows = np.zeros(len(passage_counts), dtype=np.int64)
    first_rows[anchors[::-1]] = np.arange(len(anchors))[::-1]
    mean_ixs = np.where(passage_counts > 1, np.cumsum(passage_counts > 1) - 1, -1)
    return Sections(first_rows, mean_ixs, means, vectors)


def build_section_means(anchors: Ints, vectors: Vectors) -> Vectors:
    """Compute the mean vectors of the sections that have several passages.

    Args:
        anchors: Anchor number of each passage.
        vectors: Unit vectors of shape (passages, dimension).

    Returns:
        Unit vectors of these sections in order of their anchor numbers.
    """
    passage_counts = np.bincount(anchors)
    mean_ixs = np.cumsum(passage_counts > 1) - 1
    rows = np.flatnonzero(passage_counts[anchors] > 1) if len(anchors) else anchors
    return compute_mean_vectors(vectors, mean_ixs[anchors], count=int((passage_counts > 1).sum()), among=rows)


def compute_mean_vectors(
    vectors: Vectors, groups: Ints, *, count: int, among: Ints | Sequence[int] | None = None
) -> Vectors:
    """Compute the mean vector of each group of rows, normalized to length 1.

    Args:
        vectors: Vectors of shape (rows, dimension).
        groups: Group number of each row.
        count: Number of groups.
        among: Numbers of the rows to sum; None for all.

    Returns:
        Unit vectors of shape (count, dimension); zeros for an empty group.
    """
    sums: Vectors = np.zeros((count, vectors.shape[1]), dtype=np.float32)
    if among is None:
        np.add.at(sums, groups, vectors)
    else:
        np.add.at(sums, groups[among], vectors[among])
    unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return unit
