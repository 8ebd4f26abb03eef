"""Every prompt file: its schema is that of its task, its examples keep it, and their evidence holds."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path

import pytest

from taxkg_assets.llm.evidence import BlockEvidence
from taxkg_assets.llm.rule_proposer import RULES, RuleProposer
from taxkg_assets.prompts.loader import PREFACE, load_prompt
from taxkg_assets.prompts.tasks import TASKS

PROMPTS = Path(str(files("taxkg_assets.prompts")))


def test_every_task_has_a_prompt_and_a_rule() -> None:
    named = {path.stem for path in PROMPTS.glob("*.md")} - {PREFACE}
    assert named == set(TASKS) == set(RULES)


@pytest.mark.parametrize("name", TASKS)
def test_the_schema_is_the_tasks(name: str) -> None:
    """TAXKG_REWRITE_GOLDEN=1 writes it again."""
    shown, wanted = load_prompt(name).schema, TASKS[name].schema()
    if os.environ.get("TAXKG_REWRITE_GOLDEN") and shown != wanted:
        path = PROMPTS / f"{name}.md"
        head, _, rest = path.read_text(encoding="utf8").partition("```json schema\n")
        tail = rest.partition("\n```")[2]
        path.write_text(f"{head}```json schema\n{json.dumps(wanted, indent=1)}\n```{tail}", encoding="utf8")
        load_prompt.cache_clear()
        shown = load_prompt(name).schema
    assert shown == wanted


@pytest.mark.parametrize("name", TASKS)
def test_examples_are_what_the_task_wants(name: str) -> None:
    task, prompt = TASKS[name], load_prompt(name)
    assert prompt.instructions.endswith(".")
    assert 2 <= len(prompt.examples) <= 3
    for example in prompt.examples:
        for raw_item, raw_proposal in zip(example["items"], example["proposals"], strict=True):
            item, proposal = task.item.model_validate(raw_item), task.proposal.model_validate(raw_proposal)
            assert proposal.item_id == item.item_id
            assert proposal.find_validation_error(item) == ""
            assert proposal.with_verified_evidence(BlockEvidence(item.blocks)) == proposal


@pytest.mark.parametrize("name", sorted(set(TASKS) - {"hyde", "metadata_enrichment"}))
def test_examples_show_both_answers(name: str) -> None:
    """One that finds something, and one that finds nothing, or nothing to index; what is imagined claims nothing."""
    task = TASKS[name]
    made = [task.proposal.model_validate(row) for example in load_prompt(name).examples for row in example["proposals"]]
    shown = {
        (getattr(row, "verdict", ""), getattr(row, "part", "") == "artifact", row.needs_evidence()) for row in made
    }
    assert len(shown) > 1


@pytest.mark.parametrize("name", TASKS)
def test_the_rule_gives_what_a_model_would_and_says_that_it_is_none(name: str) -> None:
    task = TASKS[name]
    items = [task.item.model_validate(raw) for example in load_prompt(name).examples for raw in example["items"]]
    for item, row in zip(items, RuleProposer().propose(task, items), strict=True):
        assert (row.created_by, row.model, row.call_id, row.failure) == ("rule", "rules", "", "")
        assert isinstance(row.proposal, task.proposal)
        assert row.proposal.item_id == item.item_id
        assert row.proposal.find_validation_error(item) == ""
        assert not row.proposal.needs_evidence() or row.proposal.evidence
