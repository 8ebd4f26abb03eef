"""An index as searches ask it: one interface, in memory and exact, or answered by LanceDB without loading the library.

Both score what they find exactly and know the same of every passage, so that ranking is the same above them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl

from taxkg_assets.retrieval.encoder import CosineScale, Vectors
from taxkg_assets.retrieval.facts import DocumentFacts, Ints, PassageFacts
from taxkg_assets.retrieval.fetched import FetchedFacts
from taxkg_assets.retrieval.levels import Level, open_level
from taxkg_assets.retrieval.lexical import LexicalLeg, Vocabulary, build_lexical
from taxkg_assets.retrieval.row_filter import RowFilter
from taxkg_assets.retrieval.row_store import FrameRows, RowStore
from taxkg_assets.retrieval.scores import DenseScores, LanceLegs, LanceScores, LegScores, Question

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

    def ask(self, question: Question, *, scale: CosineScale, first: RowFilter, count: int) -> LegScores:
        """Both legs' scores of a question; `first` and `count` say what is asked for before all else."""

    def weigh_term(self, term: str) -> float:
        """How rare a term is."""

    def read_row(self, row: int) -> dict[str, Any]:
        """All columns of a row but its vector."""

    def read_vectors(self, rows: Sequence[int]) -> Vectors:
        """Vectors of some rows."""

    def read_directions(self, anchors: Sequence[int]) -> Vectors:
        """Mean directions of some sections by anchor number."""

    def find_table(self, table_id: str) -> list[int]:
        """The rows that print a table."""

    def find_node(self, node_id: str) -> int | None:
        """The first row that holds a node or that an anchor owns."""

    def count_tags(self) -> list[str]:
        """The tags of the index, most frequent first."""

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
    section_vectors: Any = None
    lexical: LexicalLeg | None = None


NOTHING_KNOWN = Known()
_REMEMBERED = 8
"""Questions whose scores are remembered: one question is asked in a few ways."""


@dataclass(frozen=True)
class SearchIndex:
    """The passages of an index with both legs in memory, row numbers the same in all three; and its larger units.

    Rows and vectors may be mapped from files. What `known` does not hold is worked out when it is asked for.
    """

    rows: pl.DataFrame
    vectors: Vectors
    model_hash: str
    units: pl.DataFrame | None = None
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
    def lexical(self) -> LexicalLeg:
        """BM25 over the stored terms."""
        return self.known.lexical or build_lexical(terms.split(" ") for terms in self.rows["terms"])

    @cached_property
    def document_vectors(self) -> Vectors:
        """The mean direction of each document's passages."""
        if self.known.document_vectors is not None:
            return self.known.document_vectors
        return find_mean_directions(self.vectors, self.documents.number_of, count=len(self.documents.documents))

    @cached_property
    def _store(self) -> FrameRows:
        directions = self.known.section_vectors
        if directions is None:
            numbers = self.passages.anchor_number
            directions = find_mean_directions(self.vectors, numbers, count=int(numbers.max(initial=-1)) + 1)
        return FrameRows(self.rows, self.vectors, directions)

    def ask(self, question: Question, *, scale: CosineScale, first: RowFilter, count: int) -> LegScores:
        """Both legs' scores of every row."""
        del first, count
        by_term = self.lexical.score_rows(question.terms, extra=question.extra, extra_weight=question.extra_weight)
        return DenseScores(by_term, scale.read(self.vectors @ question.meaning), self.passages)

    def weigh_term(self, term: str) -> float:
        """How rare a term is."""
        return self.lexical.weigh_term(term)

    def read_row(self, row: int) -> dict[str, Any]:
        """All columns of a row."""
        return self.rows.row(row, named=True)

    def read_vectors(self, rows: Sequence[int]) -> Vectors:
        """Vectors of some rows."""
        return self._store.vectors(rows)

    def read_directions(self, anchors: Sequence[int]) -> Vectors:
        """Mean directions of some sections."""
        return self._store.directions(anchors)

    def find_table(self, table_id: str) -> list[int]:
        """The rows that print a table."""
        return self._store.find_table(table_id)

    def find_node(self, node_id: str) -> int | None:
        """The first row that holds a node or that an anchor owns."""
        return self._store.find_node(node_id)

    def count_tags(self) -> list[str]:
        """The tags of the index."""
        return self._store.count_tags()

    def open_level(self, level: str) -> Level | None:
        """The units of a level; None where the index has none."""
        if self.units is None or self.unit_vectors is None:
            return None
        unit_of = self.known.units_of.get(level)
        return open_level(level, units=self.units, vectors=self.unit_vectors, rows=self.rows, unit_of=unit_of)


