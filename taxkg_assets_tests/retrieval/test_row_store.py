"""Rows read from LanceDB are the rows of the frame, and a filter passes the same rows as SQL and as a mask."""

from __future__ import annotations

from pathlib import Path

import lancedb
import numpy as np
import polars as pl
import pytest

from taxkg_assets.retrieval.facts import PassageFacts
from taxkg_assets.retrieval.index import write_directions, write_passages
from taxkg_assets.retrieval.passage_index import find_mean_directions
from taxkg_assets.retrieval.row_filter import RowFilter
from taxkg_assets.retrieval.row_store import FrameRows, LanceRows, VectorFile
from taxkg_assets.retrieval.vector import stack_vectors

COLUMNS = ("text", "heading_path", "node_ids", "bboxes", "tags")


@pytest.fixture
def stores(tmp_path: Path, index_rows: pl.DataFrame) -> tuple[FrameRows, LanceRows]:
    tags = pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(["Harbour Dues"])).otherwise(pl.lit([], pl.List(pl.String)))
    rows, vectors = index_rows.drop("vector").with_columns(tags=tags), stack_vectors(index_rows["vector"])
    numbers = PassageFacts(rows).anchor_number
    directions = find_mean_directions(vectors, numbers, count=int(numbers.max()) + 1)
    connection = lancedb.connect(tmp_path)
    write_passages(connection, rows, vectors)
    write_directions(connection, directions)
    lance = LanceRows(connection.open_table("passages"), connection.open_table("directions"))
    return FrameRows(rows, vectors, directions), lance


def test_both_give_the_same_rows(stores: tuple[FrameRows, LanceRows]) -> None:
    frame, lance = stores
    asked = [5, 0, 3, 5]
    assert lance.height == frame.height
    assert lance.read(asked, COLUMNS).to_dicts() == frame.read(asked, COLUMNS).to_dicts()
    assert np.array_equal(lance.vectors(asked), frame.vectors(asked))
    assert np.array_equal(lance.directions([1, 0, 1]), frame.directions([1, 0, 1]))


def test_both_find_the_same_rows(stores: tuple[FrameRows, LanceRows]) -> None:
    frame, lance = stores
    node = frame.read([4], ["node_ids"])["node_ids"][0][0]
    anchor = frame.read([4], ["anchor_id"])["anchor_id"][0]
    for store in stores:
        assert store.find_node(node) == 4
        assert store.find_node("no such node") is None
        assert store.find_tagged("harbour dues") == [3]
        assert store.count_tags() == ["Harbour Dues"]
        assert store.find_table("no such table") == []
    assert frame.find_node(anchor) == lance.find_node(anchor)


def test_a_file_of_vectors_gives_rows_by_number(tmp_path: Path) -> None:
    matrix = np.random.default_rng(7).standard_normal((6, 4)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", matrix)
    read = VectorFile(tmp_path / "vectors.npy")
    assert np.array_equal(read[[5, 0, 5]], matrix[[5, 0, 5]])
    assert len(read) == 6


@pytest.mark.parametrize("perspective", [None, "filer", "nobody's"])
@pytest.mark.parametrize("drops", [(), (0,), (0, 1, 2, 3, 4)])
def test_a_filter_says_the_same_in_sql(
    stores: tuple[FrameRows, LanceRows], perspective: str | None, drops: tuple[int, ...]
) -> None:
    frame, lance = stores
    facts = PassageFacts(frame.frame)
    documents = np.array([number not in drops for number in range(int(facts.document_number.max()) + 1)])
    rows = RowFilter().narrow(documents=documents, perspective=perspective)
    where = rows.sql()
    search = lance.passages.search().where(where) if where else lance.passages.search()
    found = search.select(["row"]).limit(100).to_list()
    assert sorted(row["row"] for row in found) == np.flatnonzero(rows.mask(facts)).tolist()
