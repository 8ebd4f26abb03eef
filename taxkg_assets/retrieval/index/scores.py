"""Scores of both retrievers for one question: exact for every row, or exact for the nearest rows by their codes.

Either way a ranker gets the best rows that pass a filter, and the exact scores of some rows.
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

POOL = 8_000
"""Best rows of all, of which those that pass a filter are usually enough."""


@dataclass(frozen=True, slots=True)
class Question:
    """An encoded question for the retrievers: its terms, weighted expansion terms, and its vector."""

    terms: tuple[str, ...]
    extra: tuple[str, ...]
    extra_weight: float
    query_vector: Vectors


class RetrieverScores(Protocol):
    """Interface of the scores that both retrievers give a question."""

    def find_by_terms(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the best scores above 0, best first, ties by row.

        Args:
            rows: Filter of rows, or row numbers.
            count: Maximum number of rows.
        """

    def find_by_meaning(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the highest cosines, best first, ties by row.

        Args:
            rows: Filter of rows, or row numbers.
            count: Maximum number of rows.
        """

    def score_terms(self, rows: Ints) -> Scores:
        """Return BM25 of some rows.

        Args:
            rows: Filter of rows, or row numbers.
        """

    def score_meaning(self, rows: Ints) -> Vectors:
        """Return cosines of some rows, on the scale of the encoder's base.

        Args:
            rows: Filter of rows, or row numbers.
        """


@dataclass(frozen=True)
class BestRows:
    """The best rows by a score of every row, above a floor."""

    scores: npt.NDArray[np.float32]
    floor: float
    facts: PassageFacts

    def find(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the best rows that pass a filter, best first, ties by row.

        Args:
            rows: Filter of rows.
            count: Most rows to return.
        """
        passing = self._pool[rows.mask(self.facts, among=self._pool)]
        if len(passing) < count and len(self._pool) >= POOL:
            return find_top(self.scores, count, floor=self.floor, among=rows.mask(self.facts))
        return passing[find_top(self.scores[passing], count)]

    @cached_property
    def _pool(self) -> Ints:
        """Return the best rows in ascending order: of thousands only those that a filter leaves are sorted."""
        return find_above(self.scores, POOL, floor=self.floor)


@dataclass(frozen=True)
class DenseScores:
    """Scores of every row."""

    by_term: BestRows
    by_vector: BestRows

    def find_by_terms(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the best scores above 0.

        Args:
            rows: Filter of rows.
            count: Most rows to return.
        """
        return self.by_term.find(rows, count=count)

    def find_by_meaning(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the highest cosines.

        Args:
            rows: Filter of rows.
            count: Most rows to return.
        """
        return self.by_vector.find(rows, count=count)

    def score_terms(self, rows: Ints) -> Scores:
        """Return BM25 of some rows.

        Args:
            rows: 0-based rows of the index.
        """
        return self.by_term.scores[rows]

    def score_meaning(self, rows: Ints) -> Vectors:
        """Return cosines of some rows.

        Args:
            rows: 0-based rows of the index.
        """
        return self.by_vector.scores[rows]


@dataclass(frozen=True)
class NearRows:
    """The rows nearest to a vector in approximate order, found by the quantized codes of all rows."""

    codes: VectorCodes
    query_vector: Vectors
    facts: PassageFacts

    def find(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the nearest rows that pass a filter; compare all such rows if too few of the nearest pass.

        Args:
            rows: Filter of rows.
            count: Most rows to return.
        """
        (pool, near), limits = self.pool, _limits()
        passes = rows.mask(self.facts, among=pool)
        if passes.sum() < limits.compared / limits.thinned and len(pool) < self.codes.height:
            among = np.flatnonzero(rows.mask(self.facts))
            nearest, near = _compare(self.codes, self.query_vector, self._differences, among)
        else:
            nearest, near = pool[passes], near[passes]
        return nearest[find_top(near, count)]

    @cached_property
    def _differences(self) -> npt.NDArray[np.uint16]:
        return self.codes.count_differences(self.query_vector)

    @cached_property
    def pool(self) -> tuple[Ints, Vectors]:
        """Return the nearest of all rows with their approximate similarities."""
        return _compare(self.codes, self.query_vector, self._differences)


@dataclass(frozen=True)
class CodedScores:
    """Scores of an index whose vectors do not fit in memory: BM25 of every row, cosines of the nearest rows.

    Rows found by codes are scored again with their exact vectors, so that ranking features do not depend on the
    retriever.
    """

    by_term: BestRows
    near: NearRows
    vectors: StoredVectors
    scale: CosineScale

    def find_by_terms(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the best scores above 0.

        Args:
            rows: Filter of rows.
            count: Most rows to return.
        """
        return self.by_term.find(rows, count=count)

    def find_by_meaning(self, rows: RowFilter, *, count: int) -> Ints:
        """Return the rows with the highest cosines.

        Args:
            rows: Filter of rows.
            count: Most rows to return.
        """
        nearest = self.near.find(rows, count=_reach(count))
        cosines = self.score_meaning(nearest)
        best: Ints = nearest[np.lexsort((nearest, -cosines))]
        return best[:count]

    def score_terms(self, rows: Ints) -> Scores:
        """Return BM25 of some rows.

        Args:
            rows: 0-based rows of the index.
        """
        return self.by_term.scores[rows]

    def score_meaning(self, rows: Ints) -> Vectors:
        """Return cosines of some rows.

        Args:
            rows: 0-based rows of the index.
        """
        missing = rows[np.isnan(self._cosines[rows])]
        if len(missing):
            self._cosines[missing] = self.scale.convert(score_rows(self.vectors[missing], self.near.query_vector))
        return self._cosines[rows]

    @cached_property
    def _cosines(self) -> Vectors:
        """Return the cosines that were computed, by row; NaN for all others."""
        return np.full(self.near.codes.height, np.nan, dtype=np.float32)


def find_near(codes: VectorCodes, query_vector: Vectors, *, count: int) -> Ints:
    """Find candidates for the exact nearest-neighbor search by the quantized codes of the vectors.

    Args:
        codes: Codes of all rows.
        query_vector: Vector of the question, shape (dimension,).
        count: Number of nearest rows that the exact search will return.

    Returns:
        Row numbers, best first by their codes; more than `count` if the index has more rows.
    """
    rows, near = _compare(codes, query_vector, codes.count_differences(query_vector))
    return rows[find_top(near, _reach(count))]


def _reach(count: int) -> int:
    """Return the number of rows that are compared exactly: bytes order rows nearly as vectors do."""
    return max(_limits().exact, int(count * _limits().oversize))


def _compare(
    codes: VectorCodes, query_vector: Vectors, differences: npt.NDArray[np.uint16], among: Ints | None = None
) -> tuple[Ints, Vectors]:
    """Return the nearest rows by their bits, in order of row, and their similarity by their bytes.

    `differences` are those of every row, `among` the rows that may be found; None for all.
    """
    least = find_smallest_distances(differences if among is None else differences[among], int(_limits().compared))
    rows = least if among is None else among[least]
    return rows, codes.compare(query_vector, rows)


def _limits() -> Codes:
    return load_ranking().codes
