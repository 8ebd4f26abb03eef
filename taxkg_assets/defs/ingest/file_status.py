"""The current files of the sources: the bytes of each file, or the reason why it is left out unread.

The sensor, the status and the intake all look through here, so that they agree on what is new. A refusal has a digest,
too: the same one is reported once, and another one, or none any more, counts as a change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from taxkg_assets.defs.home.store import Store, digest
from taxkg_assets.settings import Settings
from taxkg_assets.sources.manifest import SourceFile
from taxkg_assets.sources.scan import find_duplicate_files, printable, sha256_of

MIB = 1024 * 1024
BACK_REMEDY = "Restore the file, or build again without it."
READ_REMEDY = "Give the user of this process permission to read the file, or remove the file."
LINK_REMEDY = "Replace the link with the file itself, or record its folder with `taxkg build --corpus FOLDER`."
SIZE_REMEDY = "Check the file, or raise TAXKG_DOCUMENT_MEMORY_MB and build with --retry."
RIVAL_REMEDY = "Rename one of the files, or remove the wrong one."
DUPLICATE_REMEDY = "Remove one of the two files."


@dataclass(frozen=True, slots=True)
class FileStatus:
    """The current state of a source file.

    Attributes:
        sha256: Digest of its bytes; of a file that is refused, the digest of stage and reason.
        stage: Stage that refuses the file; empty if it can be read, as are reason and remedy.
        reason: Why it is refused, one sentence.
        remedy: What to do about it, one sentence.
    """

    sha256: str
    stage: str = ""
    reason: str = ""
    remedy: str = ""


def inbox_of(settings: Settings) -> Path:
    """Return the inbox, the folder that every build reads.

    Args:
        settings: Settings with `home`.

    Returns:
        The folder in TAXKG_INBOX; by default `inbox` in the home.
    """
    return Path(settings.inbox or Store(settings.home).home / "inbox").resolve()


def inspect_files(
    files: Mapping[str, SourceFile],
    *,
    admitted_hashes: Mapping[str, str],
    settings: Settings,
    hash_file: Callable[[Path], str] = sha256_of,
) -> dict[str, FileStatus]:
    """Inspect files of the manifest; a faulty file does not stop the inspection of the others.

    Args:
        files: Entries of the manifest by document.
        admitted_hashes: SHA-256 by document, for documents of earlier builds; of equal files, an admitted one stays.
        settings: Settings with the maximum file size and the inbox.
        hash_file: Function that returns the SHA-256 of a file.

    Returns:
        The state of each document's file, with the reason if it cannot be read.
    """
    statuses = {
        document: _inspect_file(file, settings=settings, hash_file=hash_file) for document, file in files.items()
    }
    readable = {document: status.sha256 for document, status in statuses.items() if not status.reason}
    for document_id, first_document in find_duplicate_files(readable, admitted_hashes=admitted_hashes).items():
        reason = f"{printable(files[document_id].path)} has the same bytes as the document {first_document}."
        statuses[document_id] = _refuse("open", reason, DUPLICATE_REMEDY)
    return statuses


def _inspect_file(file: SourceFile, *, settings: Settings, hash_file: Callable[[Path], str]) -> FileStatus:
    path, printed_path = Path(file.path), printable(file.path)
    if file.rival is not None:
        reason = (
            f"Two files have this name, and they differ or cannot be compared: {printed_path} and "
            f"{printable(file.rival.path)}."
        )
        return _refuse("open", reason, RIVAL_REMEDY)
    try:
        if _is_link_out_of(path, inbox=inbox_of(settings)):
            return _refuse("open", f"{printed_path} is a link to a file outside the inbox.", LINK_REMEDY)
        size = path.stat().st_size
        if size > settings.document_memory_mb * MIB:
            reason = f"{printed_path} has {size // MIB} MiB, more than the limit of {settings.document_memory_mb} MiB."
            return _refuse("limits", reason, SIZE_REMEDY)
        return FileStatus(hash_file(path))
    except FileNotFoundError:
        return _refuse("open", f"{printed_path} does not exist.", BACK_REMEDY)
    except OSError as closed:
        return _refuse("open", f"{printed_path} cannot be read ({closed.strerror}).", READ_REMEDY)


def _is_link_out_of(path: Path, *, inbox: Path) -> bool:
    """Return whether a file of the inbox is a link to elsewhere; folders that a user named may contain links."""
    return path.parent == inbox and path.is_symlink() and not path.resolve().is_relative_to(inbox)


def _refuse(stage: str, reason: str, remedy: str) -> FileStatus:
    return FileStatus(digest(stage, reason), stage, reason, remedy)
