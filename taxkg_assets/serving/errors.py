"""Which errors a person is expected to meet; each message names the remedy.

Anything else is a defect and keeps its trace.
"""

from __future__ import annotations

from deltalake.exceptions import TableNotFoundError
from rich.markup import escape

from taxkg_assets.serving.build import SelectionError
from taxkg_assets.serving.instance import HomeBusyError
from taxkg_assets.sources.scan import SourceError


def explained(error: Exception) -> str | None:
    """The message for an expected error; None for a defect."""
    if isinstance(error, SourceError | SelectionError | HomeBusyError | TableNotFoundError):
        return escape(str(error))
    if isinstance(error, PermissionError | OSError):
        return escape(
            f"{error.strerror or error}: {error.filename or ''} - check the path, its rights and the free space."
        )
    return None
