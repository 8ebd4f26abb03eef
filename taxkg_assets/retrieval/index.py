"""Accepted chunks to search tables in LanceDB, checked against brute force after every write, and back.

The LanceDB table `passages`, and one for each larger unit, hold text, context, search terms, vector and the columns
that searches filter by. The caller opens the connection; nothing here knows where it lies.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import dataframely as dy
import numpy as np
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.retrieval.embeddings import align_vectors, stack_vectors
from taxkg_assets.retrieval.encoder import Vectors
from taxkg_assets.retrieval.facts import PassageFacts
from taxkg_assets.retrieval.levels import UNIT_LEVELS
from taxkg_assets.retrieval.lexical import find_terms
from taxkg_assets.retrieval.passage_index import SearchIndex as SearchIndex
from taxkg_assets.retrieval.vector import list_vectors
from taxkg_assets.rules.loader import load_family
from taxkg_assets.settings import Settings

DOCUMENT_COLUMNS = ("irs_name", "doc_type", "revision", "tax_year", "is_draft", "title")
PASSAGES, DIRECTIONS = "passages", "directions"
"""Tables of an index besides those of its larger units."""
WRITTEN_AT_ONCE = 50_000
"""Passages in one write: with their vectors about 120 MB."""
_HASH_SEED = 7
CHECK_SAMPLE = 50
CHECK_K = 10


def build_index_rows(
    *,
    chunks: dy.DataFrame[schemas.Chunks],
    documents: dy.DataFrame[schemas.Documents],
    embeddings: dy.DataFrame[schemas.Embeddings],
    model_hash: str,
) -> pl.DataFrame:
    """One row per accepted chunk with its document's columns, its search terms and its vector, in reading order.

    Raises: ValueError if a chunk's document or vector is missing.
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
        lost = rows.filter(pl.col("doc_type").is_null())["document_id"].unique().sort().to_list()
        raise ValueError(f"chunks of documents that `documents` lacks: {', '.join(lost[:5])}")
    terms = [
        find_row_terms(text, heading_path=path, context=context)
        for text, path, context in rows.select("text", "heading_path", "context").iter_rows()
    ]
    return rows.with_columns(terms=pl.Series(terms, dtype=pl.String), vector=list_vectors(vectors))


def find_row_terms(text: str, *, heading_path: str, context: str) -> str:
    """Search terms of a chunk; those of its innermost heading and of its context count more than once."""
    weights = load_family("lexical")["bm25"]
    terms = find_terms(text)
    terms += _find_shared_terms(heading_path.rsplit(" > ", 1)[-1]) * weights["heading_repeats"]
    terms += _find_shared_terms(context) * weights["context_repeats"]
    return " ".join(terms)


@lru_cache(maxsize=10_000)
def _find_shared_terms(text: str) -> tuple[str, ...]:
    """Search terms of a text that neighboring chunks share."""
    return tuple(find_terms(text))


def build_index(
    connection: Any,
    rows: pl.DataFrame,
    *,
    units: pl.DataFrame,
    path: str,
    model_name: str,
    model_hash: str,
    input_versions: Mapping[str, str],
    settings: Settings,
) -> dy.DataFrame[schemas.Index]:
    """Write the LanceDB tables, check them, and describe the version in one row.

    Args:    connection: an opened LanceDB connection to an empty folder. rows: from `build_index_rows`.
             units: from `build_units`.
    Raises:  ValueError if the tables do not give back what was written.
    """
    write_passages(connection, rows.drop("vector"), stack_vectors(rows["vector"]))
    for level in UNIT_LEVELS:
        if (of_level := units.filter(pl.col("level") == level)).height:
            _write_table(connection, level, of_level)
    recall = score_self_check(connection, rows)
    unhealthy = find_unindexed_terms(connection, rows)
    if unhealthy.height:
        raise ValueError(f"the lexical index misses {unhealthy.height} of the rows sampled; build the index again")
    counts = dict(pl.concat([rows["level"], units["level"]]).value_counts().sort("level").iter_rows())
    manifest = pl.DataFrame(
        {
            "index_version": [_hash_rows(rows, units, made_with=f"{model_hash}{settings.shaping()}")],
            "path": [path],
            "model_name": [model_name],
            "model_hash": [model_hash],
            "dimension": [len(rows["vector"][0]) if rows.height else 1],
            "row_count": [rows.height],
            "rows_by_level": [json.dumps(counts, sort_keys=True)],
            "self_check_recall": [recall],
            "input_versions": [json.dumps(dict(input_versions), sort_keys=True)],
            "settings": [settings.shaping()],
        },
        schema=schemas.Index.create_empty().schema,
    )
    return schemas.Index.validate(manifest)


