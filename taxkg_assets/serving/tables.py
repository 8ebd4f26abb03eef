"""Look-up of table cells in a release: the search ranks the tables, headers choose the cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.records import DocumentRecord, iter_records
from taxkg_assets.retrieval.query.parsed_query import tidy_query
from taxkg_assets.retrieval.query.router import build_catalog, find_route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue, build_table_catalogue
from taxkg_assets.retrieval.tables.table_lookup import CellMatch, find_cells, find_row_of_cell, score_tables
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.replies import CellExplanation, CellRow, RowValue


@dataclass(frozen=True)
class TableLookup:
    """Cell look-up in the tables of one release, which are parsed only once."""

    released: Released

    def find(self, question: str, *, k: int = 5, document: str | None = None) -> list[CellRow]:
        """Return the cells that answer a question, best first; empty where none does.

        Args:
            question: The user's question.
            k: Maximum number of cells.
            document: Only this document.
        """
        question = tidy_query(question)
        ranking = self._searcher.rank(question, document=document)
        route = find_route(question, catalog=self._forms)
        matches = find_cells(
            question,
            self._catalogue if document is None else self._select_document(document),
            k=k,
            forms=route.forms,
            names_place=bool(route.places),
            priors=score_tables(ranking, facts=self._searcher.passages),
        )
        return [self._to_row(match, rank=rank) for rank, match in enumerate(matches, start=1)]

    @cached_property
    def _documents(self) -> dict[str, DocumentRecord]:
        documents = self.released.read_as_written("documents").sort("document_id")
        return {row["document_id"]: row for row in iter_records(documents, DocumentRecord)}

    @cached_property
    def _forms(self) -> Any:
        return build_catalog(self._documents.values())

    @cached_property
    def _places(self) -> dict[str, tuple[str, int]]:
        """Document and page of each table."""
        tables = self.released.read_as_written("tables", columns=("table_id", "document_id", "page"))
        return {table_id: (document_id, page) for table_id, document_id, page in tables.iter_rows()}

    @cached_property
    def _nodes(self) -> dict[str, tuple[str, str | None]]:
        """Heading path and key of the node of each table."""
        columns = ("node_id", "level", "heading_path", "anchor_key")
        nodes = self.released.read_as_written("nodes", columns=columns).filter(pl.col("level") == "table")
        return {node_id: (path, key) for node_id, _, path, key in nodes.iter_rows()}

    @cached_property
    def _catalogue(self) -> TableCatalogue:
        return self._searcher.tables or build_table_catalogue(())

    @cached_property
    def _searcher(self) -> Searcher:
        """Return the release's search without its own look-up of cells."""
        searcher = self.released.searcher
        return searcher.with_parts(replace(searcher.parts, cells=False))

    def _select_document(self, document: str) -> TableCatalogue:
        return TableCatalogue(tuple(entry for entry in self._catalogue.entries if entry.row["document_id"] == document))

    def _to_row(self, match: CellMatch, *, rank: int) -> CellRow:
        document_id, page = self._places[match.table_id]
        document = self._documents[document_id]
        heading_path, anchor_key = self._nodes.get(match.table_id, (document["title"], None))
        facts = self._searcher.passages
        unit = find_row_of_cell(match, facts=facts)
        bbox = BoundingBox.of_row(match.cell["bbox"], page=page)
        return CellRow(
            rank=rank,
            score=match.score,
            document=document_id,
            form=document["form"],
            revision=document["revision"],
            doc_type=document["doc_type"],
            page=page,
            bboxes=[bbox],
            heading_path=heading_path,
            anchor_key=anchor_key,
            text=match.words,
            node_id=match.table_id,
            chunk_id="" if unit is None else str(facts.columns["chunk_id"][unit]),
            official_url=None if unit is None else self.released.addresses.get(facts.columns["anchor_id"][unit]),
            quality=self.released.flags.get(document_id, []),
            via=CellExplanation(table=match.table_id, header_match=match.score),
            title=match.title,
            row=match.row_path,
            column=match.col_path,
            value=match.value,
            row_values=[RowValue(column=column, value=value) for column, value in match.row],
        )
