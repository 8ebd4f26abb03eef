"""Unsure references are queried about with their context; only a model's verbatim answer changes a row."""

from __future__ import annotations

from typing import Any

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets.extraction.references.ambiguous import apply_reference_proposals, make_reference_questions
from taxkg_assets.extraction.references.linked import LED_COLUMNS
from taxkg_assets.prompts.contract import Evidence, ProposalOutcome
from taxkg_assets.prompts.document_tasks import ReferenceProposal
from taxkg_assets.schemas import Anchors, References, Sections

_TEXT = "It is shown. Copy it from box 3 to the sum."
_SENTENCE = (13, len(_TEXT))
_ID = "doc:p0001:e0001"


def _tables(
    confidence: float = 0.7,
) -> tuple[dy.DataFrame[References], dy.DataFrame[Sections], dy.DataFrame[Anchors]]:
    piece = {"start": 0, "end": len(_TEXT), "page": 1, "x0_pt": 0.0, "y0_pt": 0.0, "x1_pt": 9.0, "y1_pt": 9.0}
    section = {"element_id": [_ID], "document_id": ["doc"], "anchor_id": ["doc#1"], "text": [_TEXT]}
    sections = Sections.sample(overrides={**section, "role": ["BodyText"], "pieces": [[piece]]})
    anchors = Anchors.sample(
        overrides={
            "anchor_id": ["doc#1"],
            "document_id": ["doc"],
            "kind": ["box"],
            "key": ["box_3"],
            "heading": ["Box 3."],
            "parent_anchor_id": [None],
            "element_id": ["doc:p0001:e0000"],
        }
    )
    at = _TEXT.index("box 3")
    row = {
        "document_id": ["doc"],
        "page": [1],
        "element_id": [_ID],
        "anchor_id": ["doc#1"],
        "start": [_SENTENCE[0]],
        "end": [_SENTENCE[1]],
        "mention_start": [at],
        "mention_end": [at + 5],
        "kind": ["box"],
        "target": ["box_3"],
        "target_form": ["9999-Y"],
        "evidence": [_TEXT[slice(*_SENTENCE)]],
        "is_self": [False],
        "relation": ["references"],
        "polarity": ["positive"],
        "confidence": [confidence],
        "rule_id": ["box.plain_mention"],
        "created_by": ["regex"],
        **{name: [None] for name in LED_COLUMNS},
    }
    frame = pl.DataFrame(row, schema=References.create_empty().schema)
    return References.validate(frame), sections, anchors


def _answer(item_id: str, **changes: Any) -> ProposalOutcome[ReferenceProposal]:
    given = {"target": "box_3", "quote": "from box 3", "by": "llm", **changes}
    start = _TEXT.index(given["quote"]) if given["quote"] in _TEXT else _SENTENCE[0]
    pointer = f"{_ID}:{start}-{start + len(given['quote'])}"
    proposal = ReferenceProposal(
        item_id=item_id,
        confidence=0.95,
        evidence=(Evidence(pointer=pointer, quote=given["quote"]),),
        target=given["target"],
        relation="includes",
        polarity="positive",
    )
    return ProposalOutcome(item_id=item_id, proposal=proposal, created_by=given["by"], model="m")


def test_an_unsure_reference_is_queried_with_its_sentence_and_headings() -> None:
    (item,) = make_reference_questions(*_tables())
    assert [block.text for block in item.blocks] == ["Copy it from box 3 to the sum.", "Box 3."]
    assert item.blocks[0].text[item.mention_start :].startswith(item.mention)
    assert item.mention == "box 3"
    assert [candidate.target for candidate in item.candidates] == ["box_3 (Form 9999-Y)", "box_3"]
    assert make_reference_questions(*_tables(confidence=0.9)) == []


def test_a_verified_answer_takes_the_place_of_the_guess() -> None:
    tables = _tables()
    (item,) = make_reference_questions(*tables)
    (row,) = apply_reference_proposals(tables[0], [_answer(item.item_id)]).to_dicts()
    named = {name: row[name] for name in ("target", "target_form", "relation", "confidence", "created_by")}
    assert named == {
        "target": "box_3",
        "target_form": "",
        "relation": "includes",
        "confidence": 0.95,
        "created_by": "llm",
    }
    assert row["evidence"] == item.blocks[0].text


@pytest.mark.parametrize(
    "changes",
    [{"by": "rule"}, {"quote": "from box 4"}, {"quote": "It is shown."}, {"target": "box_4"}, {"target": None}],
    ids=["of a rule", "not verbatim", "another sentence", "no candidate", "no answer"],
)
def test_any_other_answer_leaves_the_row(changes: dict[str, Any]) -> None:
    tables = _tables()
    (item,) = make_reference_questions(*tables)
    assert apply_reference_proposals(tables[0], [_answer(item.item_id, **changes)]).equals(tables[0])
