"""Digests of rows and strings: a result need not be computed again if the digest of its inputs is unchanged."""

from __future__ import annotations

import hashlib

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


def digest(*parts: str) -> str:
    """Compute a digest of several strings.

    Args:
        parts: Strings; their number and order count.

    Returns:
        First 24 hex digits of their SHA-256.
    """
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]
