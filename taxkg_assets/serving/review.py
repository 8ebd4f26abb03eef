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
    waiting = find_waiting(Chunks.cast(_read_chunks(store)), Documents.cast(store.read("documents")))
    return list(iter_records(waiting, WaitingRecord))


def decide(store: Store, chunk_ids: Sequence[str], *, decision: str, reason: str) -> int:
    """Record a reviewer's decision on chunks.

    Later builds follow it as long as the texts stay the same.

    Args:
        store: Tables of the home.
        chunk_ids: Chunks that need review or were accepted.
        decision: ACCEPT or REJECT.
        reason: Reason of the reviewer.

    Returns:
        Number of recorded decisions.

    Raises:
        NotWaitingError: There is no such chunk, or it was cut by layout, so that there is nothing to decide.
    """
    known = {row["chunk_id"]: row for row in _read_chunks(store).iter_rows(named=True)}
    if unknown := [c for c in chunk_ids if c not in known]:
        raise NotWaitingError(f"No chunk has the id {', '.join(unknown)}. `taxkg review list` lists the ids.")
    if printed := [c for c in chunk_ids if known[c]["created_by"] == "structural"]:
        raise NotWaitingError(
            f"{', '.join(printed)}: only chunks of the semantic chunker can be accepted or rejected. "
            "`taxkg review list` lists the chunks that need review."
        )
    decided: list[ReviewRecord] = [
        {
            "chunk_id": chunk_id,
            "text_hash": hash_text(known[chunk_id]["text"]),
            "document_id": known[chunk_id]["document_id"],
            "decision": decision,
            "reason": reason,
            "decided_at": datetime.now(UTC),
        }
        for chunk_id in chunk_ids
    ]
    with store.exclusive():
        old = Reviews.cast(store.read_or_empty("reviews"))
        store.write("reviews", build_reviews(old=old, decided=decided), inputs="")
    return len(decided)


def _read_chunks(store: Store) -> pl.DataFrame:
    if not store.exists("chunks"):
        raise NotWaitingError(f"{store.home} is not built yet: run `taxkg build` first.")
    return store.read("chunks")
