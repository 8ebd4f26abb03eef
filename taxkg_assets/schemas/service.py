"""Tables that servers append to: questions and feedback."""

from __future__ import annotations

import dataframely as dy

from taxkg_assets.schemas.columns import key_column, strings_column, text_column


class QueryLog(dy.Schema):
    """One question to a server with an enabled query log, and its results."""

    entry_id = key_column("random id, returned with the answer")
    kind = text_column("kind of request: search or ask")
    question = text_column("the question as received")
    filters = text_column("JSON object: explicit filters")
    route = text_column("JSON object: what was inferred from the question")
    outcome = text_column("answer, guidance or abstention (in older rows general, silence); empty for a search")
    confidence = dy.Float64(
        nullable=True,
        min=0.0,
        max=1.0,
        description="probability that the answer contains what is needed; null for a search",
    )
    documents = strings_column("documents of the passages, best first")
    release_ix = dy.Int32(min=0, description="number of the release that answered")
    latency_ms = dy.Float64(min=0.0, description="time to answer, in milliseconds")
    received_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when the question was received")


class Feedback(dy.Schema):
    """One reader's rating of an answer."""

    feedback_id = key_column("random id")
    entry_id = text_column("question of `query_log` that it rates")
    is_helpful = dy.Bool(description="whether the answer helped")
    comment = text_column("the reader's comment; may be empty")
    given_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when the rating was given")
