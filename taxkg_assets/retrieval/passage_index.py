"""An index as searches ask it: one interface, in memory and exact, or answered by LanceDB without loading the library.

Both score what they find exactly and know the same of every passage, so that ranking is the same above them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl

from taxkg_assets.retrieval.codes import VectorCodes
from taxkg_assets.retrieval.encoder import CosineScale, Vectors
from taxkg_assets.retrieval.facts import DocumentFacts, Ints, PassageFacts
from taxkg_assets.retrieval.fetched import FetchedFacts
from taxkg_assets.retrieval.levels import Level, open_level
from taxkg_assets.retrieval.lexical import LexicalRetriever, build_lexical
from taxkg_assets.retrieval.parallel import run_in_parallel
from taxkg_assets.retrieval.row_store import LanceRows, MappedVectors
from taxkg_assets.retrieval.scores import BestRows, CodedScores, DenseScores, NearRows, Question, RetrieverScores
from taxkg_assets.retrieval.sections import Sections, build_means, find_mean_directions, open_sections

Facts = TypeVar("Facts", bound=object)


class PassageIndex(Protocol):
    """Whatever searches can ask for passages."""

    @property
    def model_hash(self) -> str:
        """Encoder whose vectors it holds."""

    @property
    def height(self) -> int:
        """Number of passages."""

    @property
    def passages(self) -> PassageFacts:
        """What is known of each row."""

    @property
    def documents(self) -> DocumentFacts:
        """What is known of each document."""

    @property
    def document_vectors(self) -> Vectors:
        """The mean direction of each document's passages."""

    def ask(self, question: Question, *, scale: CosineScale) -> RetrieverScores:
        """Both retrievers' scores of a question."""

    @property
    def lexical(self) -> LexicalRetriever:
        """The rows that hold each term, and what it adds to their scores."""

    def read_vectors(self, rows: Sequence[int] | Ints) -> Vectors:
        """Vectors of some rows."""

    @property
    def sections(self) -> Sections:
        """Mean directions of sections."""

    def find_node(self, node_id: str) -> int | None:
        """The first row that holds a node or that an anchor owns."""

    def open_level(self, level: str) -> Level | None:
        """The units of a level; None where the index has none."""


@dataclass(frozen=True)
class Known:
    """What was worked out of an index when it was built, so that opening it takes no time.

    Attributes: passages, documents: what the properties of the facts gave. units_of: by level the unit of each row.
    """

    passages: Mapping[str, Any] = field(default_factory=dict)
    documents: Mapping[str, Any] = field(default_factory=dict)
    units_of: Mapping[str, Ints] = field(default_factory=dict)
    document_vectors: Vectors | None = None
    section_means: Vectors | None = None
    lexical: LexicalRetriever | None = None


NOTHING_KNOWN = Known()
_REMEMBERED = 8
"""Questions whose scores are remembered: one question is asked in a few ways."""


@dataclass(frozen=True)
class SearchIndex:
    """The passages of an index with both retrievers in memory, row numbers the same in all three; and its larger units.

    Rows and vectors may be mapped from files, larger units read when they are asked for. What `known` does not hold
    is worked out when it is asked for.
    """

    rows: pl.DataFrame
    vectors: Vectors
    model_hash: str
    units: pl.DataFrame | Callable[[], pl.DataFrame] | None = None
    unit_vectors: Vectors | None = None
    known: Known = NOTHING_KNOWN

    @property
    def height(self) -> int:
        """Number of passages."""
        return self.rows.height

    @cached_property
    def passages(self) -> PassageFacts:
        """What is known of each row."""
        return _told(PassageFacts(self.rows), self.known.passages)

    @cached_property
    def documents(self) -> DocumentFacts:
        """What is known of each document."""
        return _told(DocumentFacts(self.rows), self.known.documents)

    @cached_property
    def lexical(self) -> LexicalRetriever:
        """BM25 over the stored terms."""
        return self.known.lexical or build_lexical(terms.split(" ") for terms in self.rows["terms"])

    @cached_property
    def document_vectors(self) -> Vectors:
        """The mean direction of each document's passages."""
        if self.known.document_vectors is not None:
            return self.known.document_vectors
        return find_mean_directions(self.vectors, self.documents.number_of, count=len(self.documents.documents))

    @cached_property
    def sections(self) -> Sections:
        """Mean directions of sections."""
        anchors, means = self.passages.anchor_number, self.known.section_means
        return open_sections(
            anchors, means=build_means(anchors, self.vectors) if means is None else means, vectors=self.vectors
        )

    def ask(self, question: Question, *, scale: CosineScale) -> RetrieverScores:
        """Both retrievers' scores of every row."""
        by_vector = scale.read(self.vectors @ question.meaning)
        return DenseScores(
            by_term=_score_terms(self.lexical, question, self.passages),
            by_vector=BestRows(by_vector, -1.0, self.passages),
        )

    def read_vectors(self, rows: Sequence[int] | Ints) -> Vectors:
        """Vectors of some rows."""
        return self.vectors[np.asarray(rows, dtype=np.int64)]

    def find_node(self, node_id: str) -> int | None:
        """The first row that holds a node or that an anchor owns."""
        holds = self.rows.select(
            pl.col("node_ids").list.contains(node_id) | pl.col("anchor_id").eq_missing(pl.lit(node_id))
        )
        return next(iter(holds.to_series().arg_true().to_list()), None)

    def open_level(self, level: str) -> Level | None:
        """The units of a level; None where the index has none."""
        if self.units is None or self.unit_vectors is None:
            return None
        units = self.units() if callable(self.units) else self.units
        unit_of = self.known.units_of.get(level)
        return open_level(level, units=units, vectors=self.unit_vectors, rows=self.rows, unit_of=unit_of)


