"""A model as proposer: batches, cache, strict parsing, retries with smaller batches, evidence check."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from taxkg_assets.llm.budget import Budget, BudgetError
from taxkg_assets.llm.evidence import BlockEvidence
from taxkg_assets.llm.exchange import (
    COMPLETE,
    OutageError,
    Provider,
    Reply,
    Request,
    compose,
    end_sentence,
)
from taxkg_assets.llm.judge_guardrails import find_objection
from taxkg_assets.llm.llm_calls import Call, CallLog
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.prompts.contract import AnyItem, AnyProposal, ProposalOutcome, ProposerError, Task
from taxkg_assets.rules.models.llm import load_llm

_Result = TypeVar("_Result")
_log = logging.getLogger("taxkg.llm")


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How models are called.

    Attributes:
        models: Model ids in order of preference, by task; `""` has those of all other tasks.
        batch: Items of one call, unless the task has its own number.
        concurrency: Maximum number of calls at a time.
        attempts: Tries of a call that fails in a way that may pass.
        longest_wait_seconds: Longest wait between two tries.
        is_lenient: Whether rules answer where no model can be reached, instead of an error.
    """

    models: Mapping[str, Sequence[str]]
    batch: int = 24
    concurrency: int = 4
    attempts: int = 5
    longest_wait_seconds: float = 60.0
    is_lenient: bool = False

    def models_of(self, task: str) -> Sequence[str]:
        """Return the models of a task, the preferred one first.

        Args:
            task: Name of the task.
        """
        return self.models.get(task) or self.models[""]


@dataclass(slots=True)
class _BatchResult(Generic[AnyProposal]):
    """Outcomes of a batch by item id, and why the other items have no valid proposal, by item id."""

    outcomes: dict[str, ProposalOutcome[AnyProposal]] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)


class ModelProposer:
    """A proposer that calls a language model, replaying recorded calls.

    Args:
        provider: Sends requests to a model.
        log: Recorded calls.
        budget: Limits of the run.
        policy: Models, batches and retries.
        fingerprint: Digest of what decides its proposals.
        sleep: Waits some seconds.
    """

    def __init__(
        self,
        *,
        provider: Provider,
        log: CallLog,
        budget: Budget,
        policy: CallPolicy,
        fingerprint: str,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._provider, self._log, self.budget, self._call_policy = provider, log, budget, policy
        self._sleep, self._rules = sleep, RuleProposer()
        self._warned: set[str] = set()
        self.fingerprint = fingerprint

    def propose(
        self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem]
    ) -> tuple[ProposalOutcome[AnyProposal], ...]:
        """Propose for all items; an invalid or unsupported proposal is replaced by the rule's, with the reason.

        Args:
            task: The task.
            items: Its items.

        Returns:
            One outcome per item, in order.

        Raises:
            BudgetError: The next call could exceed the budget.
            ValueError: Two items share an id.
        """
        if len({item.item_id for item in items}) < len(items):
            raise ValueError(f"{task.name}: two items have the same id")
        batches = split_batches(items, task.batch or self._call_policy.batch)
        outcomes_by_batch = self._run_concurrently(lambda batch: self._propose_batch(task, batch), batches)
        outcomes = {item_id: outcome for of_batch in outcomes_by_batch for item_id, outcome in of_batch.items()}
        self._warn_of_rejections(task, list(outcomes.values()))
        return tuple(outcomes[item.item_id] for item in items)

    def _warn_of_rejections(
        self, task: Task[AnyItem, AnyProposal], outcomes: Sequence[ProposalOutcome[AnyProposal]]
    ) -> None:
        """Warn once per task if most of a model's proposals are rejected: they are paid for, but rules decide."""
        failures = Counter(outcome.failure for outcome in outcomes if outcome.failure)
        if failures.total() <= len(outcomes) / 2 or task.name in self._warned:
            return
        self._warned.add(task.name)
        (reason, _), models = failures.most_common(1)[0], ", ".join(self._call_policy.models_of(task.name))
        _log.warning(
            "%s: %d of %d %s proposals were rejected (%s); rules are used instead. Try another TAXKG_LLM_MODEL.",
            *(models, failures.total(), len(outcomes), task.name, reason),
        )

    def _run_concurrently(self, work: Callable[[Any], _Result], batches: Sequence[Any]) -> list[_Result]:
        """Run batches concurrently, results in order; after a permanent failure no further batch is started."""
        errors: list[ProposerError] = []

        def attempt(batch: Any) -> _Result:
            if errors:
                raise errors[0]
            try:
                return work(batch)
            except ProposerError as error:
                errors.append(error)
                raise

        with ThreadPoolExecutor(max_workers=self._call_policy.concurrency) as pool:
            return list(pool.map(attempt, batches))

    def _propose_batch(
        self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem]
    ) -> dict[str, ProposalOutcome[AnyProposal]]:
        """Try the models in order of preference for the items without a valid proposal, then the rules."""
        models = self._call_policy.models_of(task.name)
        outcomes: dict[str, ProposalOutcome[AnyProposal]] = {}
        failures: dict[str, str] = {}
        for number, model in enumerate(models):
            open_items = [item for item in items if item.item_id not in outcomes]
            try:
                result = self._ask_with_retries(task, open_items, model=model)
            except ProposerError as error:
                is_last = number == len(models) - 1
                if isinstance(error, BudgetError) or is_last:
                    if not self._call_policy.is_lenient:
                        raise
                    failures |= {item.item_id: str(error) for item in open_items}
                    break
                continue
            outcomes |= result.outcomes
            failures |= result.faults
        for item in items:
            outcome = outcomes.get(item.item_id)
            if outcome is None or outcome.proposal is None:
                outcomes[item.item_id] = self._propose_by_rule(task, item, outcome, failures.get(item.item_id, ""))
        return outcomes

    def _propose_by_rule(
        self,
        task: Task[AnyItem, AnyProposal],
        item: AnyItem,
        rejected: ProposalOutcome[AnyProposal] | None,
        failure: str,
    ) -> ProposalOutcome[AnyProposal]:
        """Return the rule's proposal with the reason why the model's was rejected, or else why there is none."""
        (by_rule,) = self._rules.propose(task, [item])
        reason = rejected.failure if rejected is not None else failure
        self.budget.note(failure=reason.partition(":")[0])
        call_id = rejected.call_id if rejected is not None else ""
        return ProposalOutcome(
            by_rule.item_id, by_rule.proposal, by_rule.created_by, by_rule.model, call_id=call_id, failure=reason
        )

    def _ask_with_retries(
        self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem], *, model: str
    ) -> _BatchResult[AnyProposal]:
        """Call with all items at once, and retry those with invalid proposals in smaller and smaller batches."""
        total: _BatchResult[AnyProposal] = _BatchResult()
        remaining = list(items)
        largest = max(1, len(items))
        sizes = {largest, *(max(1, int(largest * share)) for share in load_llm().retry_shares)}
        for size in sorted(sizes, reverse=True):
            total.faults = {}
            for batch in split_batches(remaining, size):
                result = self._ask(task, batch, model=model)
                total.outcomes |= result.outcomes
                total.faults |= result.faults
            remaining = [item for item in remaining if item.item_id in total.faults]
            if not remaining:
                break
        return total

    def _ask(
        self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem], *, model: str
    ) -> _BatchResult[AnyProposal]:
        """Make one call, or replay it, and parse the reply strictly."""
        request = compose(task, items, model=model)
        call = self._log.find(request.call_id)
        if call is not None:
            self.budget.note(cached=1)
        else:
            call = self._call(request, item_count=len(items))
        result: _BatchResult[AnyProposal] = _BatchResult()
        rows, reply_fault = read_proposals(call)
        for item in items:
            if item.item_id not in rows:
                result.faults[item.item_id] = reply_fault or "missing: the answer has no proposal for the item"
                continue
            outcome = self._check_proposal(task, item, rows[item.item_id], call=call)
            if isinstance(outcome, str):
                result.faults[item.item_id] = outcome
            else:
                result.outcomes[item.item_id] = outcome
        return result

    def _check_proposal(
        self, task: Task[AnyItem, AnyProposal], item: AnyItem, row: Any, *, call: Call
    ) -> ProposalOutcome[AnyProposal] | str:
        """Return a checked proposal, a rejected one (`proposal` is None), or what is wrong with its form."""
        try:
            proposal = task.proposal.model_validate_json(json.dumps(row), strict=True)
        except ValidationError as error:
            details = error.errors()[0]
            return f"invalid: {'.'.join(str(part) for part in details['loc'])}: {details['msg']}"
        except RecursionError:
            return "malformed: nested too deeply"
        if fault := proposal.find_validation_error(item):
            return f"invalid: {fault}"
        verified = proposal.with_verified_evidence(BlockEvidence(item.blocks))
        failure = ""
        if verified is None:
            failure = "unsupported: the source does not show it"
        elif objection := find_objection(task.name, item, verified):
            verified, failure = None, f"contradicted: {objection}"
        if verified is None:
            self.budget.note(dropped=1)
        return ProposalOutcome(item.item_id, verified, "llm", call.model, call_id=call.call_id, failure=failure)

    def _call(self, request: Request, *, item_count: int) -> Call:
        """Call the provider, retry where that may help, and record the reply before anything else."""
        with self.budget.admit(request) as settle:
            began_at = time.monotonic()
            reply = self._complete_with_retries(request)
            call = Call(
                call_id=request.call_id,
                task=request.task,
                prompt_hash=request.prompt_hash,
                provider=self._provider.name,
                model=request.model,
                item_count=item_count,
                max_tokens=request.max_tokens,
                input=request.user,
                output=reply.text,
                stop=reply.stop,
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
                cost_usd=settle(reply),
                latency_ms=int((time.monotonic() - began_at) * 1000),
                called_at=datetime.now(UTC),
            )
            self._log.record(call)
            return call

    def _complete_with_retries(self, request: Request) -> Reply:
        """Send a request, and retry after an outage: after the time that the provider asks for, or twice as long."""
        for attempt in range(1, self._call_policy.attempts + 1):
            try:
                return self._provider.complete(request)
            except OutageError as error:
                if attempt == self._call_policy.attempts:
                    times = "once" if attempt == 1 else f"{attempt} times"
                    raise type(error)(
                        f"{end_sentence(str(error))} Tried {times} (TAXKG_LLM_ATTEMPTS). "
                        "Answers so far are kept: run the command again when the model answers."
                    ) from error
                self.budget.note(failure="retried")
                seconds = error.wait_seconds if error.wait_seconds is not None else 2.0 ** (attempt - 1)
                self._sleep(min(self._call_policy.longest_wait_seconds, seconds))
        raise AssertionError("unreachable: the last attempt returns or raises")


def split_batches(items: Sequence[AnyItem], size: int) -> list[Sequence[AnyItem]]:
    """Split items into batches.

    Args:
        items: Items in order.
        size: Maximum number of items in a batch.

    Returns:
        Batches in order; only the last one may be smaller.
    """
    return [items[start : start + size] for start in range(0, len(items), size)]


def read_proposals(call: Call) -> tuple[dict[str, Any], str]:
    """Parse a reply into proposals.

    Args:
        call: The recorded call.

    Returns:
        Proposals by item id, and what is wrong with the reply as a whole (empty if nothing is). An item with two
        proposals has none.
    """
    if call.stop != COMPLETE:
        return {}, f"{call.stop}: the model stopped before its answer was whole"
    try:
        parsed = json.loads(_strip_fence(call.output))
    except json.JSONDecodeError as error:
        return {}, f"malformed: no JSON at character {error.pos}"
    except (ValueError, RecursionError):  # Python reads neither numbers of thousands of digits nor endless nesting
        return {}, "malformed: a number too long or nesting too deep to be read"
    rows = parsed.get("proposals") if isinstance(parsed, dict) else None
    if not isinstance(rows, list):
        return {}, "malformed: no list of proposals"
    proposals = [row for row in rows if isinstance(row, dict) and isinstance(row.get("item_id"), str)]
    counts = Counter(proposal["item_id"] for proposal in proposals)
    return {proposal["item_id"]: proposal for proposal in proposals if counts[proposal["item_id"]] == 1}, ""


def _strip_fence(text: str) -> str:
    """Return a reply without the marks of a Markdown code block."""
    text = text.strip()
    if text.startswith("```"):
        text = text.removeprefix("```").removeprefix("json")
    return text.removesuffix("```").strip()
