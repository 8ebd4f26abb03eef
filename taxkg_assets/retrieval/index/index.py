"""Write accepted chunks to tables of LanceDB, read them back, and check the codes and postings against brute force.

The LanceDB table `passages`, and one table for each level of larger units, contain text, context, search terms, vector
and all other columns of a row. Vector codes and BM25 postings find row numbers, and readers fetch rows by number, so
the tables have no indexes of their own. The caller opens the connection; its location is unknown here.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import dataframely as dy
import numpy as np
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.retrieval.encoding.codes import VectorCodes
from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.encoding.parallel import run_in_parallel
from taxkg_assets.retrieval.encoding.vector import list_vectors
from taxkg_assets.retrieval.index.bm25 import LexicalRetriever
from taxkg_assets.retrieval.index.embeddings import align_vectors, stack_vectors
from taxkg_assets.retrieval.index.levels import UNIT_LEVELS
from taxkg_assets.retrieval.index.passage_index import SearchIndex as SearchIndex
from taxkg_assets.retrieval.index.precomputed import TERM_SOURCE_COLUMNS, PrecomputedTables
from taxkg_assets.retrieval.index.scores import find_near
from taxkg_assets.rules.models.lexical import load_lexical
from taxkg_assets.settings import Settings

DOCUMENT_COLUMNS = ("irs_name", "doc_type", "revision", "tax_year", "is_draft", "title")
PASSAGES = "passages"
"""Table of an index besides those of its larger units."""
WRITTEN_AT_ONCE = 50_000
"""Passages in one write: with their vectors about 120 MB."""
LAYOUT = 5
"""Version of the layout of an index's folder; part of the folder's name, so that another layout has another name."""
_HASH_SEED = 7
CHECK_SAMPLE = 50
"""Passages that a self-check samples."""
CHECK_K = 10
"""Nearest passages that the self-check of the codes compares."""
SAME_COSINE = 1e-3
"""Cosines that differ by less are equal: the arithmetic of an encoder moves them by as much."""


def build_index_rows(
    *,
    chunks: dy.DataFrame[schemas.Chunks],
    documents: dy.DataFrame[schemas.Documents],
    embeddings: dy.DataFrame[schemas.Embeddings],
    model_hash: str,
    old_terms: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Build one row per accepted chunk with its document's columns, its search terms and its vector.

    Args:
        chunks: Chunks; only accepted ones are indexed.
        documents: Documents of these chunks.
        embeddings: Vectors by text and model.
        model_hash: Model of the vectors.
        old_terms: Rows of an older index with `TERM_SOURCE_COLUMNS` and `terms`; a chunk with the same texts gets
            these terms. None to find the terms of all chunks.

    Returns:
        Rows in reading order.

    Raises:
        ValueError: A chunk's document or vector is missing.
    """
    accepted = chunks.filter(pl.col("status") == "accepted").sort("document_id", "chunk_ix", "chunk_id")
    vectors = align_vectors(accepted, embeddings, model_hash=model_hash)
    rows = accepted.join(
        documents.select("document_id", pl.col("form").alias("document_form"), *DOCUMENT_COLUMNS),
        on="document_id",
        how="left",
        maintain_order="left",
    )
    if rows["doc_type"].null_count():
        missing_documents = rows.filter(pl.col("doc_type").is_null())["document_id"].unique().sort().to_list()
        raise ValueError(f"chunks refer to documents that are not in `documents`: {', '.join(missing_documents[:5])}")
    return rows.with_columns(terms=_find_all_terms(rows, old_terms), vector=list_vectors(vectors))


def _find_all_terms(rows: pl.DataFrame, old_terms: pl.DataFrame | None) -> pl.Series:
    """Return the search terms of each row, those of the older index where it has the same text."""
    texts = rows.select(TERM_SOURCE_COLUMNS, terms=pl.lit(None, dtype=pl.String))
    if old_terms is not None:
        distinct_texts = old_terms.select(*TERM_SOURCE_COLUMNS, "terms").unique(TERM_SOURCE_COLUMNS)
        texts = texts.drop("terms").join(distinct_texts, on=TERM_SOURCE_COLUMNS, how="left", maintain_order="left")
    terms = [
        find_row_terms(text, heading_path=path, context=context) if terms_found is None else terms_found
        for text, path, context, terms_found in texts.iter_rows()
    ]
    return pl.Series(terms, dtype=pl.String)


def find_row_terms(text: str, *, heading_path: str, context: str) -> str:
    """Find the search terms of a chunk, repeating those of its innermost heading and of its context.

    Args:
        text: Text of the chunk.
        heading_path: Headings, separated by " > ".
        context: Context of the chunk.

    Returns:
        Terms separated by blanks.
    """
    weights = load_lexical().bm25
    terms = find_terms(text)
    terms += _find_shared_terms(heading_path.rsplit(" > ", 1)[-1]) * weights.heading_repeats
    terms += _find_shared_terms(context) * weights.context_repeats
    return " ".join(terms)


