"""The persistent Dagster instance of a home, shared by the command line and the UI."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.resources import PROJECT
from taxkg_assets.serving.sqlite_records import reduce_fsyncs


def install_instance(store: Store) -> str:
    """Copy the project's dagster.yaml into the home, and return the folder for DAGSTER_HOME.

    Args:
        store: Files of the home.
    """
    folder = store.folder("dagster")
    project_file, home_file = PROJECT / "dagster.yaml", folder / "dagster.yaml"
    if project_file.exists() and (not home_file.exists() or home_file.read_bytes() != project_file.read_bytes()):
        shutil.copyfile(project_file, home_file)
    return str(folder)


@contextmanager
def open_instance(store: Store) -> Iterator[dg.DagsterInstance]:
    """Open the Dagster instance of a home, and set DAGSTER_HOME for child processes while it is open.

    Args:
        store: Tables of the home.

    Yields:
        The instance.
    """
    folder = os.environ["DAGSTER_HOME"] = install_instance(store)
    with reduce_fsyncs(Path(folder)), dg.DagsterInstance.get() as instance:
        yield instance
