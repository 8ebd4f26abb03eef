"""An index as searches use it: one interface, in memory and exact, or over LanceDB without loading the library.

Both score the rows that they find exactly and have the same columns of every passage, so that ranking is the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl

from taxkg_assets.retrieval.encoding.arrays import Ints
from taxkg_assets.retrieval.encoding.codes import VectorCodes
from taxkg_assets.retrieval.encoding.encoder import CosineScale, Vectors
from taxkg_assets.retrieval.index.bm25 import LexicalRetriever, build_lexical_of_column
from taxkg_assets.retrieval.index.document_facts import DocumentFacts
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.fetched import FetchedFacts
from taxkg_assets.retrieval.index.levels import Level, open_level
from taxkg_assets.retrieval.index.row_store import LanceRows, StoredVectors
from taxkg_assets.retrieval.index.scores import (
    BestRows,
    CodedScores,
    DenseScores,
    NearRows,
    QuestionTerms,
    RetrieverScores,
)
from taxkg_assets.retrieval.index.sections import Sections, build_section_means, compute_mean_vectors, open_sections
from taxkg_assets.retrieval.index.token_match import RememberingTokens, TokenIndex

Facts = TypeVar("Facts", bound=object)


class PassageIndex(Protocol):
    """Interface of an index of passages."""

    @property
    def model_hash(self) -> str:
        """Return the digest of the encoder of its vectors."""

    @property
    def height(self) -> int:
        """Return the number of passages."""

    @property
    def passages(self) -> PassageFacts:
        """Return the columns of passages."""

    @property
    def documents(self) -> DocumentFacts:
        """Return the columns of documents."""

    @property
    def document_vectors(self) -> Vectors:
        """Return the mean vector of each document's passages, shape (documents, dimension)."""

    def score_terms(self, question: QuestionTerms) -> BestRows:
        """Return the BM25 scores of every row.

        Args:
            question: Terms of the question.
        """

    def ask(self, by_term: BestRows, query_vector: Vectors, *, scale: CosineScale) -> RetrieverScores:
        """Return the given BM25 scores of a question together with its vector scores of the passages.

        Args:
            by_term: BM25 scores of the passages, from `score_terms`.
            query_vector: Vector of the question, shape (dimension,).
            scale: Maps the cosines of the encoder to those of its base model.
        """

    @property
    def lexical(self) -> LexicalRetriever:
        """Return the BM25 postings."""

    @property
    def tokens(self) -> TokenIndex | None:
        """Return the tokens of the passages; None where the index has none."""

    def read_vectors(self, rows: Sequence[int] | Ints) -> Vectors:
        """Return the vectors of some rows, shape (rows, dimension).

        Args:
            rows: Row numbers of the index.
        """

    @property
    def sections(self) -> Sections:
        """Return the sections with their mean vectors."""

    def find_node(self, node_id: str) -> int | None:
        """Return the number of the first row that belongs to a node or anchor; None if there is none.

        Args:
            node_id: Id of a node or anchor.
        """

    def open_level(self, level: str) -> Level | None:
        """Return the units of a level; None where the index has none.

        Args:
            level: Level: document, page, section or paragraph.
        """


@dataclass(frozen=True)
class PrecomputedFacts:
    """Columns and matrices that the index build stored; what is absent here is computed on first access.

    Attributes:
        passages: Properties of `PassageFacts` by name.
        documents: Properties of `DocumentFacts` by name.
        units_of: Number of the unit of each row, by level.
        document_vectors: Mean vector of each document.
        section_means: Mean vectors of sections with several passages.
        lexical: BM25 postings.
        tokens: Tokens of the passages; None where the index has none.
    """

    passages: Mapping[str, Any] = field(default_factory=dict)
    documents: Mapping[str, Any] = field(default_factory=dict)
    units_of: Mapping[str, Ints] = field(default_factory=dict)
    document_vectors: Vectors | None = None
    section_means: Vectors | None = None
    lexical: LexicalRetriever | None = None
    tokens: TokenIndex | None = None


