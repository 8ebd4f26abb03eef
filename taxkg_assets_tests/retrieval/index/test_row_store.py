"""Rows read from LanceDB and from mapped files are the rows that were written."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from taxkg_assets.retrieval.encoding.vector import stack_vectors
from taxkg_assets.retrieval.index import fetched, row_store
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.fetched import FetchedFacts
from taxkg_assets.retrieval.index.index import write_passages
from taxkg_assets.retrieval.index.precomputed import MAPPED_COLUMNS
from taxkg_assets.retrieval.index.row_filter import RowFilter
from taxkg_assets.retrieval.index.row_store import LanceRows, Pages, StoredVectors
from taxkg_assets.retrieval.index.sections import build_section_means, compute_mean_vectors, open_sections
from taxkg_assets.retrieval.ranking.windows import SHOWN_COLUMNS

COLUMNS = ("text", "heading_path", "node_ids", "bboxes", "tags")


@pytest.fixture
def rows(index_rows: pl.DataFrame) -> pl.DataFrame:
    tags = pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(["Harbour Dues"])).otherwise(pl.lit([], pl.List(pl.String)))
    return index_rows.with_columns(tags=tags)


@pytest.fixture
def lance(tmp_path: Path, rows: pl.DataFrame) -> LanceRows:
    import lancedb  # takes two seconds to load: not by every worker at collection

    connection = lancedb.connect(tmp_path)
    write_passages(connection, rows.drop("vector"), stack_vectors(rows["vector"]))
    return LanceRows(connection.open_table("passages"), rows.select(MAPPED_COLUMNS))


def test_rows_come_as_they_were_written_in_the_order_requested(lance: LanceRows, rows: pl.DataFrame) -> None:
    queried = [5, 0, 3, 5]
    assert lance.height == rows.height
    for columns in (COLUMNS, ("terms",), ("tags",)):
        assert lance.read(queried, columns) == rows.select(columns)[queried].to_dict(as_series=False)


def test_nodes_and_chunks_lead_to_their_rows(lance: LanceRows, rows: pl.DataFrame) -> None:
    assert lance.find_node(rows["node_ids"][4][0]) == 4
    assert lance.find_node("no such node") is None
    assert lance.find_node("o'no such node") is None
    assert lance.find_chunk(rows["chunk_id"][4]) == 4


def test_a_chunk_whose_cells_were_forgotten_is_found_again(lance: LanceRows, rows: pl.DataFrame) -> None:
    facts = FetchedFacts(pl.DataFrame(), lance)
    facts.prefetch([2], ("chunk_id", "text"))
    assert facts.row_of_chunk[rows["chunk_id"][2]] == 2
    assert facts.row_of_chunk[rows["chunk_id"][4]] == 4
    with pytest.raises(KeyError):
        facts.row_of_chunk["no such chunk"]


def test_cells_of_one_fetch_are_cached_together_also_where_the_cache_is_full(
    lance: LanceRows, rows: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched, "MOST_CELLS", 4)
    columns = FetchedFacts(pl.DataFrame(), lance).columns
    columns.fetch([0, 1, 2], ("terms",))
    columns.fetch([1, 2, 3], ("terms",))
    assert columns["terms"].copy_cache() == {row: rows["terms"][row] for row in (1, 2, 3)}


def test_only_columns_that_lack_a_cell_are_read(lance: LanceRows, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = FetchedFacts(pl.DataFrame(), lance).columns
    columns.fetch([0, 1], ("text", "chunk_id"))
    read: list[tuple[list[int], list[str]]] = []

    def record(_: LanceRows, rows: list[int], names: list[str]) -> dict[str, list[str]]:
        read.append((rows, names))
        return {}

    monkeypatch.setattr(LanceRows, "read", record)
    columns.fetch([0, 1], ("text", "terms"))
    columns.fetch([0, 1], ("text",))
    assert read == [([0, 1], ["terms"])]


def test_cells_of_rows_are_read_at_once_and_one_by_one_where_the_cache_was_emptied(
    lance: LanceRows, rows: pl.DataFrame
) -> None:
    facts = FetchedFacts(pl.DataFrame(), lance)
    wanted = rows["heading_path"][[3, 0]].to_list()
    assert facts.read_cells([3, 0], "heading_path") == PassageFacts(rows).read_cells([3, 0], "heading_path") == wanted
    assert FetchedFacts(pl.DataFrame(), lance).columns["heading_path"].read([3, 0]) == wanted


def test_what_a_search_shows_is_not_read_from_the_database(rows: pl.DataFrame) -> None:
    store = LanceRows(None, rows.select(MAPPED_COLUMNS))
    assert store.read([2, 1], SHOWN_COLUMNS) == rows.select(SHOWN_COLUMNS)[[2, 1]].to_dict(as_series=False)


def test_a_filter_marks_the_rows_that_it_passes_one_by_one(rows: pl.DataFrame) -> None:
    facts = PassageFacts(rows)
    documents = np.arange(facts.document_number.max() + 1) % 2 == 0
    side = facts.perspectives[-1]
    narrow = RowFilter(documents=documents).narrow(perspective=side)
    passes = documents[facts.document_number] & (facts.perspective_number == facts.find_perspective(side))
    among = np.arange(0, rows.height, 3)
    assert narrow.mask(facts).tolist() == passes.tolist()
    assert narrow.mask(facts, among=among).tolist() == passes[among].tolist()
    starts, lengths = facts.uniform_runs
    assert np.repeat(facts.document_number[starts], lengths).tolist() == facts.document_number.tolist()


def test_tags_whatever_their_capitals(rows: pl.DataFrame) -> None:
    facts = PassageFacts(rows)
    assert np.flatnonzero(facts.find_tagged(" harbour dues")).tolist() == [3]
    assert not facts.find_tagged("mooring").any()
    assert facts.list_tags() == ["Harbour Dues"]
    assert facts.read_labels(np.array([0, 3]))[0] == frozenset()
    assert "harbour" in facts.read_labels(np.array([0, 3]))[1]


def test_mapped_pages_are_released_once_many_rows_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_store, "_ROWS_PER_RELEASE", 10)
    mapped = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    mapped.write(b"once read")
    pages = Pages(mapped)
    for rows, begin in ((6, b"once read"), (4, bytes(9))):
        pages.release_after(rows)
        assert mapped[:9] == begin


def test_stored_vectors_are_read_in_the_order_requested(tmp_path: Path) -> None:
    matrix = np.random.default_rng(7).standard_normal((600, 64)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", matrix)
    read = StoredVectors(tmp_path / "vectors.npy")
    for queried in ([5, 0, 5], [599, 2], [], [7]):
        assert np.array_equal(read[queried], matrix[queried])


def test_sections_point_where_their_passages_do() -> None:
    vectors = np.random.default_rng(7).standard_normal((7, 4)).astype(np.float32)
    anchors = np.array([0, 1, 1, 3, 2, 1, 3])
    sections = open_sections(anchors, means=build_section_means(anchors, vectors), vectors=vectors)
    found, exact = sections.read(np.array([3, 0, 1, 3, 2])), compute_mean_vectors(vectors, anchors, count=4)
    assert found[[0, 2, 3]] == pytest.approx(exact[[3, 1, 3]])
    assert np.array_equal(found[[1, 4]], vectors[[0, 4]])  # the only passages of theirs
