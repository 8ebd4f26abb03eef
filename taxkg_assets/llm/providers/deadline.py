"""A time limit for a whole call. Timeouts of client libraries count between bytes, so a trickle would never end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class _Attempt(threading.Thread, Generic[_Result]):
    """One call in a separate thread, abandoned after the time limit."""

    def __init__(self, call: Callable[[], _Result]) -> None:
        super().__init__(daemon=True)
        self._call = call
        self.results: list[_Result] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        """Store the result or exception of the call for the waiting thread."""
        try:
            self.results.append(self._call())
        except BaseException as error:
            self.error = error


def call_with_timeout(seconds: float, call: Callable[[], _Result]) -> _Result:
    """Run a call in its own thread with a time limit, and return its result.

    Args:
        seconds: Time limit in seconds.
        call: Function without arguments.

    Returns:
        What the function returns.

    Raises:
        TimeoutError: The call takes longer. Its thread is abandoned, not stopped.
    """
    attempt = _Attempt(call)
    attempt.start()
    attempt.join(seconds)
    if attempt.error is not None:
        raise attempt.error
    if not attempt.results:
        raise TimeoutError(f"no complete response within {seconds:g} s. Raise TAXKG_LLM_SECONDS.")
    return attempt.results[0]
