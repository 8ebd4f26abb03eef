"""Scores of both retrievers for one question.

Cosines are exact for every row of an index in memory; in a large index quantized codes choose the rows for which they
are computed. Either way a ranker gets the best rows that pass a filter, and the exact scores of given rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.arrays import Ints
from taxkg_assets.retrieval.encoding.codes import VectorCodes, find_smallest_distances
from taxkg_assets.retrieval.encoding.encoder import CosineScale, Vectors
from taxkg_assets.retrieval.encoding.lexical import Scores
from taxkg_assets.retrieval.encoding.vector import score_rows
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.row_filter import RowFilter
from taxkg_assets.retrieval.index.row_store import StoredVectors
from taxkg_assets.retrieval.index.top_rows import find_above, find_top
from taxkg_assets.rules.models.ranking import Codes, load_ranking

POOL_SIZE = 8_000
"""Best rows that are filtered first; all rows are filtered only if too few of these pass."""


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The search terms of a question, and its weighted expansion terms."""

    terms: tuple[str, ...]
    expansion_terms: tuple[str, ...] = ()
    expansion_weight: float = 0.0


class RetrieverScores(Protocol):
    """Interface of the scores that both retrievers give a question."""

    def find_by_terms(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the highest BM25 scores above 0, best first, ties by row.

        Args:
            rows: Filter of rows.
            count: Maximum number of rows.
        """

    def find_by_meaning(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the highest cosines, best first, ties by row.

        Args:
            rows: Filter of rows.
            count: Maximum number of rows.
        """

    def score_terms(self, rows: Ints) -> Scores:
        """Return the BM25 scores of some rows.

        Args:
            rows: 0-based rows of the index.
        """

    def score_meaning(self, rows: Ints) -> Vectors:
        """Return the cosines of some rows, on the scale of the encoder's base model.

        Args:
            rows: 0-based rows of the index.
        """


@dataclass(frozen=True)
class BestRows:
    """Scores of every row, from which the best rows above a floor are found."""

    scores: npt.NDArray[np.float32]
    floor: float
    facts: PassageFacts

    def find(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the best rows that pass a filter, best first, ties by row.

        Args:
            rows: Filter of rows.
            count: Maximum number of rows.
        """
        passing_rows = self._pool if rows.is_open else self._pool[rows.mask(self.facts, among=self._pool)]
        if len(passing_rows) < count and len(self._pool) >= POOL_SIZE:
            return find_top(self.scores, count, floor=self.floor, among=rows.mask(self.facts))
        return passing_rows[find_top(self.scores[passing_rows], count)]

    @cached_property
    def _pool(self) -> Ints:
        """Return the `POOL_SIZE` best rows, in ascending order; a filter is applied before these are sorted."""
        return find_above(self.scores, POOL_SIZE, floor=self.floor)


@dataclass(frozen=True)
class DenseScores:
    """Scores of every row."""

    by_term: BestRows
    by_vector: BestRows

    def find_by_terms(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the highest BM25 scores above 0.

        Args:
            rows: Filter of rows.
            count: Maximum number of rows.
        """
        return self.by_term.find(rows, count=count)

    def find_by_meaning(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the highest cosines.

        Args:
            rows: Filter of rows.
            count: Maximum number of rows.
        """
        return self.by_vector.find(rows, count=count)

    def score_terms(self, rows: Ints) -> Scores:
        """Return the BM25 scores of some rows.

        Args:
            rows: 0-based rows of the index.
        """
        return self.by_term.scores[rows]

    def score_meaning(self, rows: Ints) -> Vectors:
        """Return the cosines of some rows.

        Args:
            rows: 0-based rows of the index.
        """
        return self.by_vector.scores[rows]


@dataclass(frozen=True)
class NearRows:
    """Rows nearest to a vector, found and ordered approximately by the quantized codes of all rows."""

    codes: VectorCodes
    query_vector: Vectors
    facts: PassageFacts

    def find(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the nearest rows that pass a filter; if too few rows of the pool pass, search all rows that do.

        Args:
            rows: Filter of rows.
            count: Maximum number of rows.
        """
        (pool, similarities), limits = self.pool, _limits()
        pool_passes = np.ones(len(pool), dtype=np.bool_) if rows.is_open else rows.mask(self.facts, among=pool)
        if pool_passes.sum() < limits.compared / limits.thinned and len(pool) < self.codes.height:
            passing_rows = np.flatnonzero(rows.mask(self.facts))
            nearest, similarities = _find_nearest(self.codes, self.query_vector, self._hamming_distances, passing_rows)
        else:
            nearest, similarities = pool[pool_passes], similarities[pool_passes]
        return nearest[find_top(similarities, count)]

    @cached_property
    def _hamming_distances(self) -> npt.NDArray[np.uint16]:
        """Return the Hamming distance of every row's code to that of the question."""
        return self.codes.count_differences(self.query_vector)

    @cached_property
    def pool(self) -> tuple[Ints, Vectors]:
        """Return the nearest of all rows, in order of row, with their approximate similarities."""
        return _find_nearest(self.codes, self.query_vector, self._hamming_distances)


@dataclass(frozen=True)
class CodedScores:
    """Scores of an index whose vectors stay on disk: BM25 of every row, cosines of the requested rows.

    Codes find the nearest rows, and their exact vectors score these, so that ranking features are those of an index in
    memory.
    """

    by_term: BestRows
    near: NearRows
    vectors: StoredVectors
    scale: CosineScale

    def find_by_terms(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the highest BM25 scores above 0.

        Args:
            rows: Filter of rows.
            count: Maximum number of rows.
        """
        return self.by_term.find(rows, count=count)

    def find_by_meaning(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the highest cosines.

        Args:
            rows: Filter of rows.
            count: Maximum number of rows.
        """
        candidates = self.near.find(rows, count=_count_candidates(count))
        cosines = self.score_meaning(candidates)
        best: Ints = candidates[np.lexsort((candidates, -cosines))]
        return best[:count]

    def score_terms(self, rows: Ints) -> Scores:
        """Return the BM25 scores of some rows.

        Args:
            rows: 0-based rows of the index.
        """
        return self.by_term.scores[rows]

    def score_meaning(self, rows: Ints) -> Vectors:
        """Return the cosines of some rows.

        Args:
            rows: 0-based rows of the index.
        """
        cosines, is_known = self._known_cosines
        missing = rows[~is_known[rows]]
        if len(missing):
            cosines[missing] = self.scale.convert(score_rows(self.vectors[missing], self.near.query_vector))
            is_known[missing] = True
        return cosines[rows]

    @cached_property
    def _known_cosines(self) -> tuple[Vectors, npt.NDArray[np.bool_]]:
        """Return the cache of cosines by row, and which of these were computed; the others have any value."""
        height = self.near.codes.height
        return np.empty(height, dtype=np.float32), np.zeros(height, dtype=np.bool_)


def find_near(codes: VectorCodes, query_vector: Vectors, *, count: int) -> Ints:
    """Find candidates for the exact nearest-neighbor search by the quantized codes of the vectors.

    Args:
        codes: Codes of all rows.
        query_vector: Vector of the question, shape (dimension,).
        count: Number of nearest rows that the exact search will return.

    Returns:
        Row numbers, best first by their codes; more than `count` if the index has more rows.
    """
    rows, similarities = _find_nearest(codes, query_vector, codes.count_differences(query_vector))
    return rows[find_top(similarities, _count_candidates(count))]


def _count_candidates(count: int) -> int:
    """Return how many rows the codes must find so that the `count` nearest are among them."""
    return max(_limits().exact, int(count * _limits().oversize))


def _find_nearest(
    codes: VectorCodes, query_vector: Vectors, hamming_distances: npt.NDArray[np.uint16], among: Ints | None = None
) -> tuple[Ints, Vectors]:
    """Return the nearest rows by their 1-bit codes, in order of row, and their similarities by their 8-bit codes.

    `hamming_distances` are the Hamming distances of every row, `among` the rows that may be found; None for all.
    """
    distances = hamming_distances if among is None else hamming_distances[among]
    nearest = find_smallest_distances(distances, int(_limits().compared))
    rows = nearest if among is None else among[nearest]
    return rows, codes.compare(query_vector, rows)


def _limits() -> Codes:
    return load_ranking().codes
