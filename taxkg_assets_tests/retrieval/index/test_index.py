"""What is written to LanceDB comes back, and the self-checks see a broken index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import dataframely as dy
import numpy as np
import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.retrieval.encoding.codes import build_codes
from taxkg_assets.retrieval.index import scores
from taxkg_assets.retrieval.index.bm25 import build_lexical
from taxkg_assets.retrieval.index.embeddings import build_embeddings, stack_vectors
from taxkg_assets.retrieval.index.index import (
    SearchIndex,
    build_index,
    build_index_rows,
    find_unretrievable_chunks,
    read_index,
    score_self_check,
)
from taxkg_assets.retrieval.index.levels import build_units
from taxkg_assets.retrieval.index.precomputed import TERM_SOURCE_COLUMNS, build_precomputed
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.rules.models.ranking import Codes
from taxkg_assets.settings import Settings
from taxkg_assets_tests.retrieval.conftest import TermEncoder

if TYPE_CHECKING:
    import lancedb


def _build(folder: Path, rows: pl.DataFrame) -> tuple[lancedb.DBConnection, dy.DataFrame[schemas.Index]]:
    import lancedb  # takes two seconds to load: not by every worker at collection

    connection = lancedb.connect(str(folder))
    units = build_units(rows, summaries=schemas.Summaries.create_empty())
    manifest = build_index(
        connection,
        rows,
        units=units,
        precomputed=build_precomputed(rows.drop("vector"), stack_vectors(rows["vector"]), units=units.drop("vector")),
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


def test_self_checks_see_an_index_that_holds_something_else(index_rows: pl.DataFrame) -> None:
    vectors, empty = stack_vectors(index_rows["vector"]), build_units(index_rows.clear(), summaries=pl.DataFrame())
    known = build_precomputed(index_rows.drop("vector"), vectors, units=empty.drop("vector"))
    assert score_self_check(known.codes, vectors) == 1.0
    assert find_unretrievable_chunks(known.lexical, index_rows).is_empty()
    others = np.random.default_rng(7).standard_normal((200, 8)).astype(np.float32)
    assert score_self_check(build_codes(others[::-1]), others) < 0.99
    assert score_self_check(build_codes(vectors[1:]), vectors) == 0.0
    assert find_unretrievable_chunks(build_lexical(["word"] for _ in range(index_rows.height)), index_rows).height > 0
    fewer = index_rows.head(3)
    assert find_unretrievable_chunks(build_lexical(own.split(" ") for own in fewer["terms"]), index_rows).height > 0


def test_the_rows_of_a_long_table_do_not_fail_the_check() -> None:
    random = np.random.default_rng(5)
    rows = random.normal(size=384) + 0.01 * random.normal(size=(800, 384))
    others = random.normal(size=(1_200, 384))
    both = np.concatenate([rows, others]).astype(np.float32)
    vectors = both / np.linalg.norm(both, axis=1, keepdims=True)
    assert score_self_check(build_codes(vectors), vectors) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_codes_keep_the_recall_of_the_law_at_a_size_where_bits_choose(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scores, "_limits", lambda: Codes(compared=800, thinned=8, oversize=1.5))
    draw = np.random.default_rng(seed)
    topics = np.repeat(draw.standard_normal((400, 384)), 50, axis=0)
    raw = (topics + 0.8 * draw.standard_normal(topics.shape)).astype(np.float32)
    vectors = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    assert score_self_check(build_codes(vectors), vectors) >= 0.99
    monkeypatch.setattr(scores, "_limits", lambda: Codes(compared=20, thinned=8, oversize=1.5))
    assert score_self_check(build_codes(vectors), vectors) < 0.99


def test_a_chunk_of_an_unknown_document_is_an_error(
    chunks: dy.DataFrame[schemas.Chunks], documents: dy.DataFrame[schemas.Documents]
) -> None:
    embeddings = build_embeddings(chunks, None, encoder=TermEncoder())
    fewer = schemas.Documents.validate(documents.filter(pl.col("document_id") != "town-code"))
    with pytest.raises(ValueError, match="town-code"):
        build_index_rows(chunks=chunks, documents=fewer, embeddings=embeddings, model_hash="terms-1")


def test_known_terms_are_taken_and_all_others_are_found(
    chunks: dy.DataFrame[schemas.Chunks], documents: dy.DataFrame[schemas.Documents], index_rows: pl.DataFrame
) -> None:
    embeddings = build_embeddings(chunks, None, encoder=TermEncoder())

    def build(known: pl.DataFrame | None) -> pl.DataFrame:
        return build_index_rows(
            chunks=chunks, documents=documents, embeddings=embeddings, model_hash="terms-1", old_terms=known
        )

    whole = build(None)
    before = whole.select(*TERM_SOURCE_COLUMNS, "terms")
    assert build(before).equals(whole)
    assert build(before.gather_every(2)).equals(whole), "a row that is not known is read"
    assert build(pl.concat([before, before])).equals(whole), "two rows may say the same"
    other = before.with_columns(text=pl.concat_str("text", pl.lit(".")), terms=pl.lit("wrong"))
    assert build(other).equals(whole), "another text has other terms"
    assert set(build(before.with_columns(terms=pl.lit("known")))["terms"]) == {"known"}


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
