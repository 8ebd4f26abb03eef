"""Digests of rows and strings: a result need not be computed again if the digest of its inputs is unchanged."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import polars as pl

_HASH_SEED = 7


def frame_digest(frame: pl.DataFrame) -> str:
    """Compute a digest of a frame's rows in their order, ignoring columns that end in `_at`.

    Args:
        frame: Rows of a table.

    Returns:
        Hex digest of 24 digits.
    """
    names = [c for c in frame.columns if not c.endswith("_at")]
    digest_rows = frame if len(names) == frame.width else frame.select(names)
    sha256 = hashlib.sha256(repr(digest_rows.schema).encode())
    if digest_rows.height:
        sha256.update(digest_rows.hash_rows(seed=_HASH_SEED).to_numpy().tobytes())
    return sha256.hexdigest()[:24]


def digest_documents(*frames: pl.DataFrame) -> dict[str, str]:
    """Compute for each document a digest of its rows in several tables.

    Args:
        frames: Rows with the column `document_id`; of each document in the same order from build to build.

    Returns:
        Hex digest of 24 digits by document id, for each document of any of the tables.
    """
    schemas = repr([frame.schema for frame in frames]).encode()
    sha256_by_document: dict[str, Any] = {}
    for frame_ix, frame in enumerate(frames):
        hashes = frame.select("document_id").with_columns(row_hash=frame.hash_rows(seed=_HASH_SEED))
        for document_id, row_hashes in hashes.group_by("document_id", maintain_order=True).agg("row_hash").iter_rows():
            sha256 = sha256_by_document.setdefault(document_id, hashlib.sha256(schemas))
            sha256.update(f"{frame_ix}:{row_hashes}".encode())
    return {document_id: sha256.hexdigest()[:24] for document_id, sha256 in sha256_by_document.items()}


def find_unchanged(digests: Mapping[str, str], earlier_digests: Mapping[str, str]) -> list[str]:
    """Find the documents that have not changed since an earlier build.

    Args:
        digests: Present digest by document id.
        earlier_digests: Digest by document id in the earlier build.

    Returns:
        Document ids.
    """
    return [document_id for document_id, made_from in earlier_digests.items() if digests.get(document_id) == made_from]


def digest(*parts: str) -> str:
    """Compute a digest of several strings.

    Args:
        parts: Strings; their number and order count.

    Returns:
        First 24 hex digits of their SHA-256.
    """
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]
