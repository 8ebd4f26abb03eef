"""What a run would ask of models and what it would cost, found without asking: rules answer in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.llm.budget import Prices
from taxkg_assets.llm.exchange import compose
from taxkg_assets.llm.llm_calls import CallLog
from taxkg_assets.llm.model_proposer import Manner, batches_of
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.prompts.contract import AnyItem, AnyProposal, Judged, Task


@dataclass(slots=True)
class Estimate:
    """What one task would ask of one model."""

    task: str
    model: str
    items: int = 0
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    most_output_tokens: int = 0
    most_usd: float | None = 0.0


class EstimatingProposer:
    """Counts the calls that are not recorded yet, at the price of a whole answer each; what rules say stands in.

    Later tasks rest on what earlier ones say, so the count is near and not exact; retries are not foreseen.
    """

    fingerprint = "estimate"

    def __init__(self, *, log: CallLog, prices: Prices, manner: Manner) -> None:
        self.estimates: dict[str, Estimate] = {}
        self._log, self._prices, self._manner = log, prices, manner
        self._rules, self._counted = RuleProposer(), set[str]()

    def propose(self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem]) -> tuple[Judged[AnyProposal], ...]:
        """Count what would be asked; give the rules' proposals."""
        model = self._manner.models_of(task.name)[0]
        found = self.estimates.setdefault(task.name, Estimate(task.name, model))
        price = self._prices.find(model)
        for batch in batches_of(items, task.batch or self._manner.batch):
            request = compose(task, batch, model=model)
            if request.call_id in self._counted:
                continue
            self._counted.add(request.call_id)
            found.items += len(batch)
            if self._log.find(request.call_id) is not None:
                found.cached += 1
                continue
            found.calls += 1
            found.input_tokens += request.estimated_tokens
            found.most_output_tokens += request.max_tokens
        found.most_usd = None if price is None else round(price.cost(found.input_tokens, found.most_output_tokens), 4)
        return self._rules.propose(task, items)
