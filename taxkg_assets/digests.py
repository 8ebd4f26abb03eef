"""Digests of rows and strings: what was made from the same ones need not be made again."""

from __future__ import annotations

import hashlib

import polars as pl

_HASH_SEED = 7


def frame_digest(frame: pl.DataFrame) -> str:
    """Compute a digest of a frame's rows in their order, ignoring columns that end in `_at`.

    Args:
        frame: Rows.

    Returns:
        Hex digest of 24 digits.
    """
    names = [c for c in frame.columns if not c.endswith("_at")]
    kept = frame if len(names) == frame.width else frame.select(names)
    hashed = hashlib.sha256(repr(kept.schema).encode())
    if kept.height:
        hashed.update(kept.hash_rows(seed=_HASH_SEED).to_numpy().tobytes())
    return hashed.hexdigest()[:24]


def digest(*parts: str) -> str:
    """Compute a digest of several strings.

    Args:
        parts: Strings; their number and order count.

    Returns:
        First 24 hex digits of their SHA-256.
    """
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]
