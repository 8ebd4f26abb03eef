"""Fingerprints that another process found for the very same files: to read all modules takes a process seconds.

They lie where Python keeps compiled modules, and like those they hold for files of the same size and time of change;
a change of any file of the package forgets all of them.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Collection
from functools import cache
from importlib.metadata import version
from pathlib import Path

KINDS = (".py", ".yaml", ".csv")
"""Files that decide what code does."""
DIGITS = 24
"""Length of a fingerprint; a line that was cut holds none."""
MOST_FILES = 4
"""States of the package whose fingerprints are kept."""


def recall_fingerprint(package: Path, key: str, *, packages: Collection[str]) -> str | None:
    """Return a cached code fingerprint that is valid for the current files; None if there is none.

    Args:
        package: Folder of the package.
        key: Functions and schema that the fingerprint covers: `module:function module:function Schema`.
        packages: Installed distributions; a fingerprint is valid only for the versions it was computed with.
    """
    return _read_kept(_find_file(package, tuple(sorted(packages)))).get(key)


def keep_fingerprint(package: Path, key: str, fingerprint: str, *, packages: Collection[str]) -> None:
    """Cache a code fingerprint for other processes, next to Python's compiled modules.

    Args:
        package: Folder of the package.
        key: Functions and schema that the fingerprint covers: `module:function module:function Schema`.
        fingerprint: Hex digest of 24 digits.
        packages: Installed distributions; the fingerprint is valid only for their present versions.
    """
    if sys.dont_write_bytecode:
        return
    path = _find_file(package, tuple(sorted(packages)))
    try:
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            for oldest in sorted(path.parent.glob("fingerprints-*"), key=lambda file_path: file_path.stat().st_mtime)[
                : 1 - MOST_FILES
            ]:
                oldest.unlink(missing_ok=True)
        with path.open("a", encoding="utf8") as file:  # one short write: processes that write at once do not mix
            file.write(f"{key}\t{fingerprint}\n")
    except OSError:
        return  # a package that may not be written is read by each process


@cache
def _read_kept(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf8").splitlines()
    except OSError:
        return {}
    pairs = (line.split("\t") for line in lines)
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and len(pair[1]) == DIGITS}


@cache
def _find_file(package: Path, packages: tuple[str, ...]) -> Path:
    state = hashlib.sha256(sys.version.encode())
    for name in packages:
        state.update(f"{name}={version(name)}\n".encode())
    for path in sorted(package.rglob("*")):
        if path.suffix in KINDS:
            status = path.stat()
            state.update(f"{path.relative_to(package)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return package / "__pycache__" / f"fingerprints-{state.hexdigest()[:16]}"
