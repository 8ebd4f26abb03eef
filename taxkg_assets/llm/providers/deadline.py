"""A time limit for the whole of a call. The timeouts of clients count from byte to byte: a trickle never ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class _Attempt(threading.Thread, Generic[_Result]):
    """One call in a thread of its own, which nobody waits for once its time is over."""

    def __init__(self, call: Callable[[], _Result]) -> None:
        super().__init__(daemon=True)
        self._call = call
        self.results: list[_Result] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        """Keep what the call gives or raises for the thread that waits."""
        try:
            self.results.append(self._call())
        except BaseException as error:
            self.error = error


def call_within(seconds: float, call: Callable[[], _Result]) -> _Result:
    """What the call gives or raises; TimeoutError where it takes longer."""
    attempt = _Attempt(call)
    attempt.start()
    attempt.join(seconds)
    if attempt.error is not None:
        raise attempt.error
    if not attempt.results:
        raise TimeoutError(f"no whole answer in {seconds:g} s (llm_seconds)")
    return attempt.results[0]
