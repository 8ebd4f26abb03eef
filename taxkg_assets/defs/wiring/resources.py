"""What the pipeline opens: the home with its Delta tables, the encoder, the folders of labels."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg

from taxkg_assets.defs.home.access import NamedHome
from taxkg_assets.defs.home.recovery import report_dead_run
from taxkg_assets.defs.home.schema_digests import PACKAGE as PACKAGE
from taxkg_assets.defs.home.store import BUILD

BUNDLED = PACKAGE / "bundled"
PROJECT = BUNDLED if BUNDLED.is_dir() else PACKAGE.parent
"""Folder of Dagster's configuration and of `data/`: inside an installed package, or the checkout."""

WAIT_SECONDS = 3600.0
WORK_TAG = "taxkg/work"
"""Tag of a run that holds the home for something else than a build."""

STARTED_BY_TAG = "taxkg/started_by"
"""Tag of a run that a command started."""

COMMAND_LINE = "command line"
"""Value of `STARTED_BY_TAG`."""


class Home(dg.ConfigurableResource["Home"], NamedHome):
    """Dagster resource for the home that a run works on; an empty name means the setting `home`."""

    home: str = ""

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Home]:
        """Hold the lock of the home during a run; a sensor's tick needs no lock.

        A run launched during a build waits for the lock, because nothing would launch it again.

        Args:
            context: Context of the run.

        Yields:
            This home.
        """
        if context.run is None:
            yield self
            return
        store = self.store
        work = context.run.tags.get(WORK_TAG, BUILD)
        with store.exclusive(work=work, wait_s=WAIT_SECONDS):
            if context.instance is not None and store.active_run(work=work) != context.run.run_id:
                report_dead_run(context.instance, store, work=work)
            store.record_active_run(context.run.run_id, work=work)
            try:
                yield self
            finally:
                store.clear_active_run(work=work)


def source_line(target: Callable[..., Any]) -> tuple[str, int]:
    """Return file and line of a function, for links from the UI to the code.

    Args:
        target: Function or class.
    """
    module = importlib.import_module(target.__module__)
    inner = inspect.unwrap(target)
    code = getattr(inner, "__code__", None)  # to read the source takes milliseconds, and there are a hundred links
    return str(module.__file__), inspect.getsourcelines(inner)[1] if code is None else code.co_firstlineno
