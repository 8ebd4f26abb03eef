"""A provider that says what a test wrote down, and a record of calls in memory."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from typing import Any

from taxkg_assets.llm.budget import Budget, Prices
from taxkg_assets.llm.exchange import COMPLETE, Reply, Request
from taxkg_assets.llm.llm_calls import Call
from taxkg_assets.llm.model_proposer import CallPolicy, ModelProposer
from taxkg_assets.prompts.contract import Block
from taxkg_assets.prompts.tasks import QuestionItem

TEXT = "Enter the rent in box 3. Do not enter deposits."


def items_of(user: str) -> list[dict[str, Any]]:
    """The items between the marks of a request, as a model reads them."""
    found = re.match(r"<(data-[0-9a-f]{20})>\n(.*)\n</\1>\n", user, re.DOTALL)
    assert found, user
    items: list[dict[str, Any]] = json.loads(found[2])["items"]
    return items


def questions(count: int) -> list[QuestionItem]:
    """Items of the task pair_judging."""
    block = Block(element_id="d:p1:e1", text=TEXT)
    return [QuestionItem(item_id=f"q{n}", question=f"Is it rent {n}?", blocks=(block,)) for n in range(count)]


def pair(item_id: str, quote: str = "Do not enter deposits", **columns: Any) -> dict[str, Any]:
    """A proposal for one of them."""
    evidence = [{"pointer": "d:p1:e1:25-46", "quote": quote}]
    return {
        "item_id": item_id, "confidence": 0.9, "evidence": evidence, "is_valid": True, "reason": "said so", **columns
    }  # fmt: skip


def proposals(request: Request, **columns: Any) -> Reply:
    """A good answer to a request about pairs."""
    rows = [pair(item["item_id"], **columns) for item in items_of(request.user)]
    return Reply(json.dumps({"proposals": rows}), COMPLETE, 1000, 100)


class Scripted:
    """Answers by a function of the request; counts what it was queried."""

    name = "scripted"

    def __init__(self, answer: Callable[[Request], Reply] = proposals) -> None:
        self.answer, self.queried = answer, list[Request]()
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        with self._lock:
            self.queried.append(request)
        return self.answer(request)

    @property
    def sizes(self) -> list[int]:
        """Items of each request."""
        return [len(items_of(request.user)) for request in self.queried]


class MemoryLog(dict[str, Call]):
    """Calls by id."""

    def find(self, call_id: str) -> Call | None:
        return self.get(call_id)

    def record(self, call: Call) -> None:
        self[call.call_id] = call


def proposer(
    provider: Scripted, log: MemoryLog | None = None, *, budget: dict[str, Any] | None = None, **policy: Any
) -> ModelProposer:
    """A proposer over a scripted provider; waits cost no time."""
    return ModelProposer(
        provider=provider,
        log=MemoryLog() if log is None else log,
        budget=Budget(prices=Prices(), clock=lambda: 0.0, **(budget or {})),
        policy=CallPolicy(**{"models": {"": ["m"]}, "concurrency": 1, **policy}),
        fingerprint="test",
        sleep=lambda seconds: None,
    )
