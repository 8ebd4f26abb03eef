"""User-facing errors; each message names the remedy.

Anything else is a defect and keeps its trace.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Collection

from rich.markup import escape

_DISK_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EACCES, errno.EPERM)
_DISK_WORDS = re.compile(
    r"No space left on device|Disk quota exceeded|Read-only file system|File too large"
    r"|database or disk is full|attempt to write a readonly database|unable to open database file|disk I/O error"
)

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
    "taxkg_assets.defs.home.models.ModelError",
    "taxkg_assets.defs.home.storage.StorageError",
    "taxkg_assets.defs.home.question_models.ExportDamagedError",
    "taxkg_assets.defs.home.index_files.IndexFilesError",
    "taxkg_assets.prompts.contract.ProposerError",
    "taxkg_assets.serving.review.NotWaitingError",
    "taxkg_assets.defs.home.proposers.ProposerSettingError",
}
SCHEMA_ERROR = "dataframely.exc.SchemaError"


def is_one_of(error: BaseException, names: Collection[str]) -> bool:
    """Check whether the class of an error, or one of its base classes, has one of some names.

    Args:
        error: The error.
        names: Names of classes, which need not be imported.

    Returns:
        True for such a class or a subclass of it.
    """
    return any(f"{own.__module__}.{own.__qualname__}" in names for own in type(error).__mro__)


def explained(error: Exception) -> str | None:
    """Return the message of an expected error.

    Args:
        error: The error.

    Returns:
        Message with the remedy; None for a defect, whose traceback is wanted.
    """
    if is_one_of(error, EXPECTED):
        return escape(str(error))
    if is_one_of(error, {SCHEMA_ERROR}):
        return escape(
            f"The home was built by another version of taxkg ({str(error).splitlines()[0]}). Run `taxkg build` on it."
        )
    if said := find_storage_fault(error):
        remedy = "Free space or correct the permissions, and run the same command again: committed data is kept."
        return escape(f"The disk cannot be written or read: {said}. {remedy}")
    if isinstance(error, OSError):
        return escape(
            f"{error.strerror or error}: {error.filename or ''}. Check the path, its permissions and the free space."
        )
    return None


def find_storage_fault(error: BaseException | None) -> str:
    """What a disk said that was full, read-only or not ours, wherever in the chain of errors; empty for other errors.

    Dagster's records lie in SQLite and the tables in Delta: each has words of its own for it.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, OSError) and error.errno in _DISK_ERRNOS:
            return f"{error.strerror}: {error.filename or 'the home'}"
        if found := _DISK_WORDS.search(str(error)):
            return found[0]
        error = error.__cause__ or error.__context__
    return ""
