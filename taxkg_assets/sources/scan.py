"""Which documents there are: folders and files given as sources, and what each of them holds now.

What belongs here: names, paths and the record of them (the ledger). What does not: what is inside a document.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

SUFFIXES = (".pdf", ".txt")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class SourceError(Exception):
    """A source cannot be looked at; the message names it and the remedy."""


class MissingSourceError(SourceError):
    """A source that was named is not there, or holds nothing that could be read."""


class Claim(NamedTuple):
    """A file that says it is a document of this name, and the source in which it lies."""

    document_id: str
    root: str
    path: str


def find_source_files(root: Path) -> dict[str, list[Path]]:
    """The documents of one source, document id to files: every .pdf and .txt of a folder (not of folders in it).

    There is more than one file where the names differ in their endings only.
    """
    if root.is_file():
        if root.suffix.lower() not in SUFFIXES:
            raise MissingSourceError(
                f"{root} is neither a .pdf nor a .txt file: give a folder or a file of these kinds."
            )
        return {name_of(root): [root]}
    if not root.is_dir():
        raise MissingSourceError(f"{root} does not exist: give a folder or a file of PDFs or .txt statutes.")
    found: dict[str, list[Path]] = {}
    try:
        for path in sorted(root.iterdir()):
            if path.suffix.lower() in SUFFIXES and path.is_file() and not path.name.startswith("."):
                found.setdefault(name_of(path), []).append(path)
    except OSError as closed:
        raise SourceError(
            f"The folder {root} cannot be read ({closed.strerror}): let the user of this process read it."
        ) from closed
    return found


def name_of(path: Path) -> str:
    """The document id of a file: its name without ending; bytes that are no UTF-8 become question marks."""
    return printable(path.stem)


def printable(path: str) -> str:
    """A path as text that a table can hold and a terminal can print: control characters become question marks."""
    return _CONTROL.sub("?", path.encode("utf8", errors="replace").decode("utf8"))


def merge_sources(ledger: Mapping[str, Any], scans: Mapping[Path, Mapping[str, list[Path]]]) -> dict[str, Any]:
    """The ledger after some of its sources were scanned again.

    A document leaves only when its own folder was scanned without it. A single file never removes anything. Of equal
    names with equal bytes the first source keeps the document; with different bytes the entry names the `rival`, too,
    and nobody can tell which of them is meant.
    """
    rescanned = {str(root) for root in scans if root.is_dir()}
    claims = [claim for claim in _claims_of(ledger) if claim.root not in rescanned]
    for root, found in scans.items():
        claims += [Claim(d, str(root), str(path)) for d, paths in found.items() for path in paths]
    return _record({*ledger["roots"], *(str(root) for root in scans)}, claims)


def drop_source(
    ledger: Mapping[str, Any], root: str, *, others: Mapping[Path, Mapping[str, list[Path]]]
) -> dict[str, Any]:
    """The ledger without a source; what lies in another one, too, is taken from there.

    Args: others: what the other sources hold now.
    """
    claims = [claim for claim in _claims_of(ledger) if claim.root != root]
    return merge_sources(_record({*ledger["roots"]} - {root}, claims), others)


def _claims_of(ledger: Mapping[str, Any]) -> Iterator[Claim]:
    for document_id, file in ledger["files"].items():
        for held in (file, file.get("rival")):
            if held is not None:
                yield Claim(document_id, held["root"], held["path"])


def _record(roots: Iterable[str], claims: Iterable[Claim]) -> dict[str, Any]:
    """The ledger of these sources: for each document the first file that is there, and the first that differs."""
    claimed: dict[str, list[Claim]] = {}
    for claim in claims:
        claimed.setdefault(claim.document_id, []).append(claim)
    files: dict[str, dict[str, Any]] = {}
    for document_id, rivals in sorted(claimed.items()):
        there = list({claim.path: claim for claim in rivals if Path(claim.path).exists()}.values()) or rivals[-1:]
        files[document_id] = {"root": there[0].root, "path": there[0].path}
        rival = next((claim for claim in there[1:] if not _are_same(Path(there[0].path), Path(claim.path))), None)
        if rival is not None:
            files[document_id]["rival"] = {"root": rival.root, "path": rival.path}
    return {"roots": sorted(roots), "files": files}


def _are_same(one: Path, other: Path) -> bool:
    """Whether two files hold the same bytes; of those that cannot be read nobody knows."""
    try:
        return one.stat().st_size == other.stat().st_size and seen_sha256(one) == seen_sha256(other)
    except OSError:
        return False


def find_twins(seen: Mapping[str, str], *, admitted: Mapping[str, str]) -> dict[str, str]:
    """Documents whose bytes are those of another one, and that one: what was admitted stays, else the shorter name.

    Args:   seen: digests of the files as they are now.
            admitted: digests with which documents were admitted; one that was not looked at now counts as it was.
    """
    standing = {d for d, sha256 in admitted.items() if seen.get(d, sha256) == sha256}
    holders: dict[str, str] = {}
    for document_id in sorted(standing):
        holders.setdefault(admitted[document_id], document_id)
    for document_id in sorted(seen.keys() - standing, key=lambda name: (len(name), name)):
        holders.setdefault(seen[document_id], document_id)
    return {d: holders[sha256] for d, sha256 in seen.items() if d not in standing and holders[sha256] != d}


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def seen_sha256(path: Path) -> str:
    """SHA-256 of a file; one that nobody has touched since the last look is not read again."""
    found = path.stat()
    return _seen_sha256(path, (found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino))


@lru_cache(maxsize=100_000)
def _seen_sha256(path: Path, state: tuple[int, ...]) -> str:
    return sha256_of(path)


def existing_roots(roots: Iterable[str]) -> list[Path]:
    """The recorded sources that are there now; one that is away (an unmounted disk) removes nothing."""
    return [Path(root) for root in roots if Path(root).exists()]
