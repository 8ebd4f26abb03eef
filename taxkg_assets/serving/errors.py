"""Which errors a person is expected to meet; each message names the remedy.

Anything else is a defect and keeps its trace.
"""

from __future__ import annotations

from deltalake.exceptions import TableNotFoundError
from pydantic import ValidationError
from pydantic_settings.exceptions import SettingsError
from rich.markup import escape

from taxkg_assets.defs.gold import GoldError
from taxkg_assets.defs.models import ModelError
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
from taxkg_assets.sources.fetch import FetchError
from taxkg_assets.sources.scan import MissingSourceError, SourceError

BAD_USAGE = (FetchError, FilterError, MissingSourceError, SelectionError, ValidationError)
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
    ModelError,
    ProposerError,
    NotWaitingError,
    ProposerSettingError,
)


def explained(error: Exception) -> str | None:
    """The message for an expected error; None for a defect."""
    if isinstance(error, EXPECTED):
        return escape(str(error))
    if isinstance(error, ValidationError) and error.title == "Settings":
        wrong = "; ".join(
            f"TAXKG_{str(e['loc'][0]).upper()}: {e['msg']} (it is {e['input']!r})" for e in error.errors()
        )
        return escape(f"A setting is wrong: {wrong}. Mend or unset the variable.")
    if isinstance(error, SettingsError):
        return escape(f"A setting cannot be read: {error}. TAXKG_LLM_MODELS is a JSON object of task to model ids.")
    if isinstance(error, PermissionError | OSError):
        return escape(
            f"{error.strerror or error}: {error.filename or ''} - check the path, its rights and the free space."
        )
    return None