@lru_cache(maxsize=10_000)
def _find_shared_terms(text: str) -> tuple[str, ...]:
    """Return the search terms of a text that adjacent chunks share."""
    return tuple(find_terms(text))


# arguments: what the manifest row records
def build_index(
    connection: Any,
    rows: pl.DataFrame,
    *,
    units: pl.DataFrame,
    precomputed: PrecomputedTables,
    path: str,
    model_name: str,
    model_hash: str,
    input_versions: Mapping[str, str],
    settings: Settings,
) -> dy.DataFrame[schemas.Index]:
    """Write the LanceDB tables of an index, verify them by sample queries, and return its manifest row.

    Args:
        connection: Opened LanceDB connection to an empty folder.
        rows: Rows from `build_index_rows`.
        units: Units from `build_units`.
        precomputed: Tables and matrices from `build_precomputed`.
        path: Path of the folder, for the manifest row.
        model_name: Name of the encoder, for the manifest row.
        model_hash: Digest of the encoder's weights, for the manifest row.
        input_versions: Versions of the input tables, for the manifest row.
        settings: Settings of the build, for the index version and the manifest row.

    Returns:
        One row with the index version: a digest of everything that readers may be shown.

    Raises:
        ValueError: BM25 does not find a sampled chunk by its own words.
    """
    vectors = stack_vectors(rows["vector"])
    _, (recall, unretrievable) = run_in_parallel(
        lambda: _write_tables(connection, rows.drop("vector"), vectors, units=units),
        lambda: (
            score_self_check(precomputed.codes, vectors),
            find_unretrievable_chunks(precomputed.lexical, rows),
        ),
    )
    if unretrievable.height:
        raise ValueError(f"the lexical index lacks {unretrievable.height} of the sampled rows: run `taxkg build`")
    level_counts = dict(pl.concat([rows["level"], units["level"]]).value_counts().sort("level").iter_rows())
    build_inputs = f"{LAYOUT}{model_hash}{settings.table_settings()}{precomputed.hash_tokens()}"
    manifest = pl.DataFrame(
        {
            "index_version": [_hash_rows(rows, units, precomputed.catalogue, build_inputs=build_inputs)],
            "path": [path],
            "model_name": [model_name],
            "model_hash": [model_hash],
            "dimension": [len(rows["vector"][0]) if rows.height else 1],
            "row_count": [rows.height],
            "rows_by_level": [json.dumps(level_counts, sort_keys=True)],
            "self_check_recall": [recall],
            "input_versions": [json.dumps(dict(input_versions), sort_keys=True)],
            "settings": [settings.table_settings()],
        },
        schema=schemas.Index.create_empty().schema,
    )
    return schemas.Index.validate(manifest)


def _write_tables(connection: Any, rows: pl.DataFrame, vectors: Vectors, *, units: pl.DataFrame) -> None:
    """Write the tables of passages and of each level of units."""
    write_passages(connection, rows, vectors)
    for level in UNIT_LEVELS:
        if (level_units := units.filter(pl.col("level") == level)).height:
            _write_table(connection, level, level_units)


def _hash_rows(*frames: pl.DataFrame, build_inputs: str) -> str:
    """Return the digest of everything that readers may be shown, including rectangles and document columns."""
    version = hashlib.sha256(f"{build_inputs}{[frame.schema for frame in frames]!r}".encode())
    for frame in frames:
        version.update(frame.hash_rows(seed=_HASH_SEED).to_numpy().tobytes())
    return version.hexdigest()[:16]


def write_passages(connection: Any, rows: pl.DataFrame, vectors: Vectors) -> None:
    """Write the table of passages in batches.

    Args:
        connection: Opened LanceDB connection.
        rows: Rows in reading order, without vectors.
        vectors: Unit vectors of shape (rows, dimension).
    """
    numbered = rows.with_columns(row=pl.int_range(rows.height, dtype=pl.Int32))
    table: Any = None
    for first in range(0, max(1, rows.height), WRITTEN_AT_ONCE):
        batch = slice(first, first + WRITTEN_AT_ONCE)
        column = pl.Series("vector", vectors[batch], dtype=pl.Array(pl.Float32, vectors.shape[1]))
        data = numbered[batch].with_columns(column).to_arrow()
        if table is None:
            table = connection.create_table(PASSAGES, data=data, mode="overwrite")
        else:
            table.add(data)
    if rows.height > WRITTEN_AT_ONCE:
        table.optimize()


