"""Precomputed columns and matrices of an index, which readers open without computing them again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from taxkg_assets.retrieval.encoding.codes import VectorCodes, build_codes
from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.encoding.lexical import Vocabulary
from taxkg_assets.retrieval.index.bm25 import LexicalRetriever, build_lexical_of_column
from taxkg_assets.retrieval.index.document_facts import DocumentFacts
from taxkg_assets.retrieval.index.facts import RANKED_COLUMNS, PassageFacts
from taxkg_assets.retrieval.index.levels import UNIT_LEVELS, find_units
from taxkg_assets.retrieval.index.passage_index import Known
from taxkg_assets.retrieval.index.sections import build_means, find_mean_directions
from taxkg_assets.retrieval.index.token_match import TokenIndex

MAPPED = (*RANKED_COLUMNS, "text", "chunk_id", "anchor_id", "node_ids", "bboxes")
"""Columns that are also stored outside LanceDB's tables: all that a search and its passages read.

A request to LanceDB takes 1.4 ms even for one number of one row, and LanceDB stores rectangles as five columns.
"""
CATALOGUE: dict[str, Any] = {
    "table_id": pl.String,
    "document": pl.String,
    "headings": pl.String,
    "mentions": pl.List(pl.String),
    "forms": pl.List(pl.String),
    "is_federal": pl.Boolean,
    "years": pl.List(pl.Int64),
    "words": pl.List(pl.String),
}
"""What an index keeps of each table, so that the first question after a start reads no whole library."""
TERMED = ("text", "heading_path", "context")
"""Columns that the search terms of a row come from."""
_NUMBERS = ("document_number", "form_number", "anchor_number", "parent_number", "pages", "word_counts")
_FLAGS = ("is_table", "is_boilerplate", "is_example")


@dataclass(frozen=True, slots=True)
class KnownTables:
    """Precomputed tables of an index, stored so that opening it takes no time.

    Attributes:
        rows: Numbers and flags of each row.
        mapped: Columns that ranking reads of each row.
        labeled: Tags and entities of the rows that have some.
        tables: Id of the table that each row prints, for rows that print one.
        documents: Columns of each document for the ranker.
        forms: Forms of passages with their keys, in order.
        terms: Vocabulary with the number of rows that contain each term.
        catalogue: Surroundings and words of each table.
        document_vectors: Mean direction of each document, shape (documents, dimension).
        section_means: Mean directions of sections with several passages.
        lexical: BM25 postings.
        codes: Codes of the vectors.
        card: Sizes and names.
        tokens: Tokens of the passages; None without an encoder.
    """

    rows: pl.DataFrame
    mapped: pl.DataFrame
    labeled: pl.DataFrame
    tables: pl.DataFrame
    documents: pl.DataFrame
    forms: pl.DataFrame
    terms: pl.DataFrame
    catalogue: pl.DataFrame
    document_vectors: Vectors
    section_means: Vectors
    lexical: LexicalRetriever
    codes: VectorCodes
    card: dict[str, Any]
    tokens: TokenIndex | None = None

    def hash_tokens(self) -> str:
        """Return a digest of the token vectors; empty without tokens."""
        return "" if self.tokens is None else hashlib.sha256(self.tokens.vectors.tobytes()).hexdigest()


def build_known(
    rows: pl.DataFrame,
    vectors: Vectors,
    *,
    units: pl.DataFrame,
    catalogue: pl.DataFrame | None = None,
    tokens: TokenIndex | None = None,
) -> KnownTables:
    """Compute everything that searches need of an index besides its rows, to store it with the index.

    Args:
        rows: Passages in reading order.
        vectors: Unit vectors of shape (rows, dimension).
        units: Documents, pages and sections in the order of a reader.
        catalogue: From `list_catalogue`; None where the index has no tables.
        tokens: Tokens of the passages; None without an encoder.

    Returns:
        Tables and matrices to store.
    """
    facts, about = PassageFacts(rows), DocumentFacts(rows)
    columns: dict[str, Any] = {name: np.asarray(getattr(facts, name), dtype=np.int32) for name in _NUMBERS}
    columns |= {name: np.asarray(getattr(facts, name)) > 0 for name in _FLAGS}
    columns["side_number"] = facts.side_number
    for level in UNIT_LEVELS:
        of_level = units.filter(pl.col("level") == level)
        columns[f"unit_{level}"] = find_units(of_level, chunk_ids=rows["chunk_id"]).astype(np.int32)
    lexical = build_lexical_of_column(rows["terms"])
    documents = [{**row, "years": sorted(row["years"])} for row in about.documents]
    return KnownTables(
        rows=pl.DataFrame(columns),
        mapped=rows.select(MAPPED),
        labeled=facts.labeled,
        tables=pl.DataFrame(list(facts.tables.items()), schema={"row": pl.Int64, "table_id": pl.String}, orient="row"),
        documents=pl.DataFrame(documents, infer_schema_length=None).with_columns(
            place=pl.Series(about.places, dtype=pl.String)
        ),
        forms=pl.DataFrame(
            {"form": list(facts.forms), "keys": [sorted(facts.form_keys.get(form, ())) for form in facts.forms]},
            schema={"form": pl.String, "keys": pl.List(pl.String)},
        ),
        terms=pl.DataFrame({"term": lexical.vocabulary.terms, "frequency": lexical.vocabulary.frequencies}),
        catalogue=pl.DataFrame(schema=CATALOGUE) if catalogue is None else catalogue,
        document_vectors=find_mean_directions(vectors, about.number_by_row, count=len(about.documents)),
        section_means=build_means(facts.anchor_number, vectors),
        lexical=lexical,
        codes=build_codes(vectors),
        card={"height": rows.height, "sides": list(facts.sides)},
        tokens=tokens,
    )


# arguments: one per stored table or matrix
def read_known(
    rows: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    forms: pl.DataFrame,
    labeled: pl.DataFrame,
    tables: pl.DataFrame,
    sides: Sequence[str],
    document_vectors: Vectors,
    section_means: Vectors | None,
    lexical: LexicalRetriever,
    tokens: TokenIndex | None = None,
) -> Known:
    """Convert the stored tables of an index to the properties that searches use.

    Args:
        rows: Numbers and flags of each row.
        documents: Columns of each document.
        forms: Forms with their keys.
        labeled: Tags and entities of the rows that have some.
        tables: Table of each row that prints one.
        sides: Perspectives in order.
        document_vectors: Mean direction of each document.
        section_means: Mean directions of sections; None to compute them.
        lexical: BM25 postings.
        tokens: Tokens of the passages; None where the index has none.

    Returns:
        Properties by name for `PassageFacts` and `DocumentFacts`, and the matrices.
    """
    passages: dict[str, Any] = {name: rows[name].to_numpy().astype(np.int64) for name in _NUMBERS}
    passages |= {name: rows[name].to_numpy().astype(np.float64) for name in _FLAGS}
    passages["sides"], passages["side_number"] = tuple(sides), rows["side_number"].to_numpy()
    passages["labeled"], passages["tables"] = labeled, dict(tables.iter_rows())
    passages["forms"] = tuple(forms["form"])
    passages["form_keys"] = {form: frozenset(keys) for form, keys in forms.iter_rows() if keys}
    rows_of_documents = [{**row, "years": set(row["years"])} for row in documents.drop("place").iter_rows(named=True)]
    about: Mapping[str, Any] = {
        "documents": rows_of_documents,
        "places": documents["place"].to_list(),
        "number_of": passages["document_number"],
    }
    units = {level: rows[f"unit_{level}"].to_numpy().astype(np.int64) for level in UNIT_LEVELS}
    return Known(passages, about, units, document_vectors, section_means, lexical, tokens)


def read_vocabulary(terms: pl.DataFrame) -> Vocabulary:
    """Convert a stored vocabulary.

    Args:
        terms: Columns `term` and `frequency`, sorted by term.

    Returns:
        Terms with the number of rows that contain each.
    """
    return Vocabulary(terms["term"], terms["frequency"].to_numpy())
