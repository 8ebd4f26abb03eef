"""Switching rules on and off in this process, to measure them or to test what reads them."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from taxkg_assets.rules import loader
from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.support import Key


@contextmanager
def every_rule() -> Iterator[None]:
    """Switch all rules on that are off for lack of support."""
    with patch.object(loader, "find_unsupported", lambda family: frozenset()):
        _clear_caches_of_modules()
        yield
    _clear_caches_of_modules()


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


def _clear_caches_of_modules() -> None:
    """Forget what functions and methods have derived from rules; objects that remember more must be made again.

    A search of all objects of a process, as for a measurement, takes longer than the tests that switch rules on.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith("taxkg_assets.")]
    found = [one for module in modules for one in vars(module).values()]
    found += [one for owner in found if isinstance(owner, type) for one in vars(owner).values()]
    caches = [one for one in found if type(one) is functools._lru_cache_wrapper]
    within = [one.__wrapped__ for one in caches if type(one.__wrapped__) is functools._lru_cache_wrapper]
    _clear([*caches, *within])


def _clear_caches() -> None:
    """Forget everything derived from rules; the rule files themselves stay as they were changed."""
    is_frozen = gc.get_freeze_count() > 0
    gc.unfreeze()  # what a command of the same process has hidden from the collector is listed, too
    # The type itself is compared: `isinstance` asks each object for its class, and deprecated ones of torch warn.
    caches = [one for one in gc.get_objects() if type(one) is functools._lru_cache_wrapper]
    if is_frozen:
        gc.freeze()
    _clear(caches)


def _clear(caches: Iterable[functools._lru_cache_wrapper[Any]]) -> None:
    for one in caches:
        if one is not load_family and str(one.__module__).startswith("taxkg_assets"):
            one.cache_clear()
