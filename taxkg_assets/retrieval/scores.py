"""What the two legs say of one question: every row scored exactly in memory, or the best rows found by LanceDB.

Either way whoever ranks asks for the best rows that pass a filter, and for the exact scores of some rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from taxkg_assets.retrieval.encoder import CosineScale, Vectors
from taxkg_assets.retrieval.facts import Ints, PassageFacts
from taxkg_assets.retrieval.fuse import find_top
from taxkg_assets.retrieval.lexical import Scores, Vocabulary, score_text
from taxkg_assets.retrieval.row_filter import Mask, RowFilter
from taxkg_assets.retrieval.row_store import RowStore
from taxkg_assets.rules.loader import load_family


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the legs read it: its terms, those added to it with their weight, and its meaning."""

    terms: tuple[str, ...]
    extra: tuple[str, ...]
    extra_weight: float
    meaning: Vectors


class LegScores(Protocol):
    """The scores of one question."""

    def find_by_terms(self, rows: RowFilter, *, count: int) -> Ints:
        """The rows with the best scores above 0, best first, ties by row."""

    def find_by_meaning(self, rows: RowFilter, *, count: int) -> Ints:
        """The rows with the highest cosines, best first, ties by row."""

    def score_terms(self, rows: Ints) -> Scores:
        """BM25 of some rows."""

    def score_meaning(self, rows: Ints) -> Vectors:
        """Cosines of some rows, as the encoder's base would have them."""


@dataclass(frozen=True)
class DenseScores:
    """Scores of every row."""

    by_term: Scores
    by_vector: Vectors
    facts: PassageFacts

    def find_by_terms(self, rows: RowFilter, *, count: int) -> Ints:
        """The rows with the best scores above 0."""
        return find_top(self.by_term, count, floor=0.0, among=self._among(rows))

    def find_by_meaning(self, rows: RowFilter, *, count: int) -> Ints:
        """The rows with the highest cosines."""
        return find_top(self.by_vector, count, floor=-1.0, among=self._among(rows))

    def score_terms(self, rows: Ints) -> Scores:
        """BM25 of some rows."""
        return self.by_term[rows]

    def score_meaning(self, rows: Ints) -> Vectors:
        """Cosines of some rows."""
        return self.by_vector[rows]

    def _among(self, rows: RowFilter) -> Mask | None:
        return None if rows.is_open else rows.mask(self.facts)


@dataclass(frozen=True)
class LanceLegs:
    """LanceDB's table of passages with what is needed to score its rows exactly.

    Attributes: row_of: row number of each of LanceDB's own row ids, which come sorted in `row_ids`.
    """

    table: Any
    store: RowStore
    facts: PassageFacts
    vocabulary: Vocabulary
    mean_length: float
    row_ids: Ints
    row_of: Ints

    def nearest(self, meaning: Vectors, *, count: int, where: str) -> Ints:
        """Rows near to a vector, about in order."""
        query = (
            self.table.search(meaning, vector_column_name="vector")
            .distance_type("dot")
            .nprobes(_limits()["looked_into"])
        )
        return self._run(query, column="_distance", count=count, where=where)

    def matching(self, question: Question, *, count: int, where: str) -> Ints:
        """Rows that hold a question's terms, about in order of their scores."""
        from lancedb.query import BooleanQuery, MatchQuery, Occur  # loaded here: an index in memory needs no LanceDB

        match: Any = MatchQuery  # its arguments have defaults, which its types do not tell
        asked = [(question.terms, 1.0), (question.extra, question.extra_weight)]
        parts: list[Any] = [
            (Occur.SHOULD, match(" ".join(terms), "terms", boost=weight)) for terms, weight in asked if terms and weight
        ]
        if not parts:
            return np.zeros(0, dtype=np.int64)
        query = self.table.search(parts[0][1] if len(parts) == 1 else BooleanQuery(parts), query_type="fts")
        return self._run(query, column="_score", count=count, where=where)

    def _run(self, query: Any, *, column: str, count: int, where: str) -> Ints:
        if where:
            query = query.where(where, prefilter=True)
        found = query.with_row_id(True).select([column]).limit(count).to_arrow()["_rowid"].to_numpy()
        rows: Ints = self.row_of[np.searchsorted(self.row_ids, found.astype(np.int64))]
        return rows