def _write_table(connection: Any, name: str, rows: pl.DataFrame) -> None:
    dimension = len(rows["vector"][0])
    data = rows.with_columns(pl.col("vector").cast(pl.Array(pl.Float32, dimension))).to_arrow()
    connection.create_table(name, data=data, mode="overwrite")


def read_index(connection: Any, *, model_hash: str) -> SearchIndex:
    """Read every level of an index into memory.

    Args:
        connection: Opened LanceDB connection.
        model_hash: Digest of the encoder that made its vectors.

    Returns:
        Index with rows in reading order.
    """
    rows = read_rows(connection)
    units = [_read_table(connection, name) for name in UNIT_LEVELS if name in _table_names(connection)]
    all_units = pl.concat(units).sort("level", "document_id", "chunk_ix", "chunk_id") if units else None
    return SearchIndex(
        rows=rows.drop("vector"),
        vectors=_stack(rows),
        model_hash=model_hash,
        units=None if all_units is None else all_units.drop("vector"),
        unit_vectors=None if all_units is None else _stack(all_units),
    )


def read_rows(connection: Any, columns: Sequence[str] = ()) -> pl.DataFrame:
    """Read the passages of an index.

    Args:
        connection: Opened LanceDB connection.
        columns: Columns to read; empty for all, including the vector.

    Returns:
        Rows in reading order.

    Raises:
        ValueError: The index has no table of passages.
    """
    if PASSAGES not in _table_names(connection):
        raise ValueError("the index has no table of passages: run `taxkg build`")
    table = connection.open_table(PASSAGES)
    column_names = [
        name for name in columns or table.schema.names if name not in ("row", "document_number", "form_number")
    ]
    rows = table.search().select(["row", *column_names]).limit(table.count_rows()).to_arrow()
    return pl.DataFrame(rows).sort("row").select(column_names)


def _read_table(connection: Any, name: str) -> pl.DataFrame:
    return pl.DataFrame(connection.open_table(name).to_arrow())


def _stack(rows: pl.DataFrame) -> Vectors:
    return stack_vectors(rows["vector"].cast(pl.List(pl.Float32)))


def _table_names(connection: Any) -> list[str]:
    return list(connection.list_tables().tables)


def score_self_check(codes: VectorCodes, vectors: Vectors) -> float:
    """Compute recall@10 of the quantized codes against exact search over sampled queries.

    A sampled query is the mean vector of two passages: a passage itself would be too easy to find. A result counts as
    correct if its cosine is at least that of the exact tenth, less `SAME_COSINE`.

    Args:
        codes: Codes of the vectors.
        vectors: Unit vectors of shape (rows, dimension).

    Returns:
        Recall from 0 to 1; 0 where codes and vectors differ in their number of rows, 1 without rows.
    """
    if codes.height != len(vectors):
        return 0.0
    hits = expected_hits = 0
    rows = list(_sample(len(vectors)))
    for first_row, second_row in zip(rows, [*rows[1:], *rows[:1]], strict=True):
        vector_sum = vectors[first_row] + vectors[second_row]
        query_vector = vector_sum / max(float(np.linalg.norm(vector_sum)), 1e-9)
        cosines = vectors @ query_vector
        tenth_cosine = float(np.sort(cosines)[-CHECK_K:][0])
        near_rows = find_near(codes, query_vector, count=CHECK_K)
        hits += min(CHECK_K, int((cosines[near_rows] >= tenth_cosine - SAME_COSINE).sum()))
        expected_hits += min(CHECK_K, len(vectors))
    return hits / expected_hits if expected_hits else 1.0


def find_unretrievable_chunks(lexical: LexicalRetriever, rows: pl.DataFrame) -> pl.DataFrame:
    """Find sampled chunks that BM25 does not retrieve by their own rarest term.

    Args:
        lexical: BM25 postings.
        rows: Rows of the index with `terms`; about `CHECK_SAMPLE` of them are checked, at regular distances.

    Returns:
        `chunk_id`, `document_id`, `page` and `text` of the sampled chunks that BM25 does not find.
    """
    unretrievable: list[str] = []
    for row in _sample(rows.height):
        # A term that the postings lack has no IDF, and is looked up first, so that its row is reported.
        rarest_term = min(rows["terms"][row].split(" "), key=lambda term: (-lexical.idf(term) or -math.inf, term))
        scores = lexical.score_rows([rarest_term]) if rarest_term else np.ones(rows.height)
        if len(scores) != rows.height or scores[row] <= 0:
            unretrievable.append(rows["chunk_id"][row])
    return rows.filter(pl.col("chunk_id").is_in(unretrievable)).select("chunk_id", "document_id", "page", "text")


def _sample(height: int) -> range:
    """Return about `CHECK_SAMPLE` row numbers at regular distances."""
    return range(0, height, max(1, height // CHECK_SAMPLE))
