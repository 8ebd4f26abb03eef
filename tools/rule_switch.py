"""Switching rules on and off in this process, to measure them or to test what reads them."""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from taxkg_assets.rules import loader
from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.support import Key


@contextmanager
def every_rule() -> Iterator[None]:
    """Switch all rules on that are off for lack of support."""
    with patch.object(loader, "find_unsupported", lambda family: frozenset()):
        _clear_caches()
        yield
    _clear_caches()


@contextmanager
def without_rules(keys: Iterable[Key]) -> Iterator[None]:
    """Switch rules off in this process.

    Args:
        keys: Family, group and id of each rule.
    """
    off = set(keys)
    rows = [row for family, group in {key[:2] for key in off} for row in load_family(family)[group]
            if (family, group, row["id"]) in off]  # fmt: skip
    before = [row.get("enabled", True) for row in rows]
    for row in rows:
        row["enabled"] = False
    _clear_caches()
    try:
        yield
    finally:
        for row, value in zip(rows, before, strict=True):
            row["enabled"] = value
        _clear_caches()


def _clear_caches() -> None:
    """Forget everything derived from rules; the rule files themselves stay as they were changed."""
    gc.unfreeze()  # a command of the same process may have frozen what the collector lists
    for one in gc.get_objects():
        is_own = isinstance(one, functools._lru_cache_wrapper) and str(one.__module__).startswith("taxkg_assets")
        if is_own and one is not load_family:
            one.cache_clear()