@dataclass(frozen=True)
class RememberingIndex(SearchIndex):
    """An index that remembers the scores of the last questions: compared systems ask the same one in turn."""

    asked: OrderedDict[tuple[Any, ...], LegScores] = field(default_factory=OrderedDict, init=False, compare=False)

    @classmethod
    def of(cls, index: SearchIndex) -> RememberingIndex:
        """The same index with a memory of its own."""
        return cls(**{one.name: getattr(index, one.name) for one in fields(SearchIndex)})

    def ask(self, question: Question, *, scale: CosineScale, first: RowFilter, count: int) -> LegScores:
        """Both legs' scores of every row, for each question once."""
        key = (question.terms, question.extra, question.extra_weight, question.meaning.tobytes(), scale)
        if key not in self.asked:
            self.asked[key] = super().ask(question, scale=scale, first=first, count=count)
            if len(self.asked) > _REMEMBERED:
                self.asked.popitem(last=False)
        return self.asked[key]


@dataclass(frozen=True)
class LanceIndex:
    """An index that LanceDB answers: only what is known of each row in a few numbers lies in memory.

    Attributes: read_units: the units of a level without their vectors and terms, read when a question is after them.
    """

    legs: LanceLegs
    known: Known
    model_hash: str
    document_vectors: Vectors
    read_units: Any
    documents: DocumentFacts
    threads: Executor = field(default_factory=lambda: ThreadPoolExecutor(2, thread_name_prefix="lance"))

    @property
    def height(self) -> int:
        """Number of passages."""
        return self.legs.store.height

    @property
    def passages(self) -> PassageFacts:
        """What is known of each row."""
        return self.legs.facts

    def ask(self, question: Question, *, scale: CosineScale, first: RowFilter, count: int) -> LegScores:
        """The best rows of both legs, which are asked side by side."""
        scores = LanceScores(self.legs, question, scale, self.threads)
        scores.start(first, count=count)
        return scores

    def weigh_term(self, term: str) -> float:
        """How rare a term is."""
        return self.legs.vocabulary.weigh(term, row_count=self.height)

    def read_row(self, row: int) -> dict[str, Any]:
        """The columns of a row that results show."""
        return {name: self.legs.facts.columns[name][row] for name in SHOWN}

    def read_vectors(self, rows: Sequence[int]) -> Vectors:
        """Vectors of some rows."""
        return self.legs.store.vectors(rows)

    def read_directions(self, anchors: Sequence[int]) -> Vectors:
        """Mean directions of some sections."""
        return self.legs.store.directions(anchors)

    def find_table(self, table_id: str) -> list[int]:
        """The rows that print a table."""
        return self.legs.store.find_table(table_id)

    def find_node(self, node_id: str) -> int | None:
        """The first row that holds a node or that an anchor owns."""
        return self.legs.store.find_node(node_id)

    def count_tags(self) -> list[str]:
        """The tags of the index."""
        return self.legs.store.count_tags()

    def open_level(self, level: str) -> Level | None:
        """The units of a level; None where the index has none."""
        units, unit_of = self.read_units(level), self.known.units_of.get(level)
        if units is None or unit_of is None:
            return None
        return Level(units, np.zeros((units.height, 0), dtype=np.float32), unit_of)


SHOWN = (
    "document_id",
    "form",
    "revision",
    "doc_type",
    "page",
    "heading_path",
    "anchor_key",
    "node_ids",
    "chunk_id",
    "terms",
)
"""Columns of a row that a result shows."""


def find_mean_directions(vectors: Vectors, groups: Ints, *, count: int) -> Vectors:
    """Unit vectors of the summed vectors of each group of rows: (count, dimension)."""
    sums: Vectors = np.zeros((count, vectors.shape[1]), dtype=np.float32)
    np.add.at(sums, groups, vectors)
    unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return unit


def _told(facts: Facts, known: Mapping[str, Any]) -> Facts:
    """Facts whose properties need not be worked out again."""
    facts.__dict__.update(known)
    return facts


def open_lance_index(
    table: Any,
    *,
    store: RowStore,
    known: Known,
    vocabulary: Vocabulary,
    mean_length: float,
    model_hash: str,
    read_units: Any,
) -> LanceIndex:
    """An index over an opened table of passages.

    Raises: ValueError if the table holds other rows than what is known of them.
    """
    facts = _told(FetchedFacts(pl.DataFrame(), store), known.passages)
    assert facts.columns is not None  # made now: copies of the facts share what they fetch
    ids = table.search().with_row_id(True).select(["row"]).limit(store.height).to_arrow()
    row_ids, row_of = ids["_rowid"].to_numpy().astype(np.int64), ids["row"].to_numpy().astype(np.int64)
    if len(row_of) != len(facts.document_number):
        raise ValueError(f"the index has {len(row_of)} rows and facts of {len(facts.document_number)}: build it again")
    order = np.argsort(row_ids)
    assert known.document_vectors is not None
    return LanceIndex(
        legs=LanceLegs(
            table=table,
            store=store,
            facts=facts,
            vocabulary=vocabulary,
            mean_length=mean_length,
            row_ids=row_ids[order],
            row_of=row_of[order],
        ),
        known=known,
        model_hash=model_hash,
        document_vectors=known.document_vectors,
        read_units=read_units,
        documents=_told(DocumentFacts(pl.DataFrame()), known.documents),
    )
