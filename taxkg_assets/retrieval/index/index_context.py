"""Context of an index: computed once, and then shared by every search over it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from taxkg_assets.retrieval.encoding.arrays import Ints
from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.index.document_facts import DocumentFacts
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.levels import Level
from taxkg_assets.retrieval.index.passage_index import PassageIndex
from taxkg_assets.retrieval.query.router import Catalog, NamedDocument, build_catalog
from taxkg_assets.rules.forms import split_forms


class _OpenedLevels(dict[str, Level | None]):
    """Levels by name, each opened on first access."""

    def __init__(self, index: PassageIndex) -> None:
        super().__init__()
        self._index = index

    def __missing__(self, level: str) -> Level | None:
        self[level] = self._index.open_level(level)
        return self[level]


@dataclass(frozen=True)
class IndexContext:
    """What searches over one index share: columns of documents and passages, forms, larger units.

    Each is made on first access.
    """

    index: PassageIndex

    @property
    def documents(self) -> DocumentFacts:
        """Return the columns of documents."""
        return self.index.documents

    @cached_property
    def passages(self) -> PassageFacts:
        """Return a copy of the passage columns; cached values of the copy are not written to the index."""
        return copy.copy(self.index.passages)

    @cached_property
    def catalog(self) -> Catalog:
        """Return the forms of the corpus with their names and the keys of their boxes."""
        documents = (
            NamedDocument(form=row["document_form"], title=row["title"], doc_type=row["doc_type"])
            for row in self.documents.documents
        )
        return build_catalog(documents, keys=self.passages.form_keys)

    @cached_property
    def levels(self) -> Mapping[str, Level | None]:
        """Return documents, pages and sections as units, for the levels that the index has.

        Each level is opened on first access.
        """
        return _OpenedLevels(self.index)

    @cached_property
    def anchor_ids(self) -> Sequence[str | None]:
        """Return the id of the anchor that each row belongs to; None before the first heading of a document."""
        return self.passages.columns["anchor_id"]

    @cached_property
    def documents_by_title_word(self) -> Mapping[str, Ints]:
        """Return by word the numbers of the documents about forms that have this word in their title."""
        words_by_form = self.catalog.title_words
        documents_by_word: dict[str, list[int]] = {}
        for number, row in enumerate(self.documents.documents):
            forms = (words_by_form.get(form, frozenset()) for form in split_forms(row["document_form"]))
            for word in frozenset[str]().union(*forms):
                documents_by_word.setdefault(word, []).append(number)
        return {word: np.array(numbers, dtype=np.int64) for word, numbers in documents_by_word.items()}

    @cached_property
    def has_tokens(self) -> bool:
        """Return whether the index stores token vectors of passages."""
        return self.index.tokens is not None

    @property
    def document_vectors(self) -> Vectors:
        """Return the mean vector of each document's passages, shape (documents, dimension)."""
        return self.index.document_vectors

    def read_passage(self, row: int) -> str:
        """Return the text that was embedded for a row: its context, then its own words.

        Args:
            row: 0-based row of the index.
        """
        return f"{self.passages.columns['context'][row]}\n{self.passages.columns['text'][row]}"
