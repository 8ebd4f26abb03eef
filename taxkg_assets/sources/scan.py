"""Scan of the sources: the documents that each folder or file contains now, and the manifest that records them.

This module reads names and paths, and compares files; it does not read documents.
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
_MAX_NAMES = 3  # names to list of skipped files
_MAX_FILES = 5000  # files to inspect in a subfolder
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class SourceError(Exception):
    """A source cannot be read; the message names the source and the remedy."""


class MissingSourceError(SourceError):
    """A given source does not exist, or contains no document."""


class Claim(NamedTuple):
    """A file that may be the file of a document.

    Attributes:
        document_id: Id of the document, from the name of the file.
        root: Source that contains the file.
        path: Path of the file.
    """

    document_id: str
    root: str
    path: str


def find_source_files(root: Path) -> dict[str, list[Path]]:
    """Find the documents of one source: the .pdf and .txt files directly in a folder, or a single file.

    Args:
        root: Folder or file.

    Returns:
        Files by document id; an id has several files if their names differ only in the ending.

    Raises:
        MissingSourceError: The source does not exist, or is a file of another kind.
        SourceError: The source cannot be read.
    """
    try:
        if root.is_dir():
            return _find_files_in(root)
        if root.is_file() and root.suffix.lower() in SUFFIXES:
            return {name_of(root): [root]}
        is_there = root.exists()
    except OSError as closed:
        raise SourceError(
            f"{root} cannot be read ({closed.strerror}). Give the user of this process permission to read it."
        ) from closed
    if is_there:
        raise MissingSourceError(f"{root} is neither a .pdf nor a .txt file. Give such a file, or a folder of them.")
    raise MissingSourceError(f"{root} does not exist. Give a PDF, a .txt statute, or a folder of these.")


def _find_files_in(folder: Path) -> dict[str, list[Path]]:
    source_files: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in SUFFIXES and path.is_file() and not path.name.startswith("."):
            source_files.setdefault(name_of(path), []).append(path)
    return source_files


def describe_skipped(root: Path, *, roots: Collection[str] = ()) -> str:
    """Describe document-like entries of a folder that are not read: subfolders, broken links, pipes and the like.

    Args:
        root: Folder or file of a source.
        roots: All sources; a subfolder that is a source itself is not skipped.

    Returns:
        One sentence; empty if nothing is skipped, or if the folder cannot be read. Hidden files are not listed.
    """
    try:
        return _describe_skipped(root, roots)
    except OSError:
        return ""


def _describe_skipped(root: Path, roots: Collection[str]) -> str:
    paths = [path for path in sorted(root.iterdir()) if not path.name.startswith(".")] if root.is_dir() else []
    folders = [path for path in paths if path.is_dir() and str(path) not in roots and _holds_documents(path)]
    named_paths = [path for path in paths if path.suffix.lower() in SUFFIXES and path not in folders]
    links = [path for path in named_paths if path.is_symlink() and not path.exists()]
    others = [path for path in named_paths if path.exists() and not path.is_file() and str(path) not in roots]
    descriptions = []
    if folders:
        descriptions.append(f"the subfolders {_list_names(folders)} (give them as --corpus)")
    if links:
        descriptions.append(f"the broken links {_list_names(links)}")
    if others:
        descriptions.append(f"{_list_names(others)} (no files)")
    return f"Not read in {printable(str(root))}: {'; '.join(descriptions)}." if descriptions else ""


def _holds_documents(folder: Path) -> bool:
    """Return whether a folder contains a document at any depth; only the first files are inspected."""
    try:
        return any(path.suffix.lower() in SUFFIXES for path in islice(folder.rglob("*"), _MAX_FILES))
    except OSError:
        return False


def _list_names(paths: Sequence[Path]) -> str:
    more_words = f" and {len(paths) - _MAX_NAMES} more" if len(paths) > _MAX_NAMES else ""
    return ", ".join(printable(path.name) for path in paths[:_MAX_NAMES]) + more_words


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


def merge_sources(
    manifest: SourceManifest,
    scans: Mapping[Path, Mapping[str, list[Path]]],
    *,
    unreadable_roots: Iterable[Path] = (),
) -> SourceManifest:
    """Update the manifest after some sources were scanned again.

    Args:
        manifest: Manifest so far.
        scans: Files by document id for each scanned source, from `find_source_files`.
        unreadable_roots: Sources to record although they cannot be read yet; the files of recorded ones stay.

    Returns:
        New manifest, sources and documents sorted.
    """
    rescanned_roots = {str(root) for root in scans if root.is_dir()}
    claims = [claim for claim in _claims_of(manifest) if claim.root not in rescanned_roots]
    for root, source_files in scans.items():
        claims += [
            Claim(document_id, str(root), str(path)) for document_id, paths in source_files.items() for path in paths
        ]
    return _build_manifest({*manifest.roots, *map(str, scans), *map(str, unreadable_roots)}, claims)


def drop_source(
    manifest: SourceManifest, root: str, *, other_scans: Mapping[Path, Mapping[str, list[Path]]]
) -> SourceManifest:
    """Remove a source from the manifest; its documents move to other sources that contain them.

    Args:
        manifest: Manifest so far.
        root: Source to remove.
        other_scans: Files by document id of the other sources, as they are now.

    Returns:
        New manifest, sources and documents sorted.
    """
    claims = [claim for claim in _claims_of(manifest) if claim.root != root]
    return merge_sources(_build_manifest({*manifest.roots} - {root}, claims), other_scans)


def _claims_of(manifest: SourceManifest) -> Iterator[Claim]:
    for document_id, file in manifest.files.items():
        for entry in (file, file.rival):
            if entry is not None:
                yield Claim(document_id, entry.root, entry.path)


def _build_manifest(roots: Iterable[str], claims: Iterable[Claim]) -> SourceManifest:
    """Build the manifest of some sources: for each document, the first existing file and the first one that differs."""
    claims_by_id: dict[str, list[Claim]] = {}
    for claim in claims:
        claims_by_id.setdefault(claim.document_id, []).append(claim)
    files: dict[str, SourceFile] = {}
    for document_id, document_claims in sorted(claims_by_id.items()):
        existing_claims = (
            list({claim.path: claim for claim in document_claims if Path(claim.path).exists()}.values())
            or document_claims[-1:]
        )
        rival = next(
            (
                claim
                for claim in existing_claims[1:]
                if not _have_same_bytes(Path(existing_claims[0].path), Path(claim.path))
            ),
            None,
        )
        rival_place = None if rival is None else FilePlace(root=rival.root, path=rival.path)
        files[document_id] = SourceFile(root=existing_claims[0].root, path=existing_claims[0].path, rival=rival_place)
    return SourceManifest(roots=sorted(roots), files=files)


def _have_same_bytes(first_path: Path, second_path: Path) -> bool:
    """Return whether two files have the same bytes; False where one cannot be read."""
    try:
        return first_path.stat().st_size == second_path.stat().st_size and seen_sha256(first_path) == seen_sha256(
            second_path
        )
    except OSError:
        return False


def find_duplicate_files(found_hashes: Mapping[str, str], *, admitted_hashes: Mapping[str, str]) -> dict[str, str]:
    """Find documents with the same bytes as another document.

    Of equal documents, the admitted one stays, or else the one with the shorter name.

    Args:
        found_hashes: SHA-256 of the files as they are now, by document id.
        admitted_hashes: SHA-256 of admitted documents by document id; documents without a file have kept theirs.

    Returns:
        Id of the document that stays, by id of each duplicate.
    """
    admitted_ids = {d for d, sha256 in admitted_hashes.items() if found_hashes.get(d, sha256) == sha256}
    kept_ids: dict[str, str] = {}
    for document_id in sorted(admitted_ids):
        kept_ids.setdefault(admitted_hashes[document_id], document_id)
    for document_id in sorted(found_hashes.keys() - admitted_ids, key=lambda name: (len(name), name)):
        kept_ids.setdefault(found_hashes[document_id], document_id)
    return {
        d: kept_ids[sha256] for d, sha256 in found_hashes.items() if d not in admitted_ids and kept_ids[sha256] != d
    }


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal.

    Args:
        path: Path of the file.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seen_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, cached while its times, size and inode are unchanged.

    Args:
        path: Path of the file.
    """
    file_stat = path.stat()
    return _seen_sha256(path, (file_stat.st_ctime_ns, file_stat.st_mtime_ns, file_stat.st_size, file_stat.st_ino))


@lru_cache(maxsize=100_000)
def _seen_sha256(path: Path, state: tuple[int, ...]) -> str:
    return sha256_of(path)


def existing_roots(roots: Iterable[str]) -> list[Path]:
    """Return the recorded sources that exist; a missing one, such as an unmounted disk, removes no document.

    Args:
        roots: Sources of the manifest.
    """
    return [Path(root) for root in roots if _may_exist(Path(root))]


def _may_exist(path: Path) -> bool:
    """Return whether a path exists, or is in a folder that cannot be searched."""
    try:
        return path.exists()
    except OSError:
        return True
