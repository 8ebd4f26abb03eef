"""What is gathered once about an index, and then shared by every search over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import dataframely as dy
import numpy as np

from taxkg_assets import schemas
from taxkg_assets.retrieval.encoder import Vectors
from taxkg_assets.retrieval.expand import Neighbours, build_neighbours
from taxkg_assets.retrieval.facts import DocumentFacts, Ints, PassageFacts, find_owners
from taxkg_assets.retrieval.index import SearchIndex
from taxkg_assets.retrieval.levels import UNIT_LEVELS, Level
from taxkg_assets.retrieval.router import Catalog, build_catalog
from taxkg_assets.rules.forms import split_forms


@dataclass(frozen=True)
class Gathered:
    """Facts of an index's documents, passages and sections, each worked out when first asked for."""

    index: SearchIndex
    edges: dy.DataFrame[schemas.Edges] | None = None

    @cached_property
    def documents(self) -> DocumentFacts:
        """What is known of each document."""
        return DocumentFacts(self.index.rows)

    @cached_property
    def passages(self) -> PassageFacts:
        """What is known of each row."""
        return PassageFacts(self.index.rows)

    @cached_property
    def catalog(self) -> Catalog:
        """What the corpus calls its forms and their boxes."""
        documents = ({**row, "form": row["document_form"]} for row in self.documents.documents)
        return build_catalog(documents, keys=self.passages.form_keys)

    @cached_property
    def levels(self) -> Mapping[str, Level | None]:
        """Documents, pages and sections as units, where the index holds them."""
        return {level: self.index.open_level(level) for level in UNIT_LEVELS}

    @cached_property
    def neighbours(self) -> Neighbours:
        """Edges worth following, by who speaks."""
        return build_neighbours(self.edges)

    @cached_property
    def anchor_ids(self) -> list[str | None]:
        """The anchor that owns each row."""
        return self.index.rows["anchor_id"].to_list()

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The first row that holds each node or that each anchor owns."""
        return find_owners(self.passages.columns, self.anchor_ids)

    @cached_property
    def table_rows(self) -> dict[str, list[int]]:
        """The rows that print each table."""
        found: dict[str, list[int]] = {}
        for row in np.flatnonzero(self.passages.is_table).tolist():
            found.setdefault(self.passages.columns["node_ids"][row][0], []).append(row)
        return found

    @cached_property
    def title_words(self) -> list[frozenset[str]]:
        """Words of the titles of the forms that each document is about."""
        of_form = self.catalog.title_words
        return [
            frozenset().union(*(of_form.get(form, frozenset()) for form in split_forms(row["document_form"])))
            for row in self.documents.documents
        ]

    @cached_property
    def document_vectors(self) -> Vectors:
        """The mean direction of each document's passages: what it is about."""
        return self._mean_directions(self.documents.number_of, len(self.documents.documents))

    @cached_property
    def section_vectors(self) -> Vectors:
        """The mean direction of each section's passages."""
        numbers = self.passages.anchor_number
        return self._mean_directions(numbers, int(numbers.max(initial=-1)) + 1)

    def _mean_directions(self, groups: Ints, count: int) -> Vectors:
        """Unit vectors of the summed vectors of each group of rows."""
        sums: Vectors = np.zeros((count, self.index.vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, groups, self.index.vectors)
        unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return unit

    def read_passage(self, row: int) -> str:
        """A row's text as it was embedded: context, then its own words."""
        return f"{self.index.rows['context'][row]}\n{self.index.rows['text'][row]}"

    def name_nodes(self, row: int) -> list[str]:
        """The nodes that a row stands for: the anchor that owns it, then what it holds."""
        anchor_id = self.anchor_ids[row]
        return [*([anchor_id] if anchor_id else []), *self.passages.columns["node_ids"][row]]
