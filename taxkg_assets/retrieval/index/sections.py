"""Mean directions of sections, over the passages under one heading."""

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
        first: First passage of each section.
        place: Its row in `means`; -1 where it has one passage.
        means: Directions of sections with several passages.
        vectors: Unit vectors of the passages.
    """

    first: Ints
    place: Ints
    means: Matrix
    vectors: Matrix

    def read(self, anchors: Ints) -> Vectors:
        """Return the mean vectors of some sections, reading each once.

        Args:
            anchors: 0-based numbers of anchors in the index.
        """
        once, inverse = np.unique(anchors, return_inverse=True)
        place = self.place[once]
        has_several = place >= 0
        of_several = self.means[place[has_several]]
        directions: Vectors = np.empty((len(once), of_several.shape[1]), dtype=of_several.dtype)
        directions[has_several] = of_several
        directions[~has_several] = self.vectors[self.first[once[~has_several]]]
        return directions[inverse]


def open_sections(anchors: Ints, *, means: Matrix, vectors: Matrix) -> Sections:
    """Return the mean vectors of sections, each read when a ranking first needs it.

    Args:
        anchors: Anchor number of each passage.
        means: Directions from `build_means`.
        vectors: Unit vectors of the passages.

    Returns:
        Directions by anchor number.
    """
    counts = np.bincount(anchors)
    first = np.zeros(len(counts), dtype=np.int64)
    first[anchors[::-1]] = np.arange(len(anchors))[::-1]
    return Sections(first, np.where(counts > 1, np.cumsum(counts > 1) - 1, -1), means, vectors)


def build_means(anchors: Ints, vectors: Vectors) -> Vectors:
    """Compute the mean vectors of the sections that have several passages.

    Args:
        anchors: Anchor number of each passage.
        vectors: Unit vectors of shape (passages, dimension).

    Returns:
        Unit vectors in order of the anchor numbers.
    """
    counts = np.bincount(anchors)
    place = np.cumsum(counts > 1) - 1
    several = np.flatnonzero(counts[anchors] > 1) if len(anchors) else anchors
    return find_mean_directions(vectors, place[anchors], count=int((counts > 1).sum()), among=several)


def find_mean_directions(
    vectors: Vectors, groups: Ints, *, count: int, among: Ints | Sequence[int] | None = None
) -> Vectors:
    """Compute the normalized sum of the vectors in each group of rows.

    Args:
        vectors: Vectors of shape (rows, dimension).
        groups: Group of each row.
        count: Number of groups.
        among: Rows to sum; None for all.

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
