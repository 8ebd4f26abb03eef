"""What is written to LanceDB comes back, and the self-checks see a broken index."""

from __future__ import annotations

from pathlib import Path

import dataframely as dy
import lancedb
import numpy as np
import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.retrieval.embeddings import build_embeddings, stack_vectors
from taxkg_assets.retrieval.index import (
    SearchIndex,
    build_index,
    build_index_rows,
    build_neighbour_index,
    find_nearest,
    find_unindexed_terms,
    read_index,
    score_self_check,
)
from taxkg_assets.retrieval.levels import build_units
from taxkg_assets.retrieval.search import Searcher
from taxkg_assets.settings import Settings
from taxkg_assets_tests.retrieval.conftest import TermEncoder


def _build(folder: Path, rows: pl.DataFrame) -> tuple[lancedb.DBConnection, dy.DataFrame[schemas.Index]]:
    connection = lancedb.connect(str(folder))
    manifest = build_index(
        connection,
        rows,
        units=build_units(rows, summaries=schemas.Summaries.create_empty()),
        path="index/1",
        model_name="terms",
        model_hash="terms-1",
        input_versions={"chunks": "1"},
        settings=Settings(),
    )
    return connection, manifest


def test_index_gives_back_its_rows(tmp_path: Path, index_rows: pl.DataFrame) -> None:
    connection, manifest = _build(tmp_path, index_rows)
    index = read_index(connection, model_hash="terms-1")
    assert index.rows["chunk_id"].to_list() == index_rows["chunk_id"].to_list()
    assert index.vectors.tolist() == index_rows["vector"].to_list()
    assert manifest["row_count"].item() == index_rows.height
    assert index.units is not None
    assert index.units["level"].unique().sort().to_list() == ["document", "page", "section"]
    assert manifest["self_check_recall"].item() == 1.0


def test_version_depends_on_content_alone(tmp_path: Path, index_rows: pl.DataFrame) -> None:
    one = _build(tmp_path / "a", index_rows)[1]
    again = _build(tmp_path / "b", index_rows)[1]
    fewer = _build(tmp_path / "c", index_rows.head(4))[1]
    assert one.equals(again)
    assert one["index_version"].item() != fewer["index_version"].item()


def test_self_checks_see_an_index_that_holds_something_else(tmp_path: Path, index_rows: pl.DataFrame) -> None:
    connection, _ = _build(tmp_path, index_rows.head(3))
    assert score_self_check(connection, index_rows) < 0.99
    assert find_unindexed_terms(connection, index_rows).height > 0


def test_a_chunk_of_an_unknown_document_is_an_error(
    chunks: dy.DataFrame[schemas.Chunks], documents: dy.DataFrame[schemas.Documents]
) -> None:
    embeddings = build_embeddings(chunks, None, encoder=TermEncoder())
    fewer = schemas.Documents.validate(documents.filter(pl.col("document_id") != "town-code"))
    with pytest.raises(ValueError, match="town-code"):
        build_index_rows(chunks=chunks, documents=fewer, embeddings=embeddings, model_hash="terms-1")


def test_tags_and_entities_are_columns_to_filter_by(tmp_path: Path, index_rows: pl.DataFrame) -> None:
    tagged = (
        pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(["harbour dues"])).otherwise(pl.lit([], pl.List(pl.String)))
    )
    rows = index_rows.with_columns(tags=tagged, entities=tagged)
    connection, _ = _build(tmp_path, rows)
    table = connection.open_table("passages")
    for column in ("tags", "entities"):
        found = table.search().where(f"array_has({column}, 'harbour dues')").to_list()
        assert [row["chunk_id"] for row in found] == [rows["chunk_id"][3]]
    vectors = stack_vectors(rows["vector"])
    index = SearchIndex(rows=rows.drop("vector"), vectors=vectors, model_hash=TermEncoder().model_hash)
    searcher = Searcher(index=index, encoder=TermEncoder())
    question = str(rows["text"][3])
    assert {row.chunk_id for row in searcher.search(question, tag="Harbour Dues", level="paragraph")} == {
        rows["chunk_id"][3]
    }
    assert len(searcher.search(question, level="paragraph")) > 1
    assert searcher.search(question, tag="mooring") == []


def test_the_approximate_index_finds_texts_that_stand_in_many_documents(tmp_path: Path) -> None:
    draw = np.random.default_rng(7)
    texts = draw.standard_normal((60, 8)).astype(np.float32)
    vectors = np.tile(texts / np.linalg.norm(texts, axis=1, keepdims=True), (40, 1))
    rows = pl.DataFrame({"chunk_id": [f"c{row}" for row in range(len(vectors))]})
    rows = rows.with_columns(vector=pl.Series(vectors, dtype=pl.Array(pl.Float32, 8)))
    table = lancedb.connect(str(tmp_path)).create_table("paragraph", rows.to_arrow())
    build_neighbour_index(table)
    found = find_nearest(table, vectors[3], count=10, is_indexed=True)
    assert {int(row["chunk_id"].removeprefix("c")) % 60 for row in found} == {3}
