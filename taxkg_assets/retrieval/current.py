"""Which release readers are served; apart from the making of releases, so that readers load no schemas."""

from __future__ import annotations

import polars as pl


def find_current(release: pl.DataFrame) -> dict[str, object] | None:
    """The newest release that was not rolled back; None before the first one."""
    standing = release.filter(~pl.col("is_rolled_back")).sort("release_ix")
    return standing.row(-1, named=True) if standing.height else None
