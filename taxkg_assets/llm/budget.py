"""The budget of one run in tokens, money and time, and the price of a call."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from taxkg_assets.llm.exchange import Reply, Request
from taxkg_assets.prompts.contract import ProposerError
from taxkg_assets.rules.models.prices import load_prices


class BudgetError(ProposerError):
    """The next call could exceed the budget; the replies so far are stored."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input_usd: float
    output_usd: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Return the price of a call in US dollars.

        Args:
            input_tokens: Tokens of the request.
            output_tokens: Tokens of the reply.
        """
        return (self.input_usd * input_tokens + self.output_usd * output_tokens) / 1_000_000


class Prices:
    """Prices by model: the user's own first, then the price list of `rules/prices.yaml`.

    Args:
        own: The user's prices by pattern of the model id.
    """

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self._own_prices = {re.compile(pattern): price for pattern, price in (own or {}).items()}

    def find(self, model: str) -> Price | None:
        """Return the price of a model; None where no list names it.

        Args:
            model: Model id.
        """
        for pattern, price in self._own_prices.items():
            if pattern.search(model):
                return price
        for rule in load_prices().rules:
            if rule.pattern.search(model):
                return Price(float(rule.input_usd), float(rule.output_usd))
        return None


@dataclass(slots=True)
class Usage:
    """Calls, tokens and cost so far.

    Attributes:
        calls: Calls made.
        cached: Calls replayed from the cache.
        input_tokens: Tokens of the requests.
        output_tokens: Tokens of the replies.
        usd: Cost in US dollars of the calls with a known price.
        unpriced: Calls without a known price.
        dropped: Proposals that failed the evidence check.
        failures: Failed calls and replaced proposals by reason.
    """

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    dropped: int = 0
    failures: dict[str, int] = field(default_factory=dict)


class Budget:
    """Admits a model call only if its maximum cost fits the budget, including calls in progress; 0 means no limit.

    Args:
        usd: Maximum cost in US dollars.
        tokens: Maximum number of tokens of requests and replies together.
        seconds: Time after which no further call is made.
        prices: Prices by model.
        clock: Returns the time in seconds.
        ledger: Returns the tokens and dollars already spent, also by other processes; by default those of this object.
    """

    def __init__(
        self,
        *,
        usd: float = 0.0,
        tokens: int = 0,
        seconds: float = 0.0,
        prices: Prices,
        clock: Callable[[], float],
        ledger: Callable[[], tuple[int, float]] | None = None,
    ) -> None:
        self.prices, self.spent = prices, Usage()
        self._usd, self._tokens, self._seconds = usd, tokens, seconds
        self._clock, self._began_at = clock, clock()
        self._ledger = ledger or (lambda: (self.spent.input_tokens + self.spent.output_tokens, self.spent.usd))
        self._lock = threading.Lock()
        self._reserved_tokens, self._reserved_usd = 0, 0.0

    @contextmanager
    def admit(self, request: Request) -> Iterator[Callable[[Reply], float | None]]:
        """Reserve the maximum cost of a call until its reply arrives.

        Args:
            request: The call.

        Yields:
            A function that takes the reply, records its cost, and returns it in US dollars (None if unknown).

        Raises:
            BudgetError: The call could exceed the budget.
        """
        price = self.prices.find(request.model)
        max_tokens = request.estimated_tokens + request.max_tokens
        max_usd = price.cost(request.estimated_tokens, request.max_tokens) if price is not None else 0.0
        with self._lock:
            self._refuse_excess(request, tokens=max_tokens, usd=max_usd, is_priced=price is not None)
            self._reserved_tokens += max_tokens
            self._reserved_usd += max_usd

        def settle(reply: Reply) -> float | None:
            cost = price.cost(reply.input_tokens, reply.output_tokens) if price is not None else None
            with self._lock:
                self.spent.calls += 1
                self.spent.input_tokens += reply.input_tokens
                self.spent.output_tokens += reply.output_tokens
                self.spent.usd += cost or 0.0
                self.spent.unpriced += cost is None
            return cost

        try:
            yield settle
        finally:
            with self._lock:
                self._reserved_tokens -= max_tokens
                self._reserved_usd -= max_usd

    def note(self, *, cached: int = 0, dropped: int = 0, failure: str = "") -> None:
        """Count results that caused no cost.

        Args:
            cached: Replayed calls.
            dropped: Proposals that failed the evidence check.
            failure: Reason of a failed call.
        """
        with self._lock:
            self.spent.cached += cached
            self.spent.dropped += dropped
            if failure:
                self.spent.failures[failure] = self.spent.failures.get(failure, 0) + 1

    def _refuse_excess(self, request: Request, *, tokens: int, usd: float, is_priced: bool) -> None:
        """Raise `BudgetError` if a call could exceed a limit.

        Args:
            request: The call.
            tokens: Maximum number of tokens that it may need.
            usd: Maximum cost in US dollars.
            is_priced: Whether the price of its model is known.
        """
        advice = "Calls made so far are kept. Raise the limit, and run again to resume."
        spent_tokens, spent_usd = self._ledger() if self._tokens or self._usd else (0, 0.0)
        if self._tokens and spent_tokens + self._reserved_tokens + tokens > self._tokens:
            raise BudgetError(
                f"{request.task}: the token budget of {self._tokens} (TAXKG_LLM_BUDGET_TOKENS) is used up. {advice}"
            )
        if self._usd and not is_priced:
            raise BudgetError(
                f"{request.task}: a budget in dollars is set, but the price of {request.model} is unknown. "
                "Add the price to the file in TAXKG_LLM_PRICES (0 for a server of your own)."
            )
        if self._usd and spent_usd + self._reserved_usd + usd > self._usd:
            raise BudgetError(
                f"{request.task}: the budget of ${self._usd:g} (TAXKG_LLM_BUDGET_USD) is used up. {advice}"
            )
        if self._seconds and self._clock() - self._began_at > self._seconds:
            raise BudgetError(
                f"{request.task}: the time limit of {self._seconds:g} s (TAXKG_LLM_BUDGET_SECONDS) is used up. {advice}"
            )
