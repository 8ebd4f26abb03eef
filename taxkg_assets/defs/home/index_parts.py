"""The parts of an index that a build takes over from the current one: those of documents that have not changed.

A unit depends on the passages of its document alone, and the context of a table on the text of its document alone. What
depends on all documents, such as the BM25 scores, is computed from all rows in each build.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from taxkg_assets.defs.home.fingerprint import code_fingerprint
from taxkg_assets.defs.home.index_files import StoredParts, read_parts
from taxkg_assets.defs.home.store import Store
from taxkg_assets.digests import digest_documents
from taxkg_assets.retrieval.index.index import find_row_terms
from taxkg_assets.retrieval.index.levels import update_units
from taxkg_assets.retrieval.tables.table_context import digest_sources, update_catalogue


@dataclass(frozen=True, slots=True)
class CurrentIndex:
    """What a build takes over from the current index.

    Attributes:
        parts: Search terms, larger units and catalog of tables; None if there is no index, or if other code computed
            them.
        code_digest: Digest of the present code that computes them.
    """

    parts: StoredParts | None
    code_digest: str


@dataclass(frozen=True, slots=True)
class IndexParts:
    """The parts of an index that are built document by document.

    Attributes:
        units: Documents, pages and sections with their vectors, by level, document and position.
        catalogue: Catalog of the tables.
        digests: Digests by document of what both were built from.
    """

    units: pl.DataFrame
    catalogue: pl.DataFrame
    digests: pl.DataFrame


def read_current_index(store: Store) -> CurrentIndex:
    """Read what the current index stores of unchanged passages and documents.

    Args:
        store: Home of the index.

    Returns:
        The parts of the newest index, if the present code built it.
    """
    code_digest = code_fingerprint(find_row_terms, update_units, update_catalogue)
    paths = store.read_or_empty("index")["path"].to_list()
    return CurrentIndex(read_parts(store, paths[0], terms_by=code_digest) if paths else None, code_digest)


def update_parts(
    rows: pl.DataFrame,
    *,
    chunks: pl.DataFrame,
    documents: pl.DataFrame,
    summaries: pl.DataFrame,
    tables: pl.DataFrame,
    sections: pl.DataFrame,
    stored: StoredParts | None,
) -> IndexParts:
    """Build the parts of changed documents, and take over those of the others.

    Args:
        rows: Passages in reading order, with terms and vectors.
        chunks: Table `chunks`.
        documents: Table `documents`.
        summaries: Table `summaries`.
        tables: Table `tables`.
        sections: Table `sections`.
        stored: Parts of the current index; None to build all.

    Returns:
        The same parts whatever is stored.
    """
    unit_digests = digest_documents(rows, summaries)
    table_digests = digest_sources(tables=tables, documents=documents, chunks=chunks, sections=sections)
    return IndexParts(
        units=update_units(rows, summaries=summaries, digests=unit_digests, stored=stored.units if stored else None),
        catalogue=update_catalogue(
            tables=tables,
            documents=documents,
            chunks=chunks,
            sections=sections,
            digests=table_digests,
            stored=stored.catalogue if stored else None,
        ),
        digests=_list_digests(units=unit_digests, tables=table_digests),
    )


def _list_digests(**digests: Mapping[str, str]) -> pl.DataFrame:
    """Return one row per document with its digests by name; null where there is none."""
    documents = sorted(set[str]().union(*digests.values()))
    columns = {
        name: [by_document.get(document_id) for document_id in documents] for name, by_document in digests.items()
    }
    return pl.DataFrame(
        {"document_id": documents, **columns}, schema=dict.fromkeys(("document_id", *digests), pl.String)
    )
