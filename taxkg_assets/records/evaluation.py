"""Records of evaluation questions and of what systems return for them."""

from __future__ import annotations

from typing import TypedDict


class GoldPassageRecord(TypedDict):
    """A passage that answers a question."""

    document: str
    page: int | None
    quote: str
    grade: int


class NearMissRecord(TypedDict):
    """A similar but wrong passage of a question."""

    document: str
    page: int | None
    quote: str
    why: str


class EvalQueryRecord(TypedDict):
    """A row of `eval_queries`."""

    query_set: str
    query_id: str
    query: str
    type: str
    gold: list[GoldPassageRecord]
    near_miss: list[NearMissRecord]
    coverage: float | None
    is_resolved: bool
    note: str


class RankedPassageRecord(TypedDict):
    """A passage as a retrieval system ranks it."""

    document_id: str
    page: int
    chunk_id: str
    text: str
    score: float
