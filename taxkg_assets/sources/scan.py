"""Which documents there are: folders and files given as sources, and what each of them holds now.

What belongs here: names, paths and the record of them (the ledger). What does not: what is inside a document.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SUFFIXES = (".pdf", ".txt")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class SourceError(Exception):
    """The sources contradict each other; the message names them and the remedy."""


class MissingSourceError(SourceError):
    """A source that was named is not there, or holds nothing that could be read."""


def find_source_files(root: Path) -> dict[str, Path]:
    """The documents of one source, document id to path: every .pdf and .txt of a folder (not of folders in it)."""
    if root.is_file():
        if root.suffix.lower() not in SUFFIXES:
            raise MissingSourceError(
                f"{root} is neither a .pdf nor a .txt file: give a folder or a file of these kinds."
            )
        return {name_of(root): root}
    if not root.is_dir():
        raise MissingSourceError(f"{root} does not exist: give a folder or a file of PDFs or .txt statutes.")
    found: dict[str, Path] = {}
    for path in sorted(root.iterdir()):
        if path.suffix.lower() in SUFFIXES and path.is_file() and not path.name.startswith("."):
            other = found.get(name_of(path))
            if other is not None and sha256_of(other) != sha256_of(path):
                raise SourceError(_clash(name_of(path), other, path))
            found.setdefault(name_of(path), path)
    return found


def name_of(path: Path) -> str:
    """The document id of a file: its name without ending; bytes that are no UTF-8 become question marks."""
    return printable(path.stem)


def printable(path: str) -> str:
    """A path as text that a table can hold and a terminal can print: control characters become question marks."""
    return _CONTROL.sub("?", path.encode("utf8", errors="replace").decode("utf8"))


def merge_sources(ledger: Mapping[str, Any], scans: Mapping[Path, Mapping[str, Path]]) -> dict[str, Any]:
    """The ledger after some of its sources were scanned again.

    A document leaves only when its own folder was scanned without it. A single file never removes anything. Equal
    names with different bytes from two sources are an error; with equal bytes the first source keeps the document.
    """
    rescanned = {str(root) for root, _ in scans.items() if root.is_dir()}
    files = {d: dict(f) for d, f in ledger["files"].items() if f["root"] not in rescanned}
    for root, found in scans.items():
        for document_id, path in found.items():
            other = files.get(document_id)
            if other is not None and other["path"] != str(path) and Path(other["path"]).exists():
                if sha256_of(Path(other["path"])) != sha256_of(path):
                    raise SourceError(_clash(document_id, Path(other["path"]), path))
                continue
            files[document_id] = {"root": str(root), "path": str(path)}
    roots = sorted({*ledger["roots"], *(str(root) for root in scans)})
    return {"roots": roots, "files": dict(sorted(files.items()))}


def drop_source(ledger: Mapping[str, Any], root: str, *, others: Mapping[Path, Mapping[str, Path]]) -> dict[str, Any]:
    """The ledger without a source; what lies in another one, too, is taken from there.

    Args: others: what the other sources hold now.
    """
    files = {d: f for d, f in ledger["files"].items() if f["root"] != root}
    rest = {"roots": [r for r in ledger["roots"] if r != root], "files": files}
    return merge_sources(rest, others)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def existing_roots(roots: Iterable[str]) -> list[Path]:
    """The recorded sources that are there now; one that is away (an unmounted disk) removes nothing."""
    return [Path(root) for root in roots if Path(root).exists()]


def _clash(document_id: str, one: Path, other: Path) -> str:
    return (
        f"Two documents are named {document_id!r} but differ: {one} and {other}. "
        "Rename one of them, or remove the one that is not meant, and build again."
    )
