"""User-facing errors; each message names the remedy.

Anything else is a defect and keeps its trace.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Collection

from rich.markup import escape

_DISK_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EACCES, errno.EPERM)
_RUST_ERRNO = re.compile(r"\(os error (\d+)\)")
"""Delta, Polars and LanceDB raise errors without `errno`: Rust prints the number behind the words of the system."""
_SQLITE_CODES = {8, 10, 13, 14}
"""SQLite's primary result codes READONLY, IOERR, FULL and CANTOPEN; extended codes have them in their lowest byte."""

BAD_USAGE = frozenset(
    {
        "taxkg_assets.sources.fetch.FetchError",
        "taxkg_assets.serving.drafts.DraftError",
        "taxkg_assets.serving.filters.FilterError",
        "taxkg_assets.sources.scan.MissingSourceError",
        "taxkg_assets.serving.build.SelectionError",
        "taxkg_assets.settings.SettingError",
        "taxkg_assets.serving.boxes.BoxNotFoundError",
        "taxkg_assets.serving.cli.application.HomeMissingError",
        "taxkg_assets.serving.diff.RevisionNotFoundError",
        "taxkg_assets.serving.evidence.EvidenceNotFoundError",
        "taxkg_assets.serving.explain.NodeNotFoundError",
        "taxkg_assets.serving.lines.LineNotFoundError",
        "taxkg_assets.serving.show.PageNotFoundError",
    }
)
"""What the call itself got wrong, names that do not exist among it: exit status 2. Errors go by their names: to import
them all would load every engine that some command needs."""

EXPECTED = BAD_USAGE | {
    "taxkg_assets.sources.scan.SourceError",
    "taxkg_assets.defs.home.storage.HomeBusyError",
    "_internal.TableNotFoundError",  # of deltalake, which is compiled and says no more of itself
    "taxkg_assets.serving.released.NotReleasedError",
    "taxkg_assets.serving.batch.BatchError",
    "taxkg_assets.defs.wiring.gold.GoldError",
    "taxkg_assets.evaluation.labels.LabelError",
    "taxkg_assets.defs.ingest.engine.EngineError",
    "taxkg_assets.defs.ingest.spark.ExecutorError",
    "taxkg_assets.defs.home.arithmetic.ModelError",
    "taxkg_assets.defs.home.storage.StorageError",
    "taxkg_assets.defs.home.question_models.ExportDamagedError",
    "taxkg_assets.defs.home.index_files.IndexFilesError",
    "taxkg_assets.prompts.contract.ProposerError",
    "taxkg_assets.serving.review.NotWaitingError",
    "taxkg_assets.defs.home.proposers.ProposerSettingError",
}
SCHEMA_ERROR = "dataframely.exc.SchemaError"


def is_one_of(error: BaseException, names: Collection[str]) -> bool:
    """Return whether an error is an instance of a class given by name, so that the class need not be imported.

    Args:
        error: The error.
        names: Full names of classes: `package.module.Class`.
    """
    return any(f"{base.__module__}.{base.__qualname__}" in names for base in type(error).__mro__)


def explained(error: Exception) -> str | None:
    """Return the message of an expected error, None for a defect that needs its traceback.

    Args:
        error: The error.

    Returns:
        Message with the remedy; None for a defect.
    """
    if is_one_of(error, EXPECTED):
        return escape(str(error))
    if is_one_of(error, {SCHEMA_ERROR}):
        return escape(
            f"The home was built by another version of taxkg ({str(error).splitlines()[0]}). Run `taxkg build` on it."
        )
    if fault := find_storage_fault(error):
        remedy = "Free space or correct the permissions, and run the same command again: committed data is kept."
        return escape(f"The disk cannot be written or read: {fault}. {remedy}")
    if isinstance(error, OSError):
        return escape(
            f"{error.strerror or error}: {error.filename or ''}. Check the path, its permissions and the free space."
        )
    return None


def find_storage_fault(error: BaseException | None) -> str:
    """Find a storage fault in a chain of errors: a full, read-only or inaccessible disk.

    The error numbers decide: `errno`, the number in an error from Rust, or SQLite's result code.

    Args:
        error: Error that was caught; its causes are searched, too.

    Returns:
        The operating system's message, with the file if it is known; empty for other errors.
    """
    seen_ids: set[int] = set()
    while error is not None and id(error) not in seen_ids:
        seen_ids.add(id(error))
        number = _read_errno(error)
        if number in _DISK_ERRNOS:
            file_name = f": {error.filename or 'the home'}" if isinstance(error, OSError) and error.errno else ""
            return f"{os.strerror(number)}{file_name}"
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _SQLITE_CODES:
            return str(error)
        error = error.__cause__ or error.__context__ or getattr(error, "orig", None)
    return ""


def _read_errno(error: BaseException) -> int:
    """Return the number that the system gave to an error; 0 where it has none."""
    if isinstance(error, OSError) and error.errno:
        return error.errno
    match = _RUST_ERRNO.search(str(error))
    return int(match[1]) if match else 0
