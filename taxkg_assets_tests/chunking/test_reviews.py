"""Decisions on chunks: the last one counts, while the text is the same; unaccepted text stays searchable as it was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.chunking.chunks import build_chunks
from taxkg_assets.chunking.coverage import find_uncovered_sections
from taxkg_assets.chunking.reviews import build_reviews, find_waiting, hash_text, summarize_chunks
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.settings import Settings
from taxkg_assets_tests.chunking.plain import CARS, DEPOSITS, RENT, encode, section_of
from taxkg_assets_tests.chunking.test_semantic import _Strict

NOW = datetime(2031, 5, 1, tzinfo=UTC)
SECTIONS = schemas.Sections.validate(
    pl.DataFrame(
        [section_of([*RENT, *DEPOSITS] * 5), section_of([*CARS] * 3, number=2)],
        schema=schemas.Sections.create_empty().schema,
    )
)


def _decision(chunk: dict[str, Any], decision: str, *, day: int = 0, text: str | None = None) -> dict[str, Any]:
    return {
        "chunk_id": chunk["chunk_id"], "text_hash": hash_text(text or chunk["text"]), "document_id": "d",
        "decision": decision, "reason": "read it", "decided_at": NOW + timedelta(days=day),
    }  # fmt: skip


def _documents(**columns: Any) -> dy.DataFrame[schemas.Documents]:
    row = {"document_id": "d", "title": "A guide", "doc_type": "publication", "tier": 2, "is_draft": False, **columns}
    return schemas.Documents.sample(overrides=[row])


def _chunks(proposer: Any, *decided: dict[str, Any]) -> dy.DataFrame[schemas.Chunks]:
    return build_chunks(
        documents=_documents(),
        sections=SECTIONS,
        tables=schemas.Tables.create_empty(),
        anchors=schemas.Anchors.create_empty(),
        reviews=build_reviews(old=schemas.Reviews.create_empty(), decided=decided),
        settings=Settings(),
        proposer=proposer,
        encode=encode,
    )


def test_accepted_units_take_the_place_of_structural_ones() -> None:
    chunks = _chunks(RuleProposer())
    assert set(chunks["created_by"]) == {"rule"}
    assert find_uncovered_sections(SECTIONS, chunks).is_empty()
    assert chunks["context"].str.contains("A guide").all()
    assert all(chunks["bboxes"].list.len() > 0)


def test_units_that_are_not_accepted_wait_and_their_text_falls_back() -> None:
    chunks = _chunks(_Strict(("REJECT", "none")))
    assert set(chunks.select("created_by", "status").iter_rows()) == {("rule", "rejected"), ("structural", "accepted")}
    assert find_uncovered_sections(SECTIONS, chunks).is_empty()
    waiting = find_waiting(chunks, _documents())
    assert (
        waiting.height
        == chunks.filter(pl.col("status") == "rejected").height
        == summarize_chunks(chunks)["not accepted"]
    )
    assert set(waiting["tier"]) == {2}
    assert set(find_waiting(chunks, _documents(tier=3))["tier"]) == {3}


def test_a_decision_holds_for_its_text_only() -> None:
    strict = _Strict(("REJECT", "none"))
    first, second, *_ = _chunks(strict).filter(pl.col("created_by") == "rule").to_dicts()
    chunks = _chunks(strict, _decision(first, "accepted"), _decision(second, "accepted", text="other words"))
    found = {row["chunk_id"]: (row["status"], row["reason"]) for row in chunks.iter_rows(named=True)}
    assert found[first["chunk_id"]] == ("accepted", "reviewed: read it")
    assert found[second["chunk_id"]] == ("rejected", "unreadable")
    assert first["chunk_id"] not in set(find_waiting(chunks, _documents())["chunk_id"])


def test_a_person_takes_an_accepted_chunk_out_of_the_index() -> None:
    first, *_ = _chunks(RuleProposer()).filter(pl.col("created_by") == "rule").to_dicts()
    assert first["status"] == "accepted"
    chunks = _chunks(RuleProposer(), _decision(first, "rejected"))
    found = chunks.filter(pl.col("chunk_id") == first["chunk_id"]).row(0, named=True)
    assert (found["status"], found["reason"]) == ("rejected", "reviewed: read it")
    assert find_waiting(chunks, _documents()).is_empty()
    assert find_uncovered_sections(SECTIONS, chunks).is_empty()


def test_the_last_decision_counts() -> None:
    chunk = {"chunk_id": "c", "text": "t"}
    old = build_reviews(old=schemas.Reviews.create_empty(), decided=[_decision(chunk, "accepted")])
    assert build_reviews(old=old, decided=[_decision(chunk, "rejected", day=1)])["decision"].to_list() == ["rejected"]
    assert build_reviews(old=old, decided=[_decision(chunk, "rejected", day=-1)])["decision"].to_list() == ["accepted"]


def test_headings_that_a_layout_does_show_begin_units_and_stand_in_them() -> None:
    anchor = {
        "anchor_id": "d#1", "document_id": "d", "page": 1, "kind": "section", "heading": "Of garages", "form": "",
        "perspective": "publication", "parent_anchor_id": None, "key": None,
    }  # fmt: skip
    under = SECTIONS.with_columns(anchor_id=pl.when(pl.col("page") == 2).then(pl.lit("d#1")))
    chunks = build_chunks(
        documents=_documents(),
        sections=schemas.Sections.validate(under),
        tables=schemas.Tables.create_empty(),
        anchors=schemas.Anchors.sample(overrides=[anchor]),
        reviews=schemas.Reviews.create_empty(),
        settings=Settings(chunker="semantic"),
        proposer=RuleProposer(),
        encode=encode,
    )
    headed, *rest = chunks.filter(pl.col("anchor_id") == "d#1").sort("chunk_ix").to_dicts()
    assert headed["text"].startswith(f"Of garages\n{CARS[0]}")
    assert headed["heading_path"] == f"A guide > Of garages > {CARS[0]}"
    assert not any("Of garages" in row["text"] for row in rest)
