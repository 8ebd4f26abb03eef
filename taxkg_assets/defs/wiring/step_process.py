"""Runs a function in a process of its own, so that the memory it takes is given back when it ends.

What a step frees stays with its process: after ten steps over a large library, one process holds three times what any
of them needs. The children are forked from a server that has loaded the pipeline already, so that they start at once.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import pickle
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import connection, forkserver
from typing import Any, TypeVar

from taxkg_assets.defs.home.storage import LocalStorage
from taxkg_assets.defs.wiring.progress import Listener, forward_progress, listening
from taxkg_assets.defs.wiring.resources import Home

T = TypeVar("T")

_FORKSERVER = multiprocessing.get_context("forkserver")
_PIPELINE = "taxkg_assets.definitions"
"""Registers all tables and gates."""
_LANCE_CLIENT = "taxkg_assets.defs.home.lance_client"
"""Half of what `import lancedb` takes, in each process that writes or checks an index; it starts no thread."""
SHARES = 2
"""Processes that share the work of a step: each holds what the step reads, so more would take too much memory."""


class StepDiedError(Exception):
    """The child process of a step ended without a result."""


def reads_much(home: Home, tables: Iterable[str]) -> bool:
    """Return whether a step should run in its own process, because it reads more rows than `step_process_rows`.

    It never should if the home uses a language model, a cluster or a bucket: their budgets, sessions and leases belong
    to one process.

    Args:
        home: Tables, files and settings of the home.
        tables: Tables that the step reads.
    """
    settings, store = home.settings, home.store
    if settings.llm_provider != "rules" or settings.engine != "local" or not isinstance(store.storage, LocalStorage):
        return False
    return sum(store.count(name) for name in tables if store.exists(name)) > settings.step_process_rows


def prepare_processes() -> None:
    """Start the fork server for child processes, which imports the pipeline in the background."""
    _FORKSERVER.set_forkserver_preload(["__main__", _PIPELINE, _LANCE_CLIENT])
    forkserver.ensure_running()


def run_shares(title: str, function: Callable[..., T], *arguments: Any) -> list[T]:
    """Call a function in `SHARES` parallel processes, each on one share of the work.

    Args:
        title: Name of the step in error messages.
        function: Module-level function; receives `arguments`, then the 0-based number of its share and the number of
            shares.
        arguments: Further arguments.

    Returns:
        Results in the order of the shares.
    """
    with ThreadPoolExecutor(SHARES) as threads:
        return list(threads.map(lambda ix: run_in_process(title, function, *arguments, ix, SHARES), range(SHARES)))


def run_in_process(title: str, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function in a child process, forwarding its progress.

    The child also ends if this process is killed.

    Args:
        title: Name of the step in error messages.
        function: Module-level function; its arguments, result and errors are pickled.
        arguments: Its arguments.

    Returns:
        What the function returns.

    Raises:
        StepDiedError: The process was killed; other errors are those of the function.
    """
    prepare_processes()
    receiver, sender = _FORKSERVER.Pipe(duplex=False)
    child = _FORKSERVER.Process(target=_serve, args=(sender, dict(os.environ), function, arguments), daemon=True)
    child.start()
    sender.close()
    try:
        result: T = _receive(receiver)
    except EOFError as no_result:
        child.join()
        raise StepDiedError(
            f"The process of {title} ended with status {child.exitcode} and no result; it may have run out of memory. "
            "Free memory and build again; finished tables are kept."
        ) from no_result
    finally:
        receiver.close()
        child.kill()  # a child that has sent its result has nothing left to do
        child.join()
    return result


def _receive(receiver: connection.Connection) -> Any:
    """Wait for the child's result, and pass on its progress until then."""
    while True:
        kind, value = receiver.recv()
        if kind == "done":
            return value
        if kind == "failed":
            raise value
        forward_progress(*value)


class _Sender(Listener):
    """Sends the progress of this process to the one that waits."""

    def __init__(self, sender: connection.Connection) -> None:
        self._sender = sender

    def set_progress(self, stage: str, done: int, total: int) -> None:
        self._sender.send(("progress", ("set_progress", stage, done, total)))

    def start(self, stage: str, total: int) -> None:
        self._sender.send(("progress", ("start", stage, total)))

    def advance(self, stage: str, count: int = 1) -> None:
        self._sender.send(("progress", ("advance", stage, count)))

    def estimate(self, stage: str, pages: int, seconds_left: float) -> None:
        self._sender.send(("progress", ("estimate", stage, pages, seconds_left)))

    def finish(self, stage: str) -> None:
        self._sender.send(("progress", ("finish", stage)))


def _serve(
    sender: connection.Connection,
    environment: Mapping[str, str],
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    """Do the work of the child."""
    os.environ.clear()
    os.environ.update(environment)
    importlib.import_module(_PIPELINE)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")
    gc.disable()  # a process that ends with its step has nothing to tidy up, and a third of some steps went there
    try:
        with listening(_Sender(sender)):
            message: tuple[str, Any] = ("done", function(*arguments))
    except Exception as error:
        message = ("failed", make_portable(error))
    sender.send(message)
    sender.close()


def make_portable(error: Exception) -> Exception:
    """Convert an error to one that can be pickled, with its traceback as a note.

    Args:
        error: Error that was raised in a child process.

    Returns:
        The same error; if it cannot be pickled, a RuntimeError with its type and message.
    """
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _end_with_parent() -> None:
    """End at once when the waiting process ends: the lock of the home is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