@dataclass
class LanceScores:
    """One question asked of LanceDB: wide searches first, which most filters can be read from; else a filtered one.

    What LanceDB finds is scored exactly, so that equal rows get equal features whoever found them.
    """

    legs: LanceLegs
    question: Question
    scale: CosineScale
    threads: Executor
    _terms: dict[int, float] = field(default_factory=dict)
    _cosines: dict[int, float] = field(default_factory=dict)
    _wide: dict[tuple[str, str], Ints] = field(default_factory=dict)

    def start(self, first: RowFilter, *, count: int) -> None:
        """Ask both legs side by side for the rows that pass the first filter."""
        where = self._where(first)
        asked = {
            kind: self.threads.submit(self._ask, kind, self._wide_count(count), where) for kind in ("terms", "meaning")
        }
        for kind, found in asked.items():
            self._wide[kind, where] = found.result()

    def find_by_terms(self, rows: RowFilter, *, count: int) -> Ints:
        """The rows with the best scores above 0."""
        return self._find("terms", rows, count=count)

    def find_by_meaning(self, rows: RowFilter, *, count: int) -> Ints:
        """The rows with the highest cosines."""
        return self._find("meaning", rows, count=count)

    def score_terms(self, rows: Ints) -> Scores:
        """BM25 of some rows."""
        missing = [row for row in rows.tolist() if row not in self._terms]
        if missing:
            self.legs.facts.prefetch(np.array(missing, dtype=np.int64))
            held = self.legs.facts.columns["terms"]
            for row in missing:
                self._terms[row] = self._score_row(held[row].split(" "))
        return np.array([self._terms[row] for row in rows.tolist()], dtype=np.float32)

    def score_meaning(self, rows: Ints) -> Vectors:
        """Cosines of some rows."""
        missing = [row for row in rows.tolist() if row not in self._cosines]
        if missing:
            cosines = self.scale.read(self.legs.store.vectors(missing) @ self.question.meaning)
            self._cosines.update(zip(missing, cosines.tolist(), strict=True))
        return np.array([self._cosines[row] for row in rows.tolist()], dtype=np.float32)

    def _score_row(self, text: Sequence[str]) -> float:
        own, added = (score_text(weights, text, mean_length=self.legs.mean_length) for weights in self._weights)
        return own + self.question.extra_weight * added

    @cached_property
    def _weights(self) -> tuple[dict[str, float], dict[str, float]]:
        """Weights of the question's own terms and of those added to it."""
        weigh, count = self.legs.vocabulary.weigh, self.legs.store.height
        own, added = (
            {term: weigh(term, row_count=count) for term in dict.fromkeys(terms)}
            for terms in (self.question.terms, self.question.extra)
        )
        return own, added

    def _find(self, kind: str, rows: RowFilter, *, count: int) -> Ints:
        """The best rows: out of the widest search if it holds enough of them, else by a search with the filter."""
        where = self._where(rows)
        found = self._wide.get((kind, where))
        if found is None:
            found = self._from_wide(kind, rows, count=count)
        if found is None:
            found = self._wide[kind, where] = self._ask(kind, self._wide_count(count), where)
        scores = self.score_terms(found) if kind == "terms" else self.score_meaning(found)
        keep = scores > (0.0 if kind == "terms" else -1.0)
        found, scores = found[keep], scores[keep]
        best: Ints = found[np.lexsort((found, -scores))][:count]
        return best

    def _from_wide(self, kind: str, rows: RowFilter, *, count: int) -> Ints | None:
        mask = rows.mask(self.legs.facts)
        for (own, _), wide in self._wide.items():
            if own == kind and (mask[wide].sum() >= count or len(wide) < self._wide_count(count)):
                return wide[mask[wide]]
        return None

    @staticmethod
    def _wide_count(count: int) -> int:
        """LanceDB's own order is near to the exact one, not equal: it is asked for more than are kept."""
        return count * int(_limits()["oversize"])

    def _ask(self, kind: str, count: int, where: str) -> Ints:
        if kind == "terms":
            return self.legs.matching(self.question, count=count, where=where)
        return self.legs.nearest(self.question.meaning, count=count, where=where)

    def _where(self, rows: RowFilter) -> str:
        return rows.sql(self.legs.store.find_tagged(rows.tag) if rows.tag is not None else ())


def _limits() -> dict[str, int]:
    limits: dict[str, int] = load_family("ranking")["approximate"]
    return limits
