"""Progress of a build: stages report here, and displays listen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Listener(Protocol):
    """Interface of a receiver of progress events, such as a progress bar."""

    def set_progress(self, stage: str, done: int, total: int) -> None:
        """Report that `done` of `total` units of a running stage are done.

        Args:
            stage: Name of the stage.
            done: Units that are done.
            total: All units.
        """

    def start(self, stage: str, total: int) -> None:
        """Report that a stage begins; `total` is 0 if it is unknown.

        Args:
            stage: Name of the stage.
            total: Number of units of work; 0 if unknown.
        """

    def advance(self, stage: str, count: int = 1) -> None:
        """Report that `count` more units are done.

        Args:
            stage: Name of the stage.
            count: Number of further units that are done.
        """

    def estimate(self, stage: str, pages: int, seconds_left: float) -> None:
        """Report how far the reading of documents has come.

        Args:
            stage: Name of the stage.
            pages: Pages that were read.
            seconds_left: Time until all documents are read, estimated from the sizes of their files.
        """

    def finish(self, stage: str) -> None:
        """Report that the stage has ended, done or failed.

        Args:
            stage: Name of the stage.
        """


_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send all progress events of this process to a listener while the context is open.

    Args:
        listener: Receives the events.

    Yields:
        Nothing; at the end the listener is removed.
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextmanager
def stage_progress(stage: str, total: int) -> Iterator[Listener]:
    """Report the progress of one stage.

    Args:
        stage: Name of the stage.
        total: Number of units of work; 0 if unknown.

    Yields:
        Listener to call `advance` on when units are done.
    """
    reporter = _Reporter()
    reporter.start(stage, total)
    try:
        yield reporter
    finally:
        reporter.finish(stage)


def stage_meter(stage: str) -> Callable[[int, int], None]:
    """Return a progress callback for a stage that learns its total while it runs.

    Args:
        stage: Name of the stage.

    Returns:
        Function to call with the number of finished units of work and their total.
    """

    def measure(done: int, total: int) -> None:
        for listener in _listeners:
            listener.set_progress(stage, done, total)

    return measure


def forward_progress(event: str, *values: Any) -> None:
    """Forward a progress event from a child process.

    Args:
        event: Name of a method of `Listener`.
        *values: Arguments of that method.
    """
    for listener in _listeners:
        getattr(listener, event)(*values)


class _Reporter:
    def set_progress(self, stage: str, done: int, total: int) -> None:
        stage_meter(stage)(done, total)

    def start(self, stage: str, total: int) -> None:
        for listener in _listeners:
            listener.start(stage, total)

    def advance(self, stage: str, count: int = 1) -> None:
        for listener in _listeners:
            listener.advance(stage, count)

    def estimate(self, stage: str, pages: int, seconds_left: float) -> None:
        for listener in _listeners:
            listener.estimate(stage, pages, seconds_left)

    def finish(self, stage: str) -> None:
        for listener in _listeners:
            listener.finish(stage)
