"""The right box, form, copy and year on top, in the row format that every interface shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest

from taxkg_assets.retrieval.encoding.encoder import CosineScale, TokenVectors
from taxkg_assets.retrieval.encoding.wrapped_encoders import RememberingEncoder
from taxkg_assets.retrieval.index.index import SearchIndex
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Result
from taxkg_assets_tests.retrieval.conftest import TermEncoder

ROW = ["rank", "score", "document", "form", "revision", "doc_type", "page", "bboxes", "heading_path", "anchor_key"]
ROW += ["text", "node_id", "chunk_id", "via", "quality", "official_url"]


@pytest.mark.parametrize(
    ("query", "document", "key"),
    [
        ("what do I do with box 1b of my 2077-ZED", "f2077zed--2031", "box_1b"),
        ("box 1a on the 2030 form 2077-ZED I received", "f2077zed--2030", "box_1a"),
        ("2077-zed draft: tax kept back from my rent in box 1a", "f2077zed--2031-draft", "box_1a"),
        ("as issuer, what do we enter in 1a of the 2077ZED", "i2077zed--2031", "box_1a"),
        ("berth duty in Manhattan", "town-code", "sec_12-101"),
    ],
)
def test_right_passage_comes_first(searcher: Searcher, query: str, document: str, key: str) -> None:
    top = searcher.search(query, k=3)[0]
    assert (top.document, top.anchor_key) == (document, key)


def test_a_tuned_encoder_is_judged_by_the_cosines_that_its_base_would_give(searcher: Searcher) -> None:
    encoder = TermEncoder()
    encoder.scale = CosineScale(0.5, 0.25)
    plain = searcher.rank("harbour rent for repair fees").candidates
    scaled = replace(searcher, encoder=encoder).rank("harbour rent for repair fees").candidates
    assert {found.row: found.vector_rank for found in scaled} == {found.row: found.vector_rank for found in plain}
    cosines = {found.row: found.cosine for found in plain}
    assert all(found.cosine == pytest.approx(0.5 * cosines[found.row] + 0.25) for found in scaled)


class _TokenCounter(TermEncoder):
    """Notes the texts whose tokens it encodes."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.batches.append(list(texts))
        return super().encode_tokens(texts)


def test_tokens_of_many_questions_are_encoded_together(searcher: Searcher) -> None:
    questions = ["what do I do with box 1b of my 2077-ZED", "berth duty in Manhatan", "berth duty in Manhatan"]
    counter = _TokenCounter()
    together = replace(searcher, encoder=RememberingEncoder(counter))
    together.encode_questions(questions)
    together.encode_questions(["berth duty in Manhatan"])
    assert [len(batch) for batch in counter.batches] == [2]
    for question in questions:
        assert together.search(question, k=3) == searcher.search(question, k=3)
    assert len(counter.batches) == 1


def test_row_has_exactly_the_contract_columns(searcher: Searcher) -> None:
    rows = searcher.search("harbour rent", k=50)
    assert list(Result.model_fields) == ROW
    assert [row.rank for row in rows] == list(range(1, len(rows) + 1))
    assert all(row.page in {box.page for box in row.bboxes} for row in rows)
    assert set(rows[0].model_dump()["bboxes"][0]) == {"page", "x0", "y0", "x1", "y1"}


def test_a_passage_is_cited_where_its_hit_is(searcher: Searcher) -> None:
    """What was gathered begins on the page before; the node's evidence is on the hit's."""
    on_page_2 = pl.col("anchor_key") == "box_1b"
    pages = pl.when(on_page_2).then(2).otherwise(1).cast(pl.Int32)
    moved = pl.col("bboxes").list.eval(pl.element().struct.with_fields(page=pl.lit(2, pl.Int32)))
    index = searcher.index
    assert isinstance(index, SearchIndex)
    rows = index.rows.with_columns(page=pages, bboxes=pl.when(on_page_2).then(moved).otherwise("bboxes"))
    turned = Searcher(index=replace(index, rows=rows), encoder=searcher.encoder)
    top = turned.search("what do I do with box 1b of my 2077-ZED", k=1)[0]
    assert (top.anchor_key, top.page) == ("box_1b", 2)
    assert {box.page for box in top.bboxes} == {1, 2}


def test_filters_keep_only_what_was_requested(searcher: Searcher) -> None:
    assert {row.document for row in searcher.search("harbour rent", document="town-code")} == {"town-code"}
    assert {row.revision for row in searcher.search("harbour rent", year=2030)} == {"2030"}
    assert "town-code" not in {row.document for row in searcher.search("berth duty", form="2077-ZED")}


def test_no_text_is_handed_over_twice(searcher: Searcher) -> None:
    rows = searcher.search("repair fees harbour rent box 1a", k=50)
    ids = [chunk_id for row in rows for chunk_id in row.via.chunk_ids]
    assert len(ids) == len(set(ids)) > len(rows)


def test_paragraph_level_hands_over_the_hit_alone(searcher: Searcher) -> None:
    assert all(len(row.via.chunk_ids) == 1 for row in searcher.search("repair fees", level="paragraph", k=50))


def test_older_revision_of_the_same_text_comes_after_all_others(searcher: Searcher) -> None:
    rows = searcher.search("foreign vessels free of harbour duty", k=50, level="paragraph")
    same = [row.document for row in rows if row.anchor_key == "box_1b"]
    assert same[0] == "f2077zed--2031"
    assert [row.document for row in rows][1] not in ("f2077zed--2030", "f2077zed--2031-draft")


@pytest.mark.parametrize("query", ["", "???", "zzzz qqqq", "x" * 5000])
def test_odd_questions_do_not_fail(searcher: Searcher, query: str) -> None:
    assert isinstance(searcher.search(query), list)


@pytest.mark.parametrize(("level", "unit"), [("document", ("document",)), ("page", ("document", "page"))])
def test_each_document_or_page_is_ranked_once(searcher: Searcher, level: str, unit: tuple[str, ...]) -> None:
    rows = searcher.search("harbour rent of a berth", level=level, k=50)
    places = [tuple(getattr(row, name) for name in unit) for row in rows]
    assert len(places) == len(set(places)) == 5


def test_a_result_carries_the_official_address_of_its_section(searcher: Searcher) -> None:
    query = "berth duty in Manhattan"
    top = searcher.search(query, k=1)[0]
    assert top.official_url is None
    place = searcher.find_row(top.node_id)
    assert place is not None
    anchor_id = searcher.index_context.anchor_ids[place]
    assert anchor_id is not None
    address = "https://www.example.org/town-code#berths"
    known = replace(searcher, find_address={anchor_id: address}.get)
    assert [row.official_url for row in known.search(query, k=1)] == [address]


def test_an_index_page_is_no_passage_unless_there_is_no_other(searcher: Searcher) -> None:
    def search(is_index: pl.Expr) -> set[str]:
        path = pl.when(is_index).then(pl.lit("Booklet > Index > R")).otherwise("heading_path")
        rows = searcher.passages.rows.with_columns(heading_path=path)
        known = replace(searcher, index=replace(searcher.index, rows=rows))
        return {result.chunk_id for result in known.search("repair fees of a shipyard", k=20, level="paragraph")}

    is_of_fees = pl.col("heading_path").str.ends_with("Repair fees")
    fees = set(searcher.passages.rows.filter(is_of_fees)["chunk_id"])
    assert fees & search(pl.lit(False))
    assert not fees & search(is_of_fees)
    assert fees & search(pl.lit(True))