NOTHING_PRECOMPUTED = PrecomputedFacts()
_REMEMBERED = 8
"""Questions whose scores are remembered: one question is searched in a few ways."""


@dataclass(frozen=True)
class SearchIndex:
    """An index in memory: the passages, both retrievers and the larger units, aligned by row number.

    Rows and vectors may be memory-mapped; larger units are read on first access. Whatever `precomputed` lacks is
    computed on first access.

    Attributes:
        rows: Passages in reading order.
        vectors: Unit vectors of the passages, shape (rows, dimension).
        model_hash: Digest of the encoder that made the vectors.
        units: Larger units, or a function that reads them; None where the index has none.
        unit_vectors: Vectors of the larger units.
        precomputed: What the index build stored.
    """

    rows: pl.DataFrame
    vectors: Vectors
    model_hash: str
    units: pl.DataFrame | Callable[[], pl.DataFrame] | None = None
    unit_vectors: Vectors | None = None
    precomputed: PrecomputedFacts = NOTHING_PRECOMPUTED

    @property
    def height(self) -> int:
        """Return the number of passages."""
        return self.rows.height

    @cached_property
    def passages(self) -> PassageFacts:
        """Return the columns of passages."""
        return _set_precomputed(PassageFacts(self.rows), self.precomputed.passages)

    @cached_property
    def documents(self) -> DocumentFacts:
        """Return the columns of documents."""
        return _set_precomputed(DocumentFacts(self.rows), self.precomputed.documents)

    @cached_property
    def lexical(self) -> LexicalRetriever:
        """Return the BM25 postings of the stored terms."""
        return self.precomputed.lexical or build_lexical_of_column(self.rows["terms"])

    @cached_property
    def document_vectors(self) -> Vectors:
        """Return the mean vector of each document's passages, shape (documents, dimension)."""
        if self.precomputed.document_vectors is not None:
            return self.precomputed.document_vectors
        return compute_mean_vectors(self.vectors, self.documents.number_by_row, count=len(self.documents.documents))

    @property
    def tokens(self) -> TokenIndex | None:
        """Return the tokens of the passages; None where the index has none."""
        return self.precomputed.tokens

    @cached_property
    def sections(self) -> Sections:
        """Return the sections with their mean vectors."""
        anchors, section_means = self.passages.anchor_number, self.precomputed.section_means
        return open_sections(
            anchors,
            means=build_section_means(anchors, self.vectors) if section_means is None else section_means,
            vectors=self.vectors,
        )

    def score_terms(self, question: QuestionTerms) -> BestRows:
        """Return the BM25 scores of every row.

        Args:
            question: Terms of the question.
        """
        return _score_terms(self.lexical, question, self.passages)

    def score_vectors(self, query_vector: Vectors, *, scale: CosineScale) -> BestRows:
        """Return the cosines of every row.

        Args:
            query_vector: Vector of the question, shape (dimension,).
            scale: Maps the cosines of the encoder to those of its base model.
        """
        return BestRows(scale.convert(self.vectors @ query_vector), -1.0, self.passages)

    def ask(self, by_term: BestRows, query_vector: Vectors, *, scale: CosineScale) -> RetrieverScores:
        """Return the given BM25 scores of a question together with its vector scores of every passage.

        Args:
            by_term: BM25 scores of the passages, from `score_terms`.
            query_vector: Vector of the question, shape (dimension,).
            scale: Maps the cosines of the encoder to those of its base model.
        """
        return DenseScores(by_term=by_term, by_vector=self.score_vectors(query_vector, scale=scale))

    def read_vectors(self, rows: Sequence[int] | Ints) -> Vectors:
        """Return the vectors of some rows, shape (rows, dimension).

        Args:
            rows: 0-based rows of the index.
        """
        return self.vectors[np.asarray(rows, dtype=np.int64)]

    def find_node(self, node_id: str) -> int | None:
        """Return the first row of a node or of an anchor; None for an unknown id.

        Args:
            node_id: Id of a node of the graph.
        """
        is_match = self.rows.select(
            pl.col("node_ids").list.contains(node_id) | pl.col("anchor_id").eq_missing(pl.lit(node_id))
        )
        return next(iter(is_match.to_series().arg_true().to_list()), None)

    def open_level(self, level: str) -> Level | None:
        """Return the units of a level; None where the index has none.

        Args:
            level: Name of the level.
        """
        if self.units is None or self.unit_vectors is None:
            return None
        units = self.units() if callable(self.units) else self.units
        unit_index = self.precomputed.units_of.get(level)
        return open_level(level, units=units, vectors=self.unit_vectors, rows=self.rows, unit_index=unit_index)


