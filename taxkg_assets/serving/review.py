"""Human review of chunks: what waits, and decisions that the next build follows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import polars as pl

from taxkg_assets.chunking.reviews import WaitingRecord, build_reviews, find_waiting, hash_text
from taxkg_assets.defs.home.store import Store
from taxkg_assets.records import ReviewRecord, iter_records
from taxkg_assets.schemas import Chunks, Documents, Reviews


class NotWaitingError(Exception):
    """A chunk that does not need a decision."""


def list_waiting(store: Store) -> list[WaitingRecord]:
    """List the chunks that need review, those of higher-tier documents first.

    Args:
        store: Tables of the home.

    Returns:
        Chunks with the reason why they need review.
    """
    waiting_chunks = find_waiting(Chunks.cast(_read_chunks(store)), Documents.cast(store.read("documents")))
    return list(iter_records(waiting_chunks, WaitingRecord))


def decide(store: Store, chunk_ids: Sequence[str], *, decision: str, reason: str) -> int:
    """Record a reviewer's decision on chunks; later builds apply it to each chunk until its text changes.


    Args:
        store: Tables of the home.
        chunk_ids: Chunks that need review or were accepted.
        decision: `accepted` or `rejected`.
        reason: Reason of the reviewer.

    Returns:
        Number of recorded decisions.

    Raises:
        NotWaitingError: There is no such chunk, or it was not made by the semantic chunker.
    """
    chunks_by_id = {row["chunk_id"]: row for row in _read_chunks(store).iter_rows(named=True)}
    if unknown_ids := [chunk_id for chunk_id in chunk_ids if chunk_id not in chunks_by_id]:
        raise NotWaitingError(f"No chunk has the id {', '.join(unknown_ids)}. `taxkg review list` lists the ids.")
    if structural_ids := [chunk_id for chunk_id in chunk_ids if chunks_by_id[chunk_id]["created_by"] == "structural"]:
        raise NotWaitingError(
            f"{', '.join(structural_ids)}: only chunks of the semantic chunker can be accepted or rejected. "
            "`taxkg review list` lists the chunks that need review."
        )
    new_reviews: list[ReviewRecord] = [
        {
            "chunk_id": chunk_id,
            "text_hash": hash_text(chunks_by_id[chunk_id]["text"]),
            "document_id": chunks_by_id[chunk_id]["document_id"],
            "decision": decision,
            "reason": reason,
            "decided_at": datetime.now(UTC),
        }
        for chunk_id in chunk_ids
    ]
    with store.exclusive():
        former_reviews = Reviews.cast(store.read_or_empty("reviews"))
        store.write("reviews", build_reviews(old=former_reviews, decided=new_reviews), inputs="")
    return len(new_reviews)


def _read_chunks(store: Store) -> pl.DataFrame:
    if not store.exists("chunks"):
        raise NotWaitingError(f"{store.home} is not built yet: run `taxkg build` first.")
    return store.read("chunks")
