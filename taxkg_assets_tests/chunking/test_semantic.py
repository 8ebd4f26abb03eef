"""Chunks by meaning: one subject each, nothing lost, judged, refined once, and never believed beyond the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from taxkg_assets import schemas
from taxkg_assets.chunking.micro_blocks import find_micro_blocks
from taxkg_assets.chunking.semantic import (
    SemanticUnit,
    find_semantic_units,
    find_weak_layouts,
    score_accepted,
    score_boundary_confidence,
)
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.prompts.contract import ProposalOutcome, Task
from taxkg_assets.prompts.document_tasks import QualityProposal
from taxkg_assets.prompts.tasks import QUALITY_VALIDATION
from taxkg_assets.rules.models.semantic import load_semantic
from taxkg_assets_tests.chunking.plain import CARS, DEPOSITS, RENT, encode, section_of


def _units(proposer: Any = None) -> list[SemanticUnit]:
    blocks = find_micro_blocks([section_of([*RENT, *DEPOSITS]), section_of(CARS, number=2)])
    return find_semantic_units(blocks, title="A guide", proposer=proposer or RuleProposer(), encode=encode)


def test_units_begin_at_headings_that_no_layout_shows() -> None:
    units = _units()
    assert [unit.blocks[0].text for unit in units] == [RENT[0], DEPOSITS[0], CARS[0]]
    assert [unit.title for unit in units] == [RENT[0], DEPOSITS[0], CARS[0]]
    assert [block.text for unit in units for block in unit.blocks] == [*RENT, *DEPOSITS, *CARS]
    assert {unit.status for unit in units} == {"accepted"}
    assert score_accepted(units) == 1.0
    assert 0.5 < score_boundary_confidence(units) <= 1.0
    assert "deposit" in units[1].tags


def test_the_same_text_gives_the_same_units() -> None:
    assert _units() == _units()


def test_a_full_unit_is_cut_where_its_last_paragraph_begins() -> None:
    long = (
        "The {} of the house is let with the house itself, so that nothing is entered for it on any line of the form."
    )
    rooms = ("cellar", "garden", "attic", "stable", "kitchen", "porch")
    paragraph = [*(long.format(room) for room in rooms), "It is empty."]
    paragraphs = paragraph * 3
    blocks = find_micro_blocks([section_of(paragraphs)])
    units = find_semantic_units(blocks, title="A guide", proposer=RuleProposer(), encode=encode)
    assert len(units) > 1
    assert all(unit.blocks[0].begins_line for unit in units)


def test_headings_without_text_do_not_make_one_endless_unit() -> None:
    blocks = find_micro_blocks([section_of([f"Deposits held in house {n}." for n in range(200)])])
    units = find_semantic_units(blocks, title="A guide", proposer=RuleProposer(), encode=encode)
    assert sum(len(unit.blocks) for unit in units) == len(blocks) == 200
    assert max(unit.words for unit in units) <= load_semantic().sizes.max_words


class _Strict(RuleProposer):
    """Rules, but what is a good chunk is decided here; the first round has its own verdicts."""

    def __init__(self, *rounds: Any) -> None:
        self.rounds = list(rounds)
        self.queried = 0

    def propose(self, task: Task[Any, Any], items: Sequence[Any]) -> tuple[ProposalOutcome[Any], ...]:
        if task is not QUALITY_VALIDATION:
            return super().propose(task, items)
        verdict, action = self.rounds[min(self.queried, len(self.rounds) - 1)]
        self.queried += 1
        made = {"score": 0.3, "verdict": verdict, "action": action, "reason": "unreadable"}
        proposals = [
            QualityProposal.model_validate({"item_id": i.item_id, "confidence": 1.0, "evidence": (), **made})
            for i in items
        ]
        return tuple(ProposalOutcome(p.item_id, p, "rule", "rules") for p in proposals)


@pytest.mark.parametrize(("action", "count"), [("split", 6), ("merge_previous", 1), ("merge_next", 1)])
def test_one_cycle_splits_or_joins_and_judges_again(action: str, count: int) -> None:
    proposer = _Strict(("REFINE", action), ("ACCEPT", "none"))
    units = _units(proposer)
    assert [block.text for unit in units for block in unit.blocks] == [*RENT, *DEPOSITS, *CARS]
    assert (len(units), {unit.status for unit in units}) == (count, {"accepted"})
    assert proposer.queried == 3  # nothing was accepted at first: a second cycle is forced


def test_what_stays_bad_is_not_accepted_and_says_why() -> None:
    units = _units(_Strict(("REJECT", "none")))
    assert {(unit.status, unit.reason) for unit in units} == {("rejected", "unreadable")}


def test_weak_layouts_are_long_texts_with_next_to_no_headings() -> None:
    def sections(document_id: str, words: int) -> dict[str, Any]:
        text = "word " * words
        return {**section_of(["x"]), "document_id": document_id, "element_id": document_id, "text": text, "pieces": []}

    rows = [sections("plain", 400), sections("short", 40), sections("headed", 900), sections("unsure", 900)]
    anchors = [
        {"anchor_id": f"{d}{n}", "document_id": d, "confidence": c, "page": 1, "repeat_ix": n}
        for d, c in (("headed", 0.9), ("unsure", 0.3))
        for n in range(3)
    ]
    found = find_weak_layouts(
        schemas.Sections.cast(schemas.Sections.create_empty().clear().vstack(_frame(rows))),
        schemas.Anchors.sample(overrides=anchors),
    )
    assert found == {"plain", "unsure"}


def _frame(rows: list[dict[str, Any]]) -> Any:
    import polars as pl

    return pl.DataFrame(rows, schema=schemas.Sections.create_empty().schema)
