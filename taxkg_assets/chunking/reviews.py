"""Human decisions on chunks that the validation did not accept, and the list of chunks that need a decision."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypedDict

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.records import ReviewRecord


class WaitingRecord(TypedDict):
    """A chunk that needs review: a row of `find_waiting`."""

    tier: int
    document_id: str
    page: int
    chunk_id: str
    status: str
    quality: float
    reason: str
    text: str


def build_reviews(
    *, old: dy.DataFrame[schemas.Reviews], decided: Iterable[ReviewRecord]
) -> dy.DataFrame[schemas.Reviews]:
    """Merge review decisions into the table; a later decision replaces an earlier one on the same chunk and text.

    Args:
        old: Decisions so far.
        decided: New decisions.

    Returns:
        One row per `chunk_id` and `text_hash`, sorted by these columns.
    """
    new_reviews = pl.DataFrame(list(decided), schema=schemas.Reviews.create_empty().schema)
    key = schemas.Reviews.primary_key()
    all_reviews = pl.concat([old, new_reviews]).sort("decided_at").unique(key, keep="last", maintain_order=True)
    return schemas.Reviews.validate(all_reviews.sort(key))


def find_waiting(chunks: dy.DataFrame[schemas.Chunks], documents: dy.DataFrame[schemas.Documents]) -> pl.DataFrame:
    """List the chunks that need review.

    Args:
        chunks: Chunks with their status and reason.
        documents: Documents with their `tier`.

    Returns:
        `tier`, `document_id`, `page`, `chunk_id`, `status`, `quality`, `reason` and `text`, tier 1 first.
    """
    waiting_chunks = chunks.filter(pl.col("status") != "accepted", ~pl.col("reason").str.starts_with(REVIEWED))
    return (
        waiting_chunks.join(documents.select("document_id", "tier"), on="document_id")
        .select("tier", "document_id", "page", "chunk_id", "status", "quality", "reason", "text")
        .sort("tier", "document_id", "chunk_id")
    )


REVIEWED = "reviewed"
"""Prefix of the reason of a chunk that was decided by a review."""


def hash_text(text: str) -> str:
    """Return the digest of a chunk's text, so that a decision applies to this wording only.

    Args:
        text: Text of a chunk.

    Returns:
        24 hexadecimal digits.
    """
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def summarize_chunks(chunks: pl.DataFrame) -> dict[str, float | int]:
    """Summarize the chunks for the table's metadata: their number, and the outcome of semantic chunking.

    Args:
        chunks: `created_by`, `status`, `token_count` and `quality` of all chunks.

    Returns:
        Figures by name: counts of chunks, mean number of tokens, accepted share and mean quality (both 0–1, and 0
        without semantic chunks).
    """
    semantic_chunks = chunks.filter(pl.col("created_by") != "structural")
    totals = {"chunks": chunks.height, "mean tokens": round(_mean(chunks["token_count"]), 1)}
    waiting_count = semantic_chunks.filter(pl.col("status") != "accepted").height
    return totals | {
        "semantic chunks": semantic_chunks.height,
        "semantic accepted share": round(_mean(semantic_chunks["status"] == "accepted"), 3),
        "semantic mean quality": round(_mean(semantic_chunks["quality"]), 3),
        "not accepted": waiting_count,
    }


def _mean(values: pl.Series) -> float:
    return float(values.sum()) / max(1, values.len())
