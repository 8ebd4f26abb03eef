"""Every call of a model that was paid for: looked up before a call is made, written as each one returns."""

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
    """One row of `llm_calls`."""

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
        """Halves of characters, which no file or table takes, become escapes, which JSON reads back as they were."""
        clean = self.output.encode("utf8", errors="backslashreplace").decode("utf8")
        object.__setattr__(self, "output", clean)


class CallLog(Protocol):
    """Where calls are kept; safe to use from several threads."""

    def find(self, call_id: str) -> Call | None:
        """The call of this content, if it was ever made."""

    def record(self, call: Call) -> None:
        """Keep a call. When this returns, the call outlives the process."""


def build_llm_calls(*, old: dy.DataFrame[schemas.LlmCalls], journal: Iterable[Call]) -> dy.DataFrame[schemas.LlmCalls]:
    """One row per call: those of the table and those that the journal has kept since; of equal ones the first."""
    rows = pl.DataFrame([asdict(call) for call in journal], schema=schemas.LlmCalls.create_empty().schema)
    both = pl.concat([old, rows]).unique("call_id", keep="first", maintain_order=True)
    return schemas.LlmCalls.validate(both.sort("call_id"))


def find_altered_calls(llm_calls: dy.DataFrame[schemas.LlmCalls]) -> pl.DataFrame:
    """Find the calls whose id is not the hash of their content: what they would be replayed for was never asked."""
    columns = ("call_id", "task", "prompt_hash", "model", "input", "max_tokens")
    altered = [
        call_id
        for call_id, task, prompt_hash, model, user, max_tokens in llm_calls.select(columns).iter_rows()
        if call_id != find_call_id(task=task, prompt_hash=prompt_hash, model=model, user=user, max_tokens=max_tokens)
    ]
    return llm_calls.filter(pl.col("call_id").is_in(altered)).select("call_id", "task", "model", "called_at")


def summarize_calls(llm_calls: pl.DataFrame) -> dict[str, float | int]:
    """Calls, tokens and dollars of a record."""
    return {
        "calls": llm_calls.height,
        "input tokens": int(llm_calls["input_tokens"].sum()),
        "output tokens": int(llm_calls["output_tokens"].sum()),
        "cost in USD": round(float(llm_calls["cost_usd"].sum()), 4),
        "calls without a price": int(llm_calls["cost_usd"].null_count()),
    }
