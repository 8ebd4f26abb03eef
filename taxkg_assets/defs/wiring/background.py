"""Runs work in the background of a build: one piece at a time, and a second one while the build's own step waits."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import RLock
from typing import Any, TypeVar

T = TypeVar("T")
_LOG = logging.getLogger(__name__)


class BackgroundWork:
    """A queue of work of which each piece keeps one core busy, next to the build's own step.

    Args:
        when_free: Called after each piece of work, and when the step begins to wait: more may be submitted then.
    """

    def __init__(self, when_free: Callable[[], None]) -> None:
        self._when_free = when_free
        self._threads = ThreadPoolExecutor(thread_name_prefix="background")
        self._queue = deque[tuple[Future[Any], Callable[[], Any]]]()
        self._lock = RLock()
        self._allowed = 1
        self._running = 0
        self._is_closed = False

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Queue work.

        Args:
            work: Function to run in a thread; it should start a process for work that takes long.

        Returns:
            Its future result. The work can be canceled until it begins.
        """
        result = Future[T]()
        with self._lock:
            self._queue.append((result, work))
            self._begin_next()
        return result

    def is_free(self) -> bool:
        """Return whether work that is submitted now begins at once."""
        with self._lock:
            return self._running < self._allowed and not self._queue

    def wait(self, result: Future[T]) -> T:
        """Wait for submitted work on behalf of the build's own step; a second piece of work may run meanwhile.

        Args:
            result: What `submit` returned.

        Returns:
            What the work returned.

        Raises:
            Exception: What the work raised.
        """
        if result.done():
            return result.result()
        self._allow(1)
        try:
            self._begin_more()
            return result.result()
        finally:
            self._allow(-1)

    def close(self) -> None:
        """Drop queued work, and wait for work that has begun."""
        with self._lock:
            self._is_closed = True
            self._queue.clear()
        self._threads.shutdown()

    def _allow(self, more: int) -> None:
        with self._lock:
            self._allowed += more
            self._begin_next()

    def _begin_next(self) -> None:
        while self._queue and self._running < self._allowed and not self._is_closed:
            result, work = self._queue.popleft()
            if result.set_running_or_notify_cancel():
                self._running += 1
                self._threads.submit(self._run, result, work)

    def _run(self, result: Future[T], work: Callable[[], T]) -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)
        with self._lock:
            self._running -= 1
            self._begin_next()
        if not self._is_closed:
            self._begin_more()

    def _begin_more(self) -> None:
        """Let more work be submitted. An error there is that of another step, which reports it in its turn."""
        try:
            self._when_free()
        except Exception:
            _LOG.warning("No further work was started in the background of the build.", exc_info=True)
