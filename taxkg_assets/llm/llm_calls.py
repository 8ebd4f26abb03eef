"""The call cache: every paid call is looked up before it is made, and recorded as it returns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Protocol

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.llm.exchange import find_call_id


@dataclass(frozen=True, slots=True)
class Call:
    """One row of `llm_calls`: a request with its reply, its cost and its time."""

    call_id: str
    task: str
    prompt_hash: str
    provider: str
    model: str
    item_count: int
    max_tokens: int
    input: str
    output: str
    stop: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    latency_ms: int
    called_at: datetime

    def __post_init__(self) -> None:
        """Escape lone surrogates, which no file or table accepts; JSON decodes them as they were."""
        escaped = self.output.encode("utf8", errors="backslashreplace").decode("utf8")
        object.__setattr__(self, "output", escaped)


class CallLog(Protocol):
    """Interface of a thread-safe store of model calls."""

    def find(self, call_id: str) -> Call | None:
        """Return the recorded call with this content; None where there is none.

        Args:
            call_id: Content hash, from `find_call_id`.
        """

    def record(self, call: Call) -> None:
        """Store a call durably before returning.

        Args:
            call: The call.
        """


def build_llm_calls(*, old: dy.DataFrame[schemas.LlmCalls], journal: Iterable[Call]) -> dy.DataFrame[schemas.LlmCalls]:
    """Merge the calls of the table and the journal, keeping the first of equal calls.

    Args:
        old: The table as stored.
        journal: Calls recorded since.

    Returns:
        One row per call.
    """
    new = pl.DataFrame([asdict(call) for call in journal], schema=schemas.LlmCalls.create_empty().schema)
    merged = pl.concat([old, new]).unique("call_id", keep="first", maintain_order=True)
    return schemas.LlmCalls.validate(merged.sort("call_id"))


def find_altered_calls(llm_calls: dy.DataFrame[schemas.LlmCalls]) -> pl.DataFrame:
    """Find calls whose id is not the hash of their content, as they would be replayed for another request.

    Args:
        llm_calls: Recorded calls.

    Returns:
        The altered calls, with `call_id`, `task`, `model` and `called_at`.
    """
    columns = ("call_id", "task", "prompt_hash", "model", "input", "max_tokens")
    altered_ids = [
        call_id
        for call_id, task, prompt_hash, model, user_text, max_tokens in llm_calls.select(columns).iter_rows()
        if call_id
        != find_call_id(task=task, prompt_hash=prompt_hash, model=model, user_text=user_text, max_tokens=max_tokens)
    ]
    return llm_calls.filter(pl.col("call_id").is_in(altered_ids)).select("call_id", "task", "model", "called_at")


@dataclass(frozen=True, slots=True)
class CallTotals:
    """Totals of recorded model calls.

    Attributes:
        calls: Number of calls.
        input_tokens: Tokens of the requests.
        output_tokens: Tokens of the replies.
        cost_usd: Cost in US dollars of the calls with a known price.
        without_price: Number of calls without one.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    without_price: int

    def as_figures(self) -> dict[str, float | int]:
        """Return the totals by display name."""
        return {
            "calls": self.calls,
            "input tokens": self.input_tokens,
            "output tokens": self.output_tokens,
            "cost in USD": self.cost_usd,
            "calls without a price": self.without_price,
        }


def summarize_calls(llm_calls: pl.DataFrame) -> CallTotals:
    """Return the number of calls, tokens and US dollars.

    Args:
        llm_calls: Recorded calls.
    """
    return CallTotals(
        calls=llm_calls.height,
        input_tokens=int(llm_calls["input_tokens"].sum()),
        output_tokens=int(llm_calls["output_tokens"].sum()),
        cost_usd=round(float(llm_calls["cost_usd"].sum()), 4),
        without_price=int(llm_calls["cost_usd"].null_count()),
    )
