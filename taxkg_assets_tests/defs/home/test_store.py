"""The store: what a commit states about itself, what it refuses, and that other documents' rows survive."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import polars as pl
import pytest
from deltalake import DeltaTable, write_deltalake

from taxkg_assets.defs.home.contracts import ContractError, schema_of
from taxkg_assets.defs.home.renamed_columns import RENAMED_COLUMNS
from taxkg_assets.defs.home.store import Store
from taxkg_assets.digests import frame_digest
from taxkg_assets.schemas import Faces, QueryLog, Release, Reranker, Sections


def faces(document_id: str, keys: list[str]) -> pl.DataFrame:
    """Rows of one document."""
    rows = [{"document_id": document_id, "box_key": k, "page": 1, "confidence": 1.0, "label": ""} for k in keys]
    return Faces.sample(overrides=rows)


def test_a_broken_row_stops_the_write_and_leaves_the_table(tmp_path: Path) -> None:
    store = Store(tmp_path)
    before = store.write("faces", faces("a", ["box_1"]), inputs="x")
    broken = faces("b", ["box_1"]).with_columns(confidence=pl.lit(2.0))
    with pytest.raises(ContractError, match="confidence"):
        store.write("faces", broken, inputs="y")
    assert store.state("faces") == before
    assert store.read("faces")["document_id"].to_list() == ["a"]


@pytest.mark.parametrize(
    "change", [lambda f: f.drop("label"), lambda f: f.with_columns(extra=pl.lit(1)), lambda f: pl.concat([f, f])]
)
def test_columns_and_keys_are_part_of_the_contract(tmp_path: Path, change: object) -> None:
    assert callable(change)
    with pytest.raises(ContractError):
        Store(tmp_path).write("faces", change(faces("a", ["box_1"])), inputs="x")
    assert not Store(tmp_path).exists("faces")


def test_replacing_a_document_leaves_the_others_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    both = pl.concat([faces("a", ["box_1", "box_2"]), faces("b", ["box_1"])])
    store.replace_documents("faces", both, documents={"a": {"content": "1"}, "b": {"content": "2"}})
    state = store.replace_documents("faces", faces("a", ["box_3"]), documents={"a": {"content": "3"}})
    assert store.read("faces").select("document_id", "box_key").rows() == [("a", "box_3"), ("b", "box_1")]
    assert state.documents == {"a": {"content": "3"}, "b": {"content": "2"}}
    state = store.replace_documents("faces", faces("a", [])[:0], documents={"a": None})
    assert store.read("faces")["document_id"].to_list() == ["b"]
    assert state.documents == {"b": {"content": "2"}}


def test_a_name_with_quotes_is_only_a_name(tmp_path: Path) -> None:
    store = Store(tmp_path)
    odd = "o'brien') OR ('1'='1"
    store.replace_documents("faces", faces("b", ["box_1"]), documents={"b": {"content": "2"}})
    store.replace_documents("faces", faces(odd, ["box_1"]), documents={odd: {"content": "1"}})
    store.replace_documents("faces", faces(odd, [])[:0], documents={odd: None})
    assert store.read("faces")["document_id"].to_list() == ["b"]


def test_eight_writers_lose_no_document(tmp_path: Path) -> None:
    names = [f"d{n}" for n in range(16)]

    def put(name: str) -> None:
        Store(tmp_path).replace_documents("faces", faces(name, ["box_1"]), documents={name: {"content": name}})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, names))
    assert sorted(Store(tmp_path).read("faces")["document_id"]) == sorted(names)
    state = Store(tmp_path).state("faces")
    assert state is not None
    assert sorted(state.documents) == sorted(names)


def test_the_clock_is_no_part_of_the_content() -> None:
    frame = Release.sample(2)
    later = frame.with_columns(pl.col("released_at").dt.offset_by("1d"))
    assert frame_digest(frame) == frame_digest(later)
    assert frame_digest(frame) != frame_digest(frame.with_columns(model_name=pl.lit("other")))


def test_a_foreign_commit_is_noticed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    before = store.write("faces", faces("a", ["box_1"]), inputs="x")
    faces("a", ["box_9"]).write_delta(store.table_uri("faces"), mode="overwrite")
    after = store.state("faces")
    assert after is not None
    assert after.inputs != before.inputs
    assert after.content != before.content


def test_the_way_to_a_frame_is_no_part_of_the_content() -> None:
    frame = Faces.sample(4)
    other_way = pl.concat([frame.head(1), frame]).slice(1)
    assert frame_digest(frame) == frame_digest(other_way)
    changed = frame.with_columns(bbox=pl.col("bbox").struct.with_fields(x0_pt=pl.lit(-1.0)))
    assert frame_digest(frame) != frame_digest(changed)


def duckdb_over_arrow(uri: str) -> pl.DataFrame:
    """As docs/scale.md shows it."""
    sections = DeltaTable(uri).to_pyarrow_dataset()
    return duckdb.from_arrow(sections).pl()


def duckdb_over_files(uri: str) -> pl.DataFrame:
    """As docs/scale.md shows it."""
    return duckdb.read_parquet(DeltaTable(uri).file_uris()).pl()


@pytest.mark.parametrize("read", [pl.read_delta, duckdb_over_arrow, duckdb_over_files])
def test_other_programs_read_what_is_and_nothing_that_was_replaced(
    read: Callable[[str], pl.DataFrame], tmp_path: Path
) -> None:
    store = Store(tmp_path)
    for content, count in (("1", 3), ("2", 2)):
        for document in ("a", "b"):
            rows = [{"document_id": document, "element_id": f"{document}:{content}.{ix}"} for ix in range(count)]
            store.replace_documents(
                "sections", Sections.sample(overrides=rows), documents={document: {"content": content}}
            )
    ours = store.read("sections")
    assert ours.height == 4
    assert read(store.table_uri("sections")).sort("element_id").equals(ours.sort("element_id"))


def test_a_table_of_an_earlier_release_is_read_under_the_new_names(tmp_path: Path) -> None:
    store = Store(tmp_path)
    rows = Reranker.sample(overrides=[{"name": "late-1", "candidate_score": 0.5}])
    write_deltalake(store.table_uri("reranker"), rows.rename({"candidate_score": "own_score"}))
    assert store.read("reranker").equals(rows)
    assert store.head("reranker", 1).columns == rows.columns
    store.write("reranker", rows, inputs="x")
    assert "own_score" not in DeltaTable(store.table_uri("reranker")).schema().to_json()


def test_rows_are_appended_to_a_table_of_an_earlier_release(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = (QueryLog.sample(overrides=[{"entry_id": name}]) for name in ("a", "b"))
    write_deltalake(store.table_uri("query_log"), first.rename({"received_at": "asked_at"}))
    store.append("query_log", second)
    assert store.read("query_log").equals(pl.concat([first, second]))
    assert "asked_at" not in DeltaTable(store.table_uri("query_log")).schema().to_json()


def test_every_renamed_column_exists() -> None:
    for table, renamed in RENAMED_COLUMNS.items():
        columns = schema_of(table).columns()
        assert set(renamed.values()) <= set(columns)
        assert not set(renamed) & set(columns)


def test_the_newest_commit_is_read_from_the_names_of_the_log(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.version("faces") == -1
    for number in range(12):
        state = store.write("faces", faces("a", [f"box_{number}"]), inputs=str(number))
        (Path(store.table_uri("faces")) / "_delta_log" / f"{number + 90:020}.json.tmp").touch()
        table = store.open_table("faces")
        assert table is not None
        assert store.version("faces") == state.version == table.version()
        assert store.count("faces") == 1


def test_a_copied_home_has_counts_of_its_own(tmp_path: Path) -> None:
    first = Store(tmp_path / "first")
    first.write("faces", faces("a", ["box_1"]), inputs="x")
    copied = Store(shutil.copytree(tmp_path / "first", tmp_path / "copy"))
    for store, keys in ((first, ["box_1", "box_2"]), (copied, ["box_1", "box_2", "box_3"])):
        store.write("faces", faces("a", keys), inputs="y")
        assert store.count("faces") == len(keys)


def test_a_table_that_was_made_again_in_its_place_is_read_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for key in ("box_1", "box_2"):
        state = store.write("faces", faces("a", [key]), inputs=key)
        assert (state.inputs, store.state("faces")) == (key, state)
        assert store.read("faces")["box_key"].to_list() == [key]
        assert store.count("faces") == 1
        shutil.rmtree(store.table_uri("faces"))
        assert store.state("faces") is None
        assert not store.exists("faces")


def test_an_older_version_is_read_as_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path)
    versions = [store.write("faces", faces("a", [key]), inputs=key).version for key in ("box_1", "box_2")]
    for _ in range(2):
        assert [store.read("faces", version=v)["box_key"].item() for v in versions] == ["box_1", "box_2"]
    assert store.read("faces")["box_key"].item() == "box_2"


def test_rows_of_files_without_a_column_lack_its_value(tmp_path: Path) -> None:
    store = Store(tmp_path)
    whole = faces("b", ["box_1"])
    write_deltalake(store.table_uri("faces"), faces("a", ["box_1"]).drop("label"))
    write_deltalake(store.table_uri("faces"), whole, mode="append", schema_mode="merge")
    found = store.read("faces")
    assert found.columns == whole.columns
    assert found["label"].to_list() == [None, *whole["label"]]
    assert found.equals(pl.read_delta(store.table_uri("faces")).sort("document_id").select(whole.columns))


def test_a_table_that_another_program_partitioned_is_read(tmp_path: Path) -> None:
    store, rows = Store(tmp_path), pl.concat([faces("a", ["box_1"]), faces("b", ["box_1"])])
    write_deltalake(store.table_uri("faces"), rows, partition_by=["document_id"])
    assert store.read("faces").equals(rows)
    assert store.count("faces") == 2
