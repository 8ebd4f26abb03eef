"""Records of reviews, releases and the use of servers."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict


class ReviewRecord(TypedDict):
    """A row of `reviews`."""

    chunk_id: str
    text_hash: str
    document_id: str
    decision: str
    reason: str
    decided_at: datetime


class ReleaseRecord(TypedDict):
    """A row of `release`."""

    release_ix: int
    index_version: str
    index_path: str
    table_versions: str
    model_name: str
    model_hash: str
    metrics: str
    is_rolled_back: bool
    released_at: datetime


class QueryLogRecord(TypedDict):
    """A row of `query_log`."""

    entry_id: str
    kind: str
    question: str
    filters: str
    route: str
    outcome: str
    confidence: float | None
    documents: list[str]
    release_ix: int
    latency_ms: float
    received_at: datetime


class FeedbackRecord(TypedDict):
    """A row of `feedback`."""

    feedback_id: str
    entry_id: str
    is_helpful: bool
    comment: str
    given_at: datetime
