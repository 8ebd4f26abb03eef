"""The default proposer: one deterministic rule a task, with the output of a model and a mark that it is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from taxkg_assets.llm import rule_questions, rule_text
from taxkg_assets.llm.evidence import BlockEvidence
from taxkg_assets.prompts.contract import AnyItem, AnyProposal, Judged, Task
from taxkg_assets.prompts.tasks import TASKS

NAME = "rules"


def _rule_of(task: str) -> Callable[[Any], Any]:
    name = f"propose_{task}"
    rule: Callable[[Any], Any] = getattr(rule_text, name, None) or getattr(rule_questions, name)
    return rule


RULES: Mapping[str, Callable[[Any], Any]] = {name: _rule_of(name) for name in TASKS}


class RuleProposer:
    """Answers every task by its rule."""

    fingerprint = NAME

    def propose(self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem]) -> tuple[Judged[AnyProposal], ...]:
        """One outcome per item; a rule's evidence is held to the same check as a model's."""
        return tuple(self._judge(task, item) for item in items)

    def _judge(self, task: Task[AnyItem, AnyProposal], item: AnyItem) -> Judged[AnyProposal]:
        proposal: AnyProposal = RULES[task.name](item)
        held = proposal.held(BlockEvidence(item.blocks))
        return Judged(item_id=item.item_id, proposal=held, created_by="rule", model=NAME)
