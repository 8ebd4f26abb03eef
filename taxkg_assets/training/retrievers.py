"""The two retrievers that training searches with, BM25 and an encoder; the caller provides them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
_BATCH = 256


class Retrievers(Protocol):
    """BM25 and an encoder over the same passages, for mining and filtering."""

    @property
    def chunk_ids(self) -> Sequence[str]:
        """Return the chunk id of each row."""

    @property
    def vectors(self) -> Floats:
        """Return the unit vectors, one row per passage."""

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return unit-length vectors, one row per text.

        Args:
            texts: Texts.
        """

    def score_lexical(self, text: str) -> Floats:
        """Return the BM25 score of every passage.

        Args:
            text: Query.
        """


@dataclass(frozen=True, slots=True)
class RetrievalScores:
    """Scores of all passages for one text by both retrievers, one value per passage."""

    lexical: Floats
    dense: Floats


def score_passages(retrievers: Retrievers, queries: Sequence[str]) -> Iterator[RetrievalScores]:
    """Yield the scores of all passages for each query.

    Args:
        retrievers: BM25 and the encoder.
        queries: Questions or other texts to search for.

    Yields:
        Scores of both retrievers for each query.
    """
    for start in range(0, len(queries), _BATCH):
        batch = queries[start : start + _BATCH]
        dense = retrievers.encode(batch) @ retrievers.vectors.T
        for row, query in enumerate(batch):
            yield RetrievalScores(lexical=retrievers.score_lexical(query), dense=dense[row])


def find_rank(scores: Floats, row: int) -> int:
    """Return the 1-based rank of a row; rows with equal scores share the best rank.

    Args:
        scores: One score per row, higher is better.
        row: 0-based row.
    """
    return int((scores > scores[row]).sum()) + 1


def find_top_rows(scores: Floats, count: int) -> list[int]:
    """Return the rows with the highest scores, best first, equal ones in their order.

    Args:
        scores: One score per row; rows without a positive score are left out.
        count: Maximum number of rows to return.
    """
    count = min(count, len(scores))
    top_rows = np.argpartition(-scores, count - 1)[:count] if count else np.zeros(0, dtype=np.int64)
    ordered = sorted(top_rows.tolist(), key=lambda row: (-float(scores[row]), row))
    return [row for row in ordered if scores[row] > 0]
