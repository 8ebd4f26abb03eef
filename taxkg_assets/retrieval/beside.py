"""Two steps of one question side by side: long ones of arrays and models leave the interpreter free meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

One = TypeVar("One")
Other = TypeVar("Other")


def run_beside(one: Callable[[], One], other: Callable[[], Other]) -> tuple[One, Other]:
    """Run one step in a thread of its own while the other runs here; a step must not call this itself."""
    started = _threads().submit(one)
    here = other()
    return started.result(), here


@cache
def _threads() -> Executor:
    return ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="beside")
