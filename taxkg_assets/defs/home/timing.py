"""How long the parts of a build took: noted while they run, kept in the home until the next time they run."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from taxkg_assets.defs.home.store import Store, atomic_write
from taxkg_assets.prompts.contract import AnyItem, AnyProposal, ProposalOutcome, Proposer, Task

TIMES = "times.json"
_spent: dict[str, tuple[datetime, float]] = {}
_lock = threading.Lock()


@contextmanager
def timed(part: str) -> Iterator[None]:
    """Measure the time of a pipeline part; repeated times add up until `keep_times` stores them.

    Args:
        part: Name of the part.

    Yields:
        Nothing.
    """
    began, started = datetime.now(UTC), time.monotonic()
    try:
        yield
    finally:
        record_time(part, began=began, seconds=time.monotonic() - started)


def record_time(part: str, *, began: datetime, seconds: float) -> None:
    """Add a duration to a pipeline part.

    Args:
        part: Name of the part.
        began: When the measured run of the part began.
        seconds: Its duration, added to that of earlier runs.
    """
    with _lock:
        first_start, seconds_before = _spent.get(part, (began, 0.0))
        _spent[part] = (first_start, seconds_before + seconds)


def keep_times(store: Store) -> None:
    """Store the measured times in the home, replacing earlier times of the same parts.

    Args:
        store: Files of the home.
    """
    with _lock:
        measured_times = dict(_spent)
        path = store.folder("cache") / TIMES
        _spent.clear()
    if measured_times:
        rows = {
            part: {"began_at": began.isoformat(), "seconds": round(seconds, 3)}
            for part, (began, seconds) in measured_times.items()
        }
        atomic_write(path, json.dumps({**_read(store), **rows}, indent=1, sort_keys=True).encode())


def read_times(store: Store) -> dict[str, tuple[datetime, datetime]]:
    """Read the recorded start and end of each pipeline part.

    Args:
        store: Files of the home.

    Returns:
        By part, its start and its start plus the measured duration.
    """
    times = {part: (datetime.fromisoformat(row["began_at"]), row["seconds"]) for part, row in _read(store).items()}
    return {part: (began, began + timedelta(seconds=seconds)) for part, (began, seconds) in times.items()}


def _read(store: Store) -> dict[str, dict[str, Any]]:
    path = store.folder("cache") / TIMES
    times: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf8")) if path.is_file() else {}
    return times


class TimedProposer:
    """A proposer that measures time by task."""

    def __init__(self, wrapped: Proposer) -> None:
        self._wrapped = wrapped

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the wrapped proposer."""
        return self._wrapped.fingerprint

    def propose(
        self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem]
    ) -> tuple[ProposalOutcome[AnyProposal], ...]:
        """Delegate to the wrapped proposer and measure the time.

        Args:
            task: The task.
            items: Its items.

        Returns:
            One outcome per item, in the order of the items.
        """
        with timed(task.name):
            return self._wrapped.propose(task, items)


def timed_call(part: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that its time is measured.

    Args:
        part: Name of the part.
        call: Function.

    Returns:
        Function with the same arguments and result.
    """

    def run(*arguments: Any, **named: Any) -> Any:
        with timed(part):
            return call(*arguments, **named)

    return run
