"""Run two steps of one question in parallel: array and model operations release the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

One = TypeVar("One")
Other = TypeVar("Other")


@cache
def has_one_core() -> bool:
    """Return whether this process may use only one core, so that threads bring no speedup."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return usable == 1


def run_in_parallel(one: Callable[[], One], other: Callable[[], Other]) -> tuple[One, Other]:
    """Run one function in a worker thread and another in this one.

    The functions must not call `run_in_parallel` themselves.

    Args:
        one: Step for the worker thread.
        other: Step for this thread.

    Returns:
        Results of both steps.
    """
    if has_one_core():
        return one(), other()
    started = _threads().submit(one)
    result = other()
    return started.result(), result


@cache
def _threads() -> Executor:
    return ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="parallel")
