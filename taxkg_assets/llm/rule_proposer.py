"""The default proposer: one deterministic rule per task, with a model's output schema and `created_by="rule"`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from taxkg_assets.llm import rule_questions, rule_text
from taxkg_assets.llm.evidence import BlockEvidence
from taxkg_assets.prompts.contract import AnyItem, AnyProposal, ProposalOutcome, Task
from taxkg_assets.prompts.tasks import TASKS

NAME = "rules"


def _find_rule(task: str) -> Callable[[Any], Any]:
    """Return the function `propose_<task>`."""
    name = f"propose_{task}"
    rule: Callable[[Any], Any] = getattr(rule_text, name, None) or getattr(rule_questions, name)
    return rule


RULES: Mapping[str, Callable[[Any], Any]] = {name: _find_rule(name) for name in TASKS}


class RuleProposer:
    """A proposer that answers every task by rules."""

    fingerprint = NAME

    def propose(
        self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem]
    ) -> tuple[ProposalOutcome[AnyProposal], ...]:
        """Propose for all items by rule, with the same evidence check as for a model.

        Args:
            task: The task.
            items: Its items.

        Returns:
            One outcome per item, in order.
        """
        return tuple(self._propose_one(task, item) for item in items)

    def _propose_one(self, task: Task[AnyItem, AnyProposal], item: AnyItem) -> ProposalOutcome[AnyProposal]:
        proposal: AnyProposal = RULES[task.name](item)
        verified = proposal.with_verified_evidence(BlockEvidence(item.blocks))
        return ProposalOutcome(item_id=item.item_id, proposal=verified, created_by="rule", model=NAME)
