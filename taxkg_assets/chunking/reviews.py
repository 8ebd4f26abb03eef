"""Human decisions on chunks that the validation did not accept, and the queue of those that wait for one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas


def build_reviews(
    *, old: dy.DataFrame[schemas.Reviews], decided: Iterable[Mapping[str, Any]]
) -> dy.DataFrame[schemas.Reviews]:
    """One row per decided chunk and text; a later decision takes the place of an earlier one."""
    rows = pl.DataFrame(list(decided), schema=schemas.Reviews.create_empty().schema)
    key = schemas.Reviews.primary_key()
    both = pl.concat([old, rows]).sort("decided_at").unique(key, keep="last", maintain_order=True)
    return schemas.Reviews.validate(both.sort(key))


def find_waiting(chunks: dy.DataFrame[schemas.Chunks], documents: dy.DataFrame[schemas.Documents]) -> pl.DataFrame:
    """Find the chunks that wait for a person, those of weightier documents first (tier 1 before 2 before 3)."""
    waiting = chunks.filter(pl.col("status") != "accepted", ~pl.col("reason").str.starts_with(REVIEWED))
    return (
        waiting.join(documents.select("document_id", "tier"), on="document_id")
        .select("tier", "document_id", "page", "chunk_id", "status", "quality", "reason", "text")
        .sort("tier", "document_id", "chunk_id")
    )


REVIEWED = "reviewed"
"""Begins the reason of a chunk that a person has decided on."""


def hash_text(text: str) -> str:
    """What a decision holds on to: other words need another decision."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def summarize_chunks(chunks: dy.DataFrame[schemas.Chunks]) -> dict[str, float | int]:
    """How many chunks there are, and how those that were cut by meaning fared."""
    cut = chunks.filter(pl.col("created_by") != "structural")
    total = {"chunks": chunks.height, "mean tokens": round(_mean(chunks["token_count"]), 1)}
    waiting = cut.filter(pl.col("status") != "accepted").height
    return total | {
        "semantic chunks": cut.height,
        "semantic accepted share": round(_mean(cut["status"] == "accepted"), 3),
        "semantic mean quality": round(_mean(cut["quality"]), 3),
        "not accepted": waiting,
    }


def _mean(values: pl.Series) -> float:
    return float(values.sum()) / max(1, values.len())
