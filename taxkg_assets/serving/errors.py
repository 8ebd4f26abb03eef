"""Which errors a person is expected to meet; each message names the remedy.

Anything else is a defect and keeps its trace.
"""

from __future__ import annotations

import errno
import re

from dataframely.exc import SchemaError
from deltalake.exceptions import TableNotFoundError
from rich.markup import escape

from taxkg_assets.defs.engine import EngineError
from taxkg_assets.defs.gold import GoldError
from taxkg_assets.defs.models import ModelError
from taxkg_assets.defs.place import PlaceError
from taxkg_assets.defs.proposers import ProposerSettingError
from taxkg_assets.defs.store import HomeBusyError
from taxkg_assets.prompts.contract import ProposerError
from taxkg_assets.serving.batch import BatchError
from taxkg_assets.serving.boxes import BoxNotFoundError
from taxkg_assets.serving.build import SelectionError
from taxkg_assets.serving.diff import RevisionNotFoundError
from taxkg_assets.serving.evidence import EvidenceNotFoundError
from taxkg_assets.serving.explain import NodeNotFoundError
from taxkg_assets.serving.filters import FilterError
from taxkg_assets.serving.released import NotReleasedError
from taxkg_assets.serving.review import NotWaitingError
from taxkg_assets.serving.show import PageNotFoundError
from taxkg_assets.settings import SettingError
from taxkg_assets.sources.fetch import FetchError
from taxkg_assets.sources.scan import MissingSourceError, SourceError

_DISK_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EACCES, errno.EPERM)
_DISK_WORDS = re.compile(
    r"No space left on device|Disk quota exceeded|Read-only file system|File too large"
    r"|database or disk is full|attempt to write a readonly database|unable to open database file|disk I/O error"
)

BAD_USAGE = (FetchError, FilterError, MissingSourceError, SelectionError, SettingError)
"""What the call itself got wrong: exit status 2."""

EXPECTED = (
    SourceError,
    SelectionError,
    HomeBusyError,
    TableNotFoundError,
    NotReleasedError,
    BatchError,
    BoxNotFoundError,
    NodeNotFoundError,
    RevisionNotFoundError,
    PageNotFoundError,
    EvidenceNotFoundError,
    FetchError,
    FilterError,
    GoldError,
    EngineError,
    ModelError,
    PlaceError,
    ProposerError,
    NotWaitingError,
    ProposerSettingError,
    SettingError,
)


def explained(error: Exception) -> str | None:
    """The message for an expected error; None for a defect."""
    if isinstance(error, EXPECTED):
        return escape(str(error))
    if isinstance(error, SchemaError):
        return escape(
            f"The home was built by another version of taxkg ({str(error).splitlines()[0]}). Run `taxkg build` on it."
        )
    if said := find_storage_fault(error):
        remedy = "Free space or mend its rights, and run the same command again: what was committed stands."
        return escape(f"The disk refused to write or read: {said}. {remedy}")
    if isinstance(error, OSError):
        return escape(
            f"{error.strerror or error}: {error.filename or ''} - check the path, its rights and the free space."
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
