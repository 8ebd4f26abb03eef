"""The version of what reads documents: its code, its rules, and the engine that reads tables."""

from __future__ import annotations

from importlib.util import find_spec

from taxkg_assets.defs.home.fingerprint import code_fingerprint
from taxkg_assets.defs.home.store import digest
from taxkg_assets.extraction.extract import extract
from taxkg_assets.settings import Settings


def reading_version(settings: Settings) -> str:
    """Return the digest of everything that determines how documents are read: code, rules and table engine.

    Installing or removing a package of the table engine changes it.

    Args:
        settings: Settings of the reading.

    Returns:
        Hex digest of 24 digits.
    """
    code = code_fingerprint(extract, schema="Documents")
    engine = settings.table_engine
    return code if engine == "own" else digest(code, engine, str(find_spec(engine) is not None))
