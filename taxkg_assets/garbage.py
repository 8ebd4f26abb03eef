"""When Python looks for garbage: rarely, as most of what a process makes stays until it ends."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECT_AFTER = 100_000
"""Objects that a process makes before Python looks for garbage among them; 700 by default."""


def collect_rarely() -> None:
    """Look for garbage after `COLLECT_AFTER` new objects."""
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])


@contextmanager
def loading_modules() -> Iterator[None]:
    """Look for no garbage while modules are loaded, and never again among what they make: it stays.

    This took two fifths of the time to load the asset graph, which each process of a run does.

    Yields:
        Nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()
