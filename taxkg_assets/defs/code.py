"""Which code makes a table: the digest by which a change of code makes tables stale."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import taxkg_assets
from taxkg_assets.defs.store import digest

PACKAGE = Path(taxkg_assets.__file__).parent
PACKAGES = ("pymupdf", "polars", "lancedb", "bm25s", "sentence-transformers")


@cache
def code_version(stage: str) -> str:
    """Digest of a stage's code, of the rules and schemas it reads, and of the packages that shape tables.

    A change of code is a change of input: tables made by older code are rebuilt.
    """
    files = sorted((PACKAGE / stage).rglob("*.py")) + sorted((PACKAGE / "rules").glob("*.yaml"))
    files += [PACKAGE / "schemas.py", *sorted((PACKAGE / "rules").glob("*.py"))]
    hashed = hashlib.sha256()
    for path in files:
        hashed.update(path.relative_to(PACKAGE).as_posix().encode())
        hashed.update(path.read_bytes())
    return digest(hashed.hexdigest(), *(version(package) for package in PACKAGES))
