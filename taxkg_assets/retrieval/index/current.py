"""The release that readers use; separate from the making of releases, so that readers load no schemas."""

from __future__ import annotations

import polars as pl


def find_current(release: pl.DataFrame) -> dict[str, object] | None:
    """Find the newest release that was not rolled back.

    Args:
        release: Table `release`.

    Returns:
        Its row; None before the first release.
    """
    active = release.filter(~pl.col("is_rolled_back")).sort("release_ix")
    return active.row(-1, named=True) if active.height else None