@dataclass(frozen=True)
class RememberingIndex(SearchIndex):
    """An index that caches the scores of recent questions, for comparisons that repeat questions."""

    cached_scores: OrderedDict[Hashable, BestRows] = field(default_factory=OrderedDict, init=False, compare=False)

    @classmethod
    def wrap(cls, index: SearchIndex) -> RememberingIndex:
        """Wrap an index with a separate cache.

        Args:
            index: The index.

        Returns:
            The wrapper.
        """
        tokens = index.precomputed.tokens
        precomputed = (
            index.precomputed if tokens is None else replace(index.precomputed, tokens=RememberingTokens.wrap(tokens))
        )
        values = {index_field.name: getattr(index, index_field.name) for index_field in fields(SearchIndex)}
        return cls(**values | {"precomputed": precomputed})

    def score_terms(self, question: QuestionTerms) -> BestRows:
        """Return the BM25 scores of every row, computed once for each question.

        Args:
            question: Terms of the question.
        """
        return self._compute_once(question, lambda: SearchIndex.score_terms(self, question))

    def score_vectors(self, query_vector: Vectors, *, scale: CosineScale) -> BestRows:
        """Return the cosines of every row, computed once for each question.

        Args:
            query_vector: Vector of the question, shape (dimension,).
            scale: Maps the cosines of the encoder to those of its base model.
        """
        key = (query_vector.tobytes(), scale)
        return self._compute_once(key, lambda: SearchIndex.score_vectors(self, query_vector, scale=scale))

    def _compute_once(self, key: Hashable, compute: Callable[[], BestRows]) -> BestRows:
        """Return the cached scores of a key, computed on first access."""
        if key not in self.cached_scores:
            self.cached_scores[key] = compute()
            if len(self.cached_scores) > 2 * _REMEMBERED:  # by terms and by vector
                self.cached_scores.popitem(last=False)
        return self.cached_scores[key]


