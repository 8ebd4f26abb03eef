"""Scan of the sources: folders and files, the documents that each contains now, and the record of them.

What belongs here: names, paths and the record (the manifest). What does not: what is inside a document.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from taxkg_assets.sources.manifest import FilePlace, SourceFile, SourceManifest

SUFFIXES = (".pdf", ".txt")
_SHOWN = 3  # names of what is skipped
_INSPECTED = 5000  # files of a subfolder
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class SourceError(Exception):
    """A source cannot be read; the message names it and the remedy."""


class MissingSourceError(SourceError):
    """A given source does not exist, or contains no document."""


class Claim(NamedTuple):
    """A file whose name gives a document id, with the source that contains it."""

    document_id: str
    root: str
    path: str


def find_source_files(root: Path) -> dict[str, list[Path]]:
    """Find the documents of one source: the .pdf and .txt files directly in a folder, or a single file.

    Args:
        root: Folder or file.

    Returns:
        Files by document id; more than one where names differ in their endings only.

    Raises:
        MissingSourceError: The source does not exist, or is a file of another kind.
        SourceError: The folder cannot be read.
    """
    if root.is_file():
        if root.suffix.lower() not in SUFFIXES:
            raise MissingSourceError(
                f"{root} is neither a .pdf nor a .txt file. Give such a file, or a folder of them."
            )
        return {name_of(root): [root]}
    if not root.is_dir():
        raise MissingSourceError(f"{root} does not exist. Give a PDF, a .txt statute, or a folder of these.")
    source_files: dict[str, list[Path]] = {}
    try:
        for path in sorted(root.iterdir()):
            if path.suffix.lower() in SUFFIXES and path.is_file() and not path.name.startswith("."):
                source_files.setdefault(name_of(path), []).append(path)
    except OSError as closed:
        raise SourceError(
            f"The folder {root} cannot be read ({closed.strerror}). Give the user of this process "
            "permission to read it."
        ) from closed
    return source_files


def describe_skipped(root: Path, *, roots: Collection[str] = ()) -> str:
    """Describe document-like entries of a folder that are not read: subfolders and broken links.

    Args:
        root: Folder or file of a source.
        roots: Sources that are read; a subfolder that is one of them is not skipped.

    Returns:
        One sentence; empty where nothing is skipped, or the folder cannot be read. Hidden files are not named.
    """
    try:
        shown = [path for path in sorted(root.iterdir()) if not path.name.startswith(".")] if root.is_dir() else []
    except OSError:
        return ""
    folders = [path for path in shown if path.is_dir() and str(path) not in roots and _holds_documents(path)]
    links = [path for path in shown if path.suffix.lower() in SUFFIXES and path.is_symlink() and not path.exists()]
    parts = []
    if folders:
        parts.append(f"the subfolders {_list_names(folders)} (give them as --corpus)")
    if links:
        parts.append(f"the broken links {_list_names(links)}")
    return f"Not read in {printable(str(root))}: {'; '.join(parts)}." if parts else ""


def _holds_documents(folder: Path) -> bool:
    """Return whether a folder holds a document at any depth, as far as the first files tell."""
    try:
        return any(path.suffix.lower() in SUFFIXES for path in islice(folder.rglob("*"), _INSPECTED))
    except OSError:
        return False


def _list_names(paths: Sequence[Path]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(printable(path.name) for path in paths[:_SHOWN]) + more


def name_of(path: Path) -> str:
    """Return the document id of a file: its name without ending, in printable characters.

    Args:
        path: Path of the file.
    """
    return printable(path.stem)


def printable(path: str) -> str:
    """Convert a path to text that tables can store and terminals can print.

    Args:
        path: Path or name; bytes that are not UTF-8 and control characters become question marks.

    Returns:
        The path, with other characters as question marks.
    """
    return _CONTROL.sub("?", path.encode("utf8", errors="replace").decode("utf8"))


def merge_sources(manifest: SourceManifest, scans: Mapping[Path, Mapping[str, list[Path]]]) -> SourceManifest:
    """Update the manifest after some sources were scanned again.

    Args:
        manifest: Manifest so far.
        scans: Files by document id for each scanned source, from `find_source_files`.

    Returns:
        New manifest, sources and documents sorted.
    """
    rescanned = {str(root) for root in scans if root.is_dir()}
    claims = [claim for claim in _claims_of(manifest) if claim.root not in rescanned]
    for root, found in scans.items():
        claims += [Claim(d, str(root), str(path)) for d, paths in found.items() for path in paths]
    return _record({*manifest.roots, *(str(root) for root in scans)}, claims)


def drop_source(
    manifest: SourceManifest, root: str, *, others: Mapping[Path, Mapping[str, list[Path]]]
) -> SourceManifest:
    """Remove a source from the manifest; its documents move to other sources that contain them.

    Args:
        manifest: Manifest so far.
        root: Source to remove.
        others: Files by document id of the other sources, as they are now.

    Returns:
        New manifest, as `merge_sources` gives it.
    """
    claims = [claim for claim in _claims_of(manifest) if claim.root != root]
    return merge_sources(_record({*manifest.roots} - {root}, claims), others)


def _claims_of(manifest: SourceManifest) -> Iterator[Claim]:
    for document_id, file in manifest.files.items():
        for entry in (file, file.rival):
            if entry is not None:
                yield Claim(document_id, entry.root, entry.path)


def _record(roots: Iterable[str], claims: Iterable[Claim]) -> SourceManifest:
    """Return the manifest of some sources: for each document the first existing file, and its first rival."""
    claimed: dict[str, list[Claim]] = {}
    for claim in claims:
        claimed.setdefault(claim.document_id, []).append(claim)
    files: dict[str, SourceFile] = {}
    for document_id, rivals in sorted(claimed.items()):
        existing = list({claim.path: claim for claim in rivals if Path(claim.path).exists()}.values()) or rivals[-1:]
        rival = next((claim for claim in existing[1:] if not _are_same(Path(existing[0].path), Path(claim.path))), None)
        other = None if rival is None else FilePlace(root=rival.root, path=rival.path)
        files[document_id] = SourceFile(root=existing[0].root, path=existing[0].path, rival=other)
    return SourceManifest(roots=sorted(roots), files=files)


def _are_same(one: Path, other: Path) -> bool:
    """Return whether two files have the same bytes; False where one cannot be read."""
    try:
        return one.stat().st_size == other.stat().st_size and seen_sha256(one) == seen_sha256(other)
    except OSError:
        return False


def find_duplicate_files(seen: Mapping[str, str], *, admitted: Mapping[str, str]) -> dict[str, str]:
    """Find documents with the same bytes as another one.

    The admitted document stays, else the one with the shorter name.

    Args:
        seen: SHA-256 of the files as they are now, by document id.
        admitted: SHA-256 with which documents were admitted; documents missing from `seen` keep it.

    Returns:
        For each duplicate the id of the document that stays.
    """
    current = {d for d, sha256 in admitted.items() if seen.get(d, sha256) == sha256}
    holders: dict[str, str] = {}
    for document_id in sorted(current):
        holders.setdefault(admitted[document_id], document_id)
    for document_id in sorted(seen.keys() - current, key=lambda name: (len(name), name)):
        holders.setdefault(seen[document_id], document_id)
    return {d: holders[sha256] for d, sha256 in seen.items() if d not in current and holders[sha256] != d}


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal.

    Args:
        path: Path of the file.
    """
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def seen_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, cached while its times, size and inode are unchanged.

    Args:
        path: Path of the file.
    """
    found = path.stat()
    return _seen_sha256(path, (found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino))


@lru_cache(maxsize=100_000)
def _seen_sha256(path: Path, state: tuple[int, ...]) -> str:
    return sha256_of(path)


def existing_roots(roots: Iterable[str]) -> list[Path]:
    """Return the recorded sources that exist; a missing one, such as an unmounted disk, removes no document.

    Args:
        roots: Sources of the manifest.
    """
    return [Path(root) for root in roots if Path(root).exists()]