@dataclass(frozen=True)
class RememberingIndex(SearchIndex):
    """An index that remembers the scores of the last questions: compared systems ask the same one in turn."""

    asked: OrderedDict[tuple[Any, ...], RetrieverScores] = field(default_factory=OrderedDict, init=False, compare=False)

    @classmethod
    def of(cls, index: SearchIndex) -> RememberingIndex:
        """The same index with a memory of its own."""
        return cls(**{one.name: getattr(index, one.name) for one in fields(SearchIndex)})

    def ask(self, question: Question, *, scale: CosineScale) -> RetrieverScores:
        """Both retrievers' scores of every row, for each question once."""
        key = (question.terms, question.extra, question.extra_weight, question.meaning.tobytes(), scale)
        if key not in self.asked:
            self.asked[key] = super().ask(question, scale=scale)
            if len(self.asked) > _REMEMBERED:
                self.asked.popitem(last=False)
        return self.asked[key]


@dataclass(frozen=True)
class LanceIndex:
    """An index whose passages stay in LanceDB: numbers of each row lie in memory, the rest is mapped from files.

    Mapped are postings, codes, vectors and what ranking reads of a candidate; where the home is a bucket these files
    are first copied here. LanceDB is asked for the passages that are handed over.

    Attributes: read_units: the units of a level without their vectors and terms, read when a question is after them.
    """

    store: LanceRows
    vectors: MappedVectors
    sections: Sections
    passages: FetchedFacts
    lexical: LexicalRetriever
    codes: VectorCodes
    known: Known
    model_hash: str
    document_vectors: Vectors
    read_units: Any
    documents: DocumentFacts

    @property
    def height(self) -> int:
        """Number of passages."""
        return self.store.height

    def ask(self, question: Question, *, scale: CosineScale) -> RetrieverScores:
        """Scores of every row by terms, of the nearest rows by meaning."""
        near = NearRows(self.codes, question.meaning, self.passages)
        by_term, _ = run_in_parallel(lambda: _score_terms(self.lexical, question, self.passages), lambda: near.pool)
        return CodedScores(by_term=by_term, near=near, vectors=self.vectors, scale=scale)

    def read_vectors(self, rows: Sequence[int] | Ints) -> Vectors:
        """Vectors of some rows."""
        return self.vectors[rows]

    def find_node(self, node_id: str) -> int | None:
        """The first row that holds a node or that an anchor owns."""
        return self.store.find_node(node_id)

    def open_level(self, level: str) -> Level | None:
        """The units of a level; None where the index has none."""
        units, unit_of = self.read_units(level), self.known.units_of.get(level)
        if units is None or unit_of is None:
            return None
        return Level(units, np.zeros((units.height, 0), dtype=np.float32), unit_of)


def _told(facts: Facts, known: Mapping[str, Any]) -> Facts:
    """Facts whose properties need not be worked out again."""
    facts.__dict__.update(known)
    return facts


def open_lance_index(
    store: LanceRows,
    *,
    vectors: MappedVectors,
    section_means: MappedVectors,
    known: Known,
    codes: VectorCodes,
    model_hash: str,
    read_units: Any,
) -> LanceIndex:
    """An index over a table of LanceDB and files beside it.

    Raises: ValueError if the table holds other rows than what is known of them.
    """
    facts = _told(FetchedFacts(pl.DataFrame(), store), known.passages)
    assert facts.columns is not None  # made now: copies of the facts share what they fetch
    if store.height != len(facts.document_number):
        raise ValueError(f"the index has {store.height} rows and facts of {len(facts.document_number)}: build it again")
    assert known.document_vectors is not None
    assert known.lexical is not None
    return LanceIndex(
        store=store,
        vectors=vectors,
        sections=open_sections(facts.anchor_number, means=section_means, vectors=vectors),
        passages=facts,
        lexical=known.lexical,
        codes=codes,
        known=known,
        model_hash=model_hash,
        document_vectors=known.document_vectors,
        read_units=read_units,
        documents=_told(DocumentFacts(pl.DataFrame()), known.documents),
    )


def _score_terms(lexical: LexicalRetriever, question: Question, facts: PassageFacts) -> BestRows:
    by_term = lexical.score_rows(question.terms, extra=question.extra, extra_weight=question.extra_weight)
    return BestRows(by_term, 0.0, facts)