@dataclass(frozen=True)
class LanceIndex:
    """An index whose passages stay in LanceDB; row numbers and flags are in memory, the rest is memory-mapped.

    Postings, codes and the columns that searches read are memory-mapped; in a bucket home these files and vectors are
    first copied to the local disk. LanceDB is read for a passage by its id, and for columns that no search shows.

    Attributes:
        store: Reads rows by number.
        vectors: Reads vectors by row number.
        sections: Sections with their mean vectors.
        passages: Columns of passages.
        lexical: BM25 postings.
        codes: Quantized codes of the vectors.
        precomputed: What the index build stored.
        model_hash: Digest of the encoder that made the vectors.
        document_vectors: Mean vector of each document.
        read_units: Function that reads the units of a level, without vectors and terms; None for a level without units.
        documents: Columns of documents.
    """

    store: LanceRows
    vectors: StoredVectors
    sections: Sections
    passages: FetchedFacts
    lexical: LexicalRetriever
    codes: VectorCodes
    precomputed: PrecomputedFacts
    model_hash: str
    document_vectors: Vectors
    read_units: Any
    documents: DocumentFacts

    @property
    def height(self) -> int:
        """Return the number of passages."""
        return self.store.height

    @property
    def tokens(self) -> TokenIndex | None:
        """Return the tokens of the passages; None where the index has none."""
        return self.precomputed.tokens

    def score_terms(self, question: QuestionTerms) -> BestRows:
        """Return the BM25 scores of every row.

        Args:
            question: Terms of the question.
        """
        return _score_terms(self.lexical, question, self.passages)

    def ask(self, by_term: BestRows, query_vector: Vectors, *, scale: CosineScale) -> RetrieverScores:
        """Return BM25 scores of every row, and cosines of the rows nearest to the question.

        Args:
            by_term: BM25 scores of the passages, from `score_terms`.
            query_vector: Vector of the question, shape (dimension,).
            scale: Maps the cosines of the encoder to those of its base model.
        """
        near = NearRows(self.codes, query_vector, self.passages)
        return CodedScores(by_term=by_term, near=near, vectors=self.vectors, scale=scale)

    def read_vectors(self, rows: Sequence[int] | Ints) -> Vectors:
        """Return the vectors of some rows, shape (rows, dimension).

        Args:
            rows: 0-based rows of the index.
        """
        return self.vectors[rows]

    def find_node(self, node_id: str) -> int | None:
        """Return the first row of a node or of an anchor; None for an unknown id.

        Args:
            node_id: Id of a node of the graph.
        """
        return self.store.find_node(node_id)

    def open_level(self, level: str) -> Level | None:
        """Return the units of a level; None where the index has none.

        Args:
            level: Name of the level.
        """
        units, unit_index = self.read_units(level), self.precomputed.units_of.get(level)
        if units is None or unit_index is None:
            return None
        return Level(units, np.zeros((units.height, 0), dtype=np.float32), unit_index)


def _set_precomputed(facts: Facts, properties: Mapping[str, Any]) -> Facts:
    """Set the cached properties that the index build stored, so that none of these is computed again."""
    facts.__dict__.update(properties)
    return facts


def open_lance_index(
    store: LanceRows,
    *,
    vectors: StoredVectors,
    section_means: StoredVectors,
    precomputed: PrecomputedFacts,
    codes: VectorCodes,
    model_hash: str,
    read_units: Any,
) -> LanceIndex:
    """Open an index from a LanceDB table and the files next to it.

    Args:
        store: Reads rows by number.
        vectors: Reads vectors by row number.
        section_means: Mean vectors of sections with several passages.
        precomputed: What the index build stored.
        codes: Quantized codes of the vectors.
        model_hash: Digest of the encoder that made the vectors.
        read_units: Function that reads the units of a level; it returns None for a level that the index lacks.

    Returns:
        The index.

    Raises:
        ValueError: The table has another number of rows than the precomputed columns.
    """
    facts = _set_precomputed(FetchedFacts(pl.DataFrame(), store), precomputed.passages)
    assert facts.columns is not None  # makes the columns, so that copies of the facts share one cache
    if store.height != (rows := len(facts.document_number)):
        raise ValueError(f"the index has {store.height} passages, but columns of {rows}: run `taxkg build`")
    assert precomputed.document_vectors is not None
    assert precomputed.lexical is not None
    return LanceIndex(
        store=store,
        vectors=vectors,
        sections=open_sections(facts.anchor_number, means=section_means, vectors=vectors),
        passages=facts,
        lexical=precomputed.lexical,
        codes=codes,
        precomputed=precomputed,
        model_hash=model_hash,
        document_vectors=precomputed.document_vectors,
        read_units=read_units,
        documents=_set_precomputed(DocumentFacts(pl.DataFrame()), precomputed.documents),
    )


def _score_terms(lexical: LexicalRetriever, question: QuestionTerms, facts: PassageFacts) -> BestRows:
    by_term = lexical.score_rows(
        question.terms, expansion_terms=question.expansion_terms, expansion_weight=question.expansion_weight
    )
    return BestRows(by_term, 0.0, facts)
