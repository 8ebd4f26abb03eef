"""The persistent Dagster instance of a home, shared by the command line and the UI."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from taxkg_assets.defs.resources import PROJECT
from taxkg_assets.defs.store import Store


class HomeBusyError(Exception):
    """Another build works on this home."""


def install_instance(store: Store) -> str:
    """Put the project's dagster.yaml into the home; returns the folder for DAGSTER_HOME."""
    folder = store.folder("dagster")
    ours, theirs = PROJECT / "dagster.yaml", folder / "dagster.yaml"
    if ours.exists() and (not theirs.exists() or theirs.read_bytes() != ours.read_bytes()):
        shutil.copyfile(ours, theirs)
    return str(folder)


@contextmanager
def open_instance(store: Store) -> Iterator[dg.DagsterInstance]:
    """Open the home's instance; the environment names it too, for everything that Dagster starts."""
    os.environ["DAGSTER_HOME"] = install_instance(store)
    with dg.DagsterInstance.get() as instance:
        yield instance


@contextmanager
def exclusive(store: Store) -> Iterator[None]:
    """Hold the home for one build; a second one is told so at once. The lock dies with its process."""
    with (store.folder() / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as busy:
            raise HomeBusyError(
                f"Another build is working on {store.home}. Wait for it, or choose another home with --home."
            ) from busy
        yield
