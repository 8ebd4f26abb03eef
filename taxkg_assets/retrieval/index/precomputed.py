"""Columns and matrices of an index that the build computes and stores, so that readers open them at once."""

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
from taxkg_assets.retrieval.index.passage_index import PrecomputedFacts
from taxkg_assets.retrieval.index.sections import build_section_means, compute_mean_vectors
from taxkg_assets.retrieval.index.token_match import TokenIndex

MAPPED_COLUMNS = (*RANKED_COLUMNS, "anchor_key", "text", "chunk_id", "anchor_id", "node_ids", "bboxes")
"""Columns that searches read, which are stored in a memory-mapped file besides LanceDB's tables.

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
"""Columns that an index stores of each table, so that the first question after a start need not read all tables."""
TERM_SOURCE_COLUMNS = ("text", "heading_path", "context")
"""Columns that the search terms of a row come from."""
_NUMBERS = ("document_number", "form_number", "anchor_number", "parent_number", "pages", "word_counts")
_FLAGS = ("is_table", "is_boilerplate", "is_example")


@dataclass(frozen=True, slots=True)
class PrecomputedTables:
    """Tables and matrices that an index build computes and stores next to the rows; each attribute names a file.

    Attributes:
        rows: Numbers and flags of each row, such as `document_number` and `is_table`.
        mapped: Columns that searches read of each row.
        labeled: Tags and entities of the rows that have some.
        tables: Id of the table that each row prints, for rows that print one.
        documents: Columns of each document for the ranker.
        forms: Forms of passages with their keys, in order.
        terms: Vocabulary with the number of rows that contain each term.
        catalogue: Headings, forms, years and words of each table.
        document_vectors: Mean vector of each document, shape (documents, dimension).
        section_means: Mean vectors of sections with several passages, shape (sections, dimension).
        lexical: BM25 postings.
        codes: Quantized codes of the vectors.
        card: Number of rows, and the perspectives in order.
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


def build_precomputed(
    rows: pl.DataFrame,
    vectors: Vectors,
    *,
    units: pl.DataFrame,
    catalogue: pl.DataFrame | None = None,
    tokens: TokenIndex | None = None,
) -> PrecomputedTables:
    """Compute the tables and matrices that searches use besides the rows of an index, to store them with the index.

    Args:
        rows: Passages in reading order.
        vectors: Unit vectors of shape (rows, dimension).
        units: Documents, pages and sections in the order in which an opened index has them.
        catalogue: From `list_catalogue`; None where the index has no tables.
        tokens: Tokens of the passages; None without an encoder.

    Returns:
        Tables and matrices to store.
    """
    facts, document_facts = PassageFacts(rows), DocumentFacts(rows)
    columns: dict[str, Any] = {name: np.asarray(getattr(facts, name), dtype=np.int32) for name in _NUMBERS}
    columns |= {name: np.asarray(getattr(facts, name)) > 0 for name in _FLAGS}
    columns["side_number"] = facts.perspective_number
    for level in UNIT_LEVELS:
        level_units = units.filter(pl.col("level") == level)
        columns[f"unit_{level}"] = find_units(level_units, chunk_ids=rows["chunk_id"]).astype(np.int32)
    lexical = build_lexical_of_column(rows["terms"])
    documents = [{**row, "years": sorted(row["years"])} for row in document_facts.documents]
    return PrecomputedTables(
        rows=pl.DataFrame(columns),
        mapped=rows.select(MAPPED_COLUMNS),
        labeled=facts.row_labels,
        tables=pl.DataFrame(list(facts.tables.items()), schema={"row": pl.Int64, "table_id": pl.String}, orient="row"),
        documents=pl.DataFrame(documents, infer_schema_length=None).with_columns(
            place=pl.Series(document_facts.jurisdictions, dtype=pl.String)
        ),
        forms=pl.DataFrame(
            {"form": list(facts.forms), "keys": [sorted(facts.form_keys.get(form, ())) for form in facts.forms]},
            schema={"form": pl.String, "keys": pl.List(pl.String)},
        ),
        terms=pl.DataFrame({"term": lexical.vocabulary.terms, "frequency": lexical.vocabulary.frequencies}),
        catalogue=pl.DataFrame(schema=CATALOGUE) if catalogue is None else catalogue,
        document_vectors=compute_mean_vectors(
            vectors, document_facts.number_by_row, count=len(document_facts.documents)
        ),
        section_means=build_section_means(facts.anchor_number, vectors),
        lexical=lexical,
        codes=build_codes(vectors),
        card={"height": rows.height, "sides": list(facts.perspectives)},
        tokens=tokens,
    )


# arguments: one per stored table or matrix
def read_precomputed(
    rows: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    forms: pl.DataFrame,
    labeled: pl.DataFrame,
    tables: pl.DataFrame,
    perspectives: Sequence[str],
    document_vectors: Vectors,
    section_means: Vectors | None,
    lexical: LexicalRetriever,
    tokens: TokenIndex | None = None,
) -> PrecomputedFacts:
    """Convert the stored tables of an index (`PrecomputedTables`) to the properties that searches use.

    Args:
        rows: Numbers and flags of each row.
        documents: Columns of each document.
        forms: Forms with their keys.
        labeled: Tags and entities of the rows that have some.
        tables: Id of the table of each row that prints one.
        perspectives: Names of the perspectives, in the order of their numbers.
        document_vectors: Mean vector of each document.
        section_means: Mean vectors of sections; None to compute them.
        lexical: BM25 postings.
        tokens: Tokens of the passages; None where the index has none.

    Returns:
        Properties by name for `PassageFacts` and `DocumentFacts`, and the matrices.
    """
    passage_columns: dict[str, Any] = {name: rows[name].to_numpy().astype(np.int64) for name in _NUMBERS}
    passage_columns |= {name: rows[name].to_numpy().astype(np.float64) for name in _FLAGS}
    passage_columns["perspectives"], passage_columns["perspective_number"] = (
        tuple(perspectives),
        rows["side_number"].to_numpy(),
    )
    passage_columns["row_labels"], passage_columns["tables"] = labeled, dict(tables.iter_rows())
    passage_columns["forms"] = tuple(forms["form"])
    passage_columns["form_keys"] = {form: frozenset(keys) for form, keys in forms.iter_rows() if keys}
    document_rows = [{**row, "years": set(row["years"])} for row in documents.drop("place").iter_rows(named=True)]
    document_columns: Mapping[str, Any] = {
        "documents": document_rows,
        "jurisdictions": documents["place"].to_list(),
        "number_by_row": passage_columns["document_number"],
    }
    units = {level: rows[f"unit_{level}"].to_numpy().astype(np.int64) for level in UNIT_LEVELS}
    return PrecomputedFacts(passage_columns, document_columns, units, document_vectors, section_means, lexical, tokens)


def read_vocabulary(terms: pl.DataFrame) -> Vocabulary:
    """Convert the stored vocabulary.

    Args:
        terms: Columns `term` and `frequency`, sorted by term.

    Returns:
        Terms with the number of rows that contain each.
    """
    return Vocabulary(terms["term"], terms["frequency"].to_numpy())