def _hash_rows(rows: pl.DataFrame, units: pl.DataFrame, *, made_with: str) -> str:
    """Digest of all that readers may be shown, rectangles and document columns among it."""
    version = hashlib.sha256(f"{made_with}{rows.schema!r}{units.schema!r}".encode())
    for frame in (rows, units):
        version.update(frame.hash_rows(seed=_HASH_SEED).to_numpy().tobytes())
    return version.hexdigest()[:16]


def _number_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Passages with the numbers that filters go by: of the row, its document and the form that it speaks of."""
    facts = PassageFacts(rows)
    return rows.with_columns(
        row=pl.int_range(rows.height, dtype=pl.Int32),
        document_number=pl.Series(facts.document_number).cast(pl.Int32),
        form_number=pl.Series(facts.form_number).cast(pl.Int32),
    )


def write_directions(connection: Any, directions: Vectors) -> None:
    """Write the mean directions of sections, for readers who have no disk in common with the build."""
    rows = pl.DataFrame({"row": np.arange(len(directions), dtype=np.int32)})
    vectors = pl.Series(directions, dtype=pl.Array(pl.Float32, directions.shape[1]))
    connection.create_table(DIRECTIONS, data=rows.with_columns(vector=vectors).to_arrow(), mode="overwrite")


def write_passages(connection: Any, rows: pl.DataFrame, vectors: Vectors) -> None:
    """Write the table of passages with its indexes, a part of the rows at a time.

    Args: rows: in reading order, without vectors. vectors: one for each row.
    """
    numbered = _number_rows(rows)
    table: Any = None
    for first in range(0, max(1, rows.height), WRITTEN_AT_ONCE):
        part = slice(first, first + WRITTEN_AT_ONCE)
        own = pl.Series("vector", vectors[part], dtype=pl.Array(pl.Float32, vectors.shape[1]))
        data = numbered[part].with_columns(own).to_arrow()
        if table is None:
            table = connection.create_table(PASSAGES, data=data, mode="overwrite")
        else:
            table.add(data)
    if rows.height > WRITTEN_AT_ONCE:
        table.optimize()
    _index_terms(table)
    if rows.height > load_family("ranking")["approximate"]["above"]:
        build_neighbour_index(table)
        build_filter_indexes(table)


def _write_table(connection: Any, name: str, rows: pl.DataFrame) -> None:
    dimension = len(rows["vector"][0])
    data = rows.with_columns(pl.col("vector").cast(pl.Array(pl.Float32, dimension))).to_arrow()
    _index_terms(connection.create_table(name, data=data, mode="overwrite"))


def _index_terms(table: Any) -> None:
    """Index the search terms as they are: they were cut and stemmed when the row was made."""
    from lancedb.index import FTS

    analyzer = FTS(
        base_tokenizer="whitespace", lower_case=False, stem=False, remove_stop_words=False, ascii_folding=False
    )
    table.create_index("terms", config=analyzer)


def build_neighbour_index(table: Any) -> None:
    """Index a table's vectors by cells, each vector in a bit for each dimension; who searches compares the best anew.

    Cells and not a graph of neighbours: texts that stand in many documents are neighbours of one another alone, and a
    graph full of them leads nowhere else. Bits, so that an index of 500,000 passages takes 24 MB of memory, not 770.

    Source: Gao and Long 2024, RaBitQ (arXiv 2405.12497).
    """
    from lancedb.index import IvfRq

    limits = load_family("ranking")["approximate"]
    cells = max(1, math.isqrt(table.count_rows()))
    config = IvfRq(
        distance_type="dot", num_partitions=cells, sample_rate=limits["sampled"], max_iterations=limits["rounds"]
    )
    table.create_index("vector", config=config)


def build_filter_indexes(table: Any) -> None:
    """Index the columns that filters go by."""
    from lancedb.index import Bitmap, BTree

    for column in ("document_number", "form_number"):
        table.create_index(column, config=BTree())
    table.create_index("perspective", config=Bitmap())


def find_nearest(table: Any, vector: Vectors, *, count: int, is_indexed: bool) -> list[dict[str, Any]]:
    """The rows nearest to a vector with their distances; where there is an index, of the nearest cells alone."""
    query = table.search(vector, vector_column_name="vector").distance_type("dot")
    if is_indexed:
        limits = load_family("ranking")["approximate"]
        query = query.nprobes(limits["looked_into"]).refine_factor(limits["oversize"])
    found: list[dict[str, Any]] = query.select(["chunk_id", "_distance"]).limit(count).to_list()
    return found


def read_index(connection: Any, *, model_hash: str) -> SearchIndex:
    """Read every level of an index into memory, in reading order."""
    rows = read_rows(connection)
    units = [_read_table(connection, name) for name in UNIT_LEVELS if name in _table_names(connection)]
    every = pl.concat(units).sort("level", "document_id", "chunk_ix", "chunk_id") if units else None
    return SearchIndex(
        rows=rows.drop("vector"),
        vectors=_stack(rows),
        model_hash=model_hash,
        units=None if every is None else every.drop("vector"),
        unit_vectors=None if every is None else _stack(every),
    )


def read_rows(connection: Any) -> pl.DataFrame:
    """The passages of an index with their vectors, in reading order."""
    if PASSAGES not in _table_names(connection):
        raise ValueError("the index holds no table of passages: run `taxkg build`")
    return _read_table(connection, PASSAGES).sort("row").drop("row", "document_number", "form_number")


def _read_table(connection: Any, name: str) -> pl.DataFrame:
    return pl.DataFrame(connection.open_table(name).to_arrow())


def _stack(rows: pl.DataFrame) -> Vectors:
    return stack_vectors(rows["vector"].cast(pl.List(pl.Float32)))


def _table_names(connection: Any) -> list[str]:
    return list(connection.list_tables().tables)


def score_self_check(connection: Any, rows: pl.DataFrame) -> float:
    """Recall@10 of the stored table against brute force; a hit is at most as far away as the tenth exact one."""
    hits = wanted = 0
    vectors = stack_vectors(rows["vector"])
    table = connection.open_table(PASSAGES)
    is_indexed = rows.height > load_family("ranking")["approximate"]["above"]
    for row in _sample(rows.height):
        exact = np.sort(1.0 - vectors @ vectors[row])[:CHECK_K]
        found = find_nearest(table, vectors[row], count=CHECK_K, is_indexed=is_indexed)
        hits += sum(item["_distance"] <= float(exact[-1]) + 1e-4 for item in found)
        wanted += len(exact)
    return hits / wanted if wanted else 1.0


def find_unindexed_terms(connection: Any, rows: pl.DataFrame) -> pl.DataFrame:
    """Find sampled chunks that the lexical index does not give back for their own rarest term."""
    lost: list[str] = []
    split = rows["terms"].str.split(" ")
    counts = dict(split.list.unique().explode().value_counts().iter_rows())
    table = connection.open_table(PASSAGES)
    for row in _sample(rows.height):
        rarest = min(split[row], key=lambda term: (counts[term], term))
        found = table.search(rarest, query_type="fts", fts_columns="terms").select(["chunk_id", "_score"])
        ids = {item["chunk_id"] for item in found.limit(counts[rarest]).to_list()}
        if rarest and rows["chunk_id"][row] not in ids:
            lost.append(rows["chunk_id"][row])
    return rows.filter(pl.col("chunk_id").is_in(lost)).select("chunk_id", "document_id", "page", "text")


def _sample(height: int) -> range:
    return range(0, height, max(1, height // CHECK_SAMPLE))
