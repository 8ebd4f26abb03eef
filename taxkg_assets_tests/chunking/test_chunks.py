"""Units are whole paragraphs of one anchor or rows of one table; nothing is lost, long text is cut at sentences."""

from __future__ import annotations

from typing import Any

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.chunking.chunks import build_chunks
from taxkg_assets.chunking.coverage import find_uncovered_sections
from taxkg_assets.chunking.rows import count_tokens
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.settings import Settings

CORNERS = {"x0_pt": 50.0, "x1_pt": 300.0}


def _frame(schema: type[dy.Schema], rows: list[dict[str, Any]]) -> Any:
    return schema.validate(pl.DataFrame(rows, schema=schema.create_empty().schema))


def _piece(line: int, page: int = 1, start: int = 0, end: int = 1) -> dict[str, Any]:
    return {"start": start, "end": end, "page": page, "y0_pt": 100.0 + 12 * line, "y1_pt": 110.0 + 12 * line, **CORNERS}


def _section(number: int, text: str, **columns: Any) -> dict[str, Any]:
    return {
        "element_id": f"d:p0001:e{number:04d}",
        "anchor_id": "d#1",
        "document_id": "d",
        "page": 1,
        "paragraph_ix": number,
        "source": "layout",
        "role": "BodyText",
        "table_id": None,
        "text": text,
        "element_ids": [f"d:p0001:e{number:04d}"],
        "pieces": [_piece(number, end=len(text))],
        **columns,
    }


def _build(sections: list[dict[str, Any]], tables: list[dict[str, Any]] | None = None) -> Any:
    box = {"y0_pt": 80.0, "y1_pt": 90.0, **CORNERS}
    anchor = {
        "document_id": "d", "page": 1, "kind": "section", "key": None, "parent_anchor_id": None, "form": "",
        "perspective": "filer", "repeat_ix": 0, "source": "layout", "element_id": "d:h", "confidence": 1.0, "bbox": box,
    }  # fmt: skip
    anchors = [
        {**anchor, "anchor_id": "d#0", "heading": "Specific Instructions"},
        {
            **anchor,
            "anchor_id": "d#1",
            "heading": "Box 7. Rent",
            "kind": "box",
            "key": "box_7",
            "parent_anchor_id": "d#0",
        },
        {**anchor, "anchor_id": "d#2", "heading": "Fees", "parent_anchor_id": "d#1"},
    ]
    documents = schemas.Documents.sample(
        overrides=[
            {"document_id": "d", "title": "Instructions for Form 2077-ZED (2031)", "form": "2077-ZED",
             "revision": "2031", "is_draft": False, "doc_type": "filer_instructions"}
        ]
    )  # fmt: skip
    return build_chunks(
        documents=documents,
        sections=_frame(schemas.Sections, sections),
        tables=_frame(schemas.Tables, tables or []),
        anchors=_frame(schemas.Anchors, anchors),
        reviews=schemas.Reviews.create_empty(),
        settings=Settings(),
        proposer=RuleProposer(),
        encode=lambda texts: pytest.fail("only weak layouts need vectors"),
    )


def test_short_paragraphs_of_one_anchor_stand_together_under_its_heading() -> None:
    chunks = _build(
        [_section(0, "Enter the rent."), _section(1, "Leave out fees."), _section(2, "Ask.", anchor_id="d#2")]
    )
    assert chunks["text"].to_list() == ["Box 7. Rent\nEnter the rent.\nLeave out fees.", "Fees\nAsk."]
    assert chunks["anchor_key"].to_list() == ["box_7", "box_7"]
    assert chunks["context"][1] == (
        "Instructions for Form 2077-ZED (2031), instructions for filers > Specific Instructions > Box 7. Rent > Fees"
    )
    assert chunks["node_ids"].to_list()[0] == ["d:p0001:e0000", "d:p0001:e0001"]


def test_long_paragraph_is_cut_at_sentences_with_its_own_rectangles() -> None:
    sentences = [f"Sentence number {n} speaks of the rent of a berth in the harbour." for n in range(40)]
    text = " ".join(sentences)
    width = len(text) // 20
    pieces = [_piece(line, start=line * width, end=(line + 1) * width) for line in range(20)]
    chunks = _build([_section(0, text, pieces=pieces)]).sort("chunk_ix")
    assert chunks.height > 1
    assert all(part.endswith("harbour.") for part in chunks["text"])
    tops = [boxes[-1]["y1_pt"] for boxes in chunks["bboxes"]]
    assert tops == sorted(tops)
    assert tops[0] < tops[-1]


def test_rectangles_of_neighboring_lines_are_joined_and_pages_kept_apart() -> None:
    pieces = [_piece(0), _piece(1), _piece(0, page=2)]
    chunks = _build([_section(0, "Rent runs over two pages.", pieces=pieces, anchor_id=None)])
    assert [(box["page"], box["y0_pt"], box["y1_pt"]) for box in chunks["bboxes"][0]] == [(1, 100, 122), (2, 100, 110)]


def test_table_rows_repeat_their_header() -> None:
    body = [f"| {n} feet | {n * 3} | {n * 5} |" for n in range(80)]
    table = {
        "table_id": "d:p0001:t0",
        "document_id": "d",
        "page": 1,
        "title": "Berth duty",
        "markdown": "\n".join(["| Length | Duty > Summer | Duty > Winter |", "| --- | --- | --- |", *body]),
        "cells": [],
        "bbox": {"y0_pt": 100.0, "y1_pt": 300.0, **CORNERS},
        "has_headers": True,
    }
    chunks = _build([_section(0, "Berth duty", role="TableBlock", table_id="d:p0001:t0")], [table]).sort("chunk_ix")
    assert chunks.height > 1
    assert all(text.startswith("Berth duty\nLength| Duty > Summer| Winter\n") for text in chunks["text"])
    rows = [line for text in chunks["text"] for line in text.splitlines()[2:]]
    assert rows == [f"{n} feet| {n * 3}| {n * 5}" for n in range(80)]
    assert set(chunks["level"]) == {"table"}


def test_every_section_is_covered_and_a_lost_one_is_found() -> None:
    long = " ".join(f"Case {n} stands for itself; and no other." for n in range(90)) + " " + "word " * 400
    sections = [_section(0, "Enter the rent."), _section(1, long.strip()), _section(2, "Ask.", anchor_id="d#2")]
    chunks = _build(sections)
    frame = _frame(schemas.Sections, sections)
    assert find_uncovered_sections(frame, chunks).height == 0
    fewer = schemas.Chunks.validate(
        chunks.with_columns(status=pl.when(pl.col("chunk_ix") == 1).then(pl.lit("rejected")).otherwise("status"))
    )
    assert find_uncovered_sections(frame, fewer)["element_id"].to_list() == ["d:p0001:e0001"]


def test_built_twice_the_same() -> None:
    sections = [_section(n, f"Paragraph {n} of the rent. " * 20) for n in range(9)]
    assert _build(sections).equals(_build(list(reversed(sections))))


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("rent", 1), ("the rent, paid", 4), ("depreciation", 2)])
def test_tokens_are_estimated_from_words_and_marks(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens
