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
        models: Model ids in order of preference, by task; `""` holds those of all other tasks.
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
class _Outcome(Generic[AnyProposal]):
    """Result of one batch: judged items, and items whose proposal could not be parsed, with the reason."""

    judged: dict[str, ProposalOutcome[AnyProposal]] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)


class ModelProposer:
    """A proposer that calls a language model, replaying recorded calls."""

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
        batches = batches_of(items, task.batch or self._call_policy.batch)
        outcomes = self._side_by_side(lambda batch: self._settle(task, batch), batches)
        judged = {key: row for outcome in outcomes for key, row in outcome.items()}
        self._tell_useless(task, list(judged.values()))
        return tuple(judged[item.item_id] for item in items)

    def _tell_useless(self, task: Task[AnyItem, AnyProposal], rows: Sequence[ProposalOutcome[AnyProposal]]) -> None:
        """Warn once per task when most of a model's proposals are rejected: they are paid for, and rules decide."""
        useless = Counter(row.failure for row in rows if row.failure)
        if useless.total() <= len(rows) / 2 or task.name in self._warned:
            return
        self._warned.add(task.name)
        (reason, _), models = useless.most_common(1)[0], ", ".join(self._call_policy.models_of(task.name))
        _log.warning(
            "%s: %d of %d %s proposals were rejected (%s); rules are used instead. Try another TAXKG_LLM_MODEL.",
            *(models, useless.total(), len(rows), task.name, reason),
        )

    def _side_by_side(self, work: Callable[[Any], _Result], batches: Sequence[Any]) -> list[_Result]:
        """Run batches concurrently, results in order; after a permanent failure no further batch is started."""
        failed: list[ProposerError] = []

        def attempt(batch: Any) -> _Result:
            if failed:
                raise failed[0]
            try:
                return work(batch)
            except ProposerError as error:
                failed.append(error)
                raise

        with ThreadPoolExecutor(max_workers=self._call_policy.concurrency) as pool:
            return list(pool.map(attempt, batches))

    def _settle(
        self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem]
    ) -> dict[str, ProposalOutcome[AnyProposal]]:
        """Try the models in order of preference for the items that are still open, then the rules."""
        models = self._call_policy.models_of(task.name)
        judged: dict[str, ProposalOutcome[AnyProposal]] = {}
        failures: dict[str, str] = {}
        for number, model in enumerate(models):
            open_items = [item for item in items if item.item_id not in judged]
            try:
                outcome = self._ask_in_pieces(task, open_items, model=model)
            except ProposerError as error:
                is_last = number == len(models) - 1
                if isinstance(error, BudgetError) or is_last:
                    if not self._call_policy.is_lenient:
                        raise
                    failures |= {item.item_id: str(error) for item in open_items}
                    break
                continue
            judged |= outcome.judged
            failures |= outcome.unread
        for item in items:
            row = judged.get(item.item_id)
            if row is None or row.proposal is None:
                judged[item.item_id] = self._by_rule(task, item, row, failures.get(item.item_id, ""))
        return judged

    def _by_rule(
        self,
        task: Task[AnyItem, AnyProposal],
        item: AnyItem,
        refused: ProposalOutcome[AnyProposal] | None,
        failure: str,
    ) -> ProposalOutcome[AnyProposal]:
        """Return the rule's proposal with the reason why the model's was rejected."""
        (made,) = self._rules.propose(task, [item])
        reason = refused.failure if refused is not None else failure
        self.budget.note(failure=reason.partition(":")[0])
        call_id = refused.call_id if refused is not None else ""
        return ProposalOutcome(
            made.item_id, made.proposal, made.created_by, made.model, call_id=call_id, failure=reason
        )

    def _ask_in_pieces(
        self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem], *, model: str
    ) -> _Outcome[AnyProposal]:
        """Call with all items at once, and retry those with invalid proposals in smaller and smaller batches."""
        total: _Outcome[AnyProposal] = _Outcome()
        size, rest = max(1, len(items)), list(items)
        sizes = [size, *(max(1, int(size * share)) for share in load_llm().retry_shares)]
        for size in sorted(set(sizes), reverse=True):
            total.unread = {}
            for batch in batches_of(rest, size):
                proposals = self._ask(task, batch, model=model)
                total.judged |= proposals.judged
                total.unread |= proposals.unread
            rest = [item for item in rest if item.item_id in total.unread]
            if not rest:
                break
        return total

    def _ask(self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem], *, model: str) -> _Outcome[AnyProposal]:
        """Make one call, or replay it, and parse the reply strictly."""
        request = compose(task, items, model=model)
        call = self._log.find(request.call_id)
        if call is not None:
            self.budget.note(cached=1)
        else:
            call = self._call(request, item_count=len(items))
        outcome: _Outcome[AnyProposal] = _Outcome()
        rows, fault = read_proposals(call)
        for item in items:
            row = rows.get(item.item_id)
            if row is None:
                outcome.unread[item.item_id] = fault or "missing: the answer has no proposal for the item"
                continue
            judged = self._judge(task, item, row, call=call)
            if isinstance(judged, str):
                outcome.unread[item.item_id] = judged
            else:
                outcome.judged[item.item_id] = judged
        return outcome

    def _judge(
        self, task: Task[AnyItem, AnyProposal], item: AnyItem, row: Any, *, call: Call
    ) -> ProposalOutcome[AnyProposal] | str:
        """Return a checked proposal, a rejected one (`proposal` is None), or what is wrong with its form."""
        try:
            proposal = task.proposal.model_validate_json(json.dumps(row), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            return f"invalid: {'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
        except RecursionError:
            return "malformed: nested too deeply"
        if fault := proposal.find_validation_error(item):
            return f"invalid: {fault}"
        verified, failure = proposal.with_verified_evidence(BlockEvidence(item.blocks)), ""
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
            begun = time.monotonic()
            reply = self._patiently(request)
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
                latency_ms=int((time.monotonic() - begun) * 1000),
                called_at=datetime.now(UTC),
            )
            self._log.record(call)
            return call

    def _patiently(self, request: Request) -> Reply:
        for attempt in range(1, self._call_policy.attempts + 1):
            try:
                return self._provider.complete(request)
            except OutageError as error:
                if attempt == self._call_policy.attempts:
                    tries = "once" if attempt == 1 else f"{attempt} times"
                    kept = "Answers so far are kept: run again when it answers."
                    tried = f"Tried {tries} (TAXKG_LLM_ATTEMPTS)."
                    raise type(error)(f"{end_sentence(str(error))} {tried} {kept}") from error
                self.budget.note(failure="retried")
                wanted = error.wait_seconds if error.wait_seconds is not None else 2.0 ** (attempt - 1)
                self._sleep(min(self._call_policy.longest_wait_seconds, wanted))
        raise AssertionError("unreachable: the last attempt returns or raises")


def batches_of(items: Sequence[AnyItem], size: int) -> list[Sequence[AnyItem]]:
    """Split items into batches.

    Args:
        items: Items in order.
        size: Most items in a batch.

    Returns:
        Batches in order; only the last one may be smaller.
    """
    return [items[start : start + size] for start in range(0, len(items), size)]


def read_proposals(call: Call) -> tuple[dict[str, Any], str]:
    """Parse a reply into proposals.

    Args:
        call: The recorded call.

    Returns:
        Proposals by item id, and what is wrong with the reply as a whole; may be empty.
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
    named = [row for row in rows if isinstance(row, dict) and isinstance(row.get("item_id"), str)]
    times = Counter(row["item_id"] for row in named)
    return {row["item_id"]: row for row in named if times[row["item_id"]] == 1}, ""


def _strip_fence(text: str) -> str:
    """Return a reply without the marks of a Markdown code block."""
    text = text.strip()
    if text.startswith("```"):
        text = text.removeprefix("```").removeprefix("json")
    return text.removesuffix("```").strip()
