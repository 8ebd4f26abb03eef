"""Estimate of a run's calls and cost without any call: rules answer instead of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.llm.budget import Prices
from taxkg_assets.llm.exchange import compose
from taxkg_assets.llm.llm_calls import CallLog
from taxkg_assets.llm.model_proposer import CallPolicy, split_batches
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.prompts.contract import AnyItem, AnyProposal, ProposalOutcome, Task


@dataclass(slots=True)
class Estimate:
    """Expected calls, tokens and cost of one task with one model; `most_usd` is None if the price is unknown."""

    task: str
    model: str
    items: int = 0
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    most_output_tokens: int = 0
    most_usd: float | None = 0.0


class EstimatingProposer:
    """A proposer that counts the calls not yet cached, each at the price of a full-length reply.

    Rules provide the proposals. Later tasks depend on earlier replies, so the count is approximate; retries are not
    included.
    """

    fingerprint = "estimate"

    def __init__(self, *, log: CallLog, prices: Prices, policy: CallPolicy) -> None:
        self.estimates: dict[str, Estimate] = {}
        self._log, self._prices, self._call_policy = log, prices, policy
        self._rules, self._counted_ids = RuleProposer(), set[str]()

    def propose(
        self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem]
    ) -> tuple[ProposalOutcome[AnyProposal], ...]:
        """Count the calls of a task and return the rules' proposals.

        Args:
            task: The task.
            items: Its items.

        Returns:
            One outcome per item, in the order of the items.
        """
        model = self._call_policy.models_of(task.name)[0]
        estimate = self.estimates.setdefault(task.name, Estimate(task.name, model))
        price = self._prices.find(model)
        for batch in split_batches(items, task.batch or self._call_policy.batch):
            request = compose(task, batch, model=model)
            if request.call_id in self._counted_ids:
                continue
            self._counted_ids.add(request.call_id)
            estimate.items += len(batch)
            if self._log.find(request.call_id) is not None:
                estimate.cached += 1
                continue
            estimate.calls += 1
            estimate.input_tokens += request.estimated_tokens
            estimate.most_output_tokens += request.max_tokens
        estimate.most_usd = (
            None if price is None else round(price.cost(estimate.input_tokens, estimate.most_output_tokens), 4)
        )
        return self._rules.propose(task, items)
