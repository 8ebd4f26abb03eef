"""Run two steps of one question in parallel: array and model operations release the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

One = TypeVar("One")
Other = TypeVar("Other")


@cache
def has_one_core() -> bool:
    """Return whether this process may use only one core, so that threads bring no speedup."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return usable == 1


def run_in_parallel(in_worker: Callable[[], One], here: Callable[[], Other]) -> tuple[One, Other]:
    """Run one function in a worker thread and another one in this thread.

    The functions must not call `run_in_parallel` themselves.

    Args:
        in_worker: Function for the worker thread.
        here: Function for this thread.

    Returns:
        Results of both functions.
    """
    if has_one_core():
        return in_worker(), here()
    started = _threads().submit(in_worker)
    try:
        result = here()
    finally:
        wait([started])  # so that nothing still writes when an error reaches the caller
    return started.result(), result


@cache
def _threads() -> Executor:
    return ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="parallel")
