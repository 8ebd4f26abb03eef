"""Which errors a person is expected to meet; each message names the remedy.

Anything else is a defect and keeps its trace.
"""

from __future__ import annotations

from deltalake.exceptions import TableNotFoundError
from rich.markup import escape

from taxkg_assets.defs.gold import GoldError
from taxkg_assets.defs.models import ModelError
from taxkg_assets.serving.batch import BatchError
from taxkg_assets.serving.boxes import BoxNotFoundError
from taxkg_assets.serving.build import SelectionError
from taxkg_assets.serving.instance import HomeBusyError
from taxkg_assets.serving.released import NotReleasedError
from taxkg_assets.serving.show import PageNotFoundError
from taxkg_assets.sources.scan import SourceError

EXPECTED = (
    SourceError,
    SelectionError,
    HomeBusyError,
    TableNotFoundError,
    NotReleasedError,
    BatchError,
    BoxNotFoundError,
    PageNotFoundError,
    GoldError,
    ModelError,
)


def explained(error: Exception) -> str | None:
    """The message for an expected error; None for a defect."""
    if isinstance(error, EXPECTED):
        return escape(str(error))
    if isinstance(error, PermissionError | OSError):
        return escape(
            f"{error.strerror or error}: {error.filename or ''} - check the path, its rights and the free space."
        )
    return None
