"""Storage of a home, addressed by paths below it: a folder of this machine, or a bucket.

What belongs here: bytes under names, folders that take their place at once, what an engine needs to open a name by
itself, and the lease by which one build at a time writes. What does not: what the bytes mean.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple, Protocol

REMOTE = "s3://"


class HomeBusyError(Exception):
    """Another build works on this home."""


class StorageError(Exception):
    """The home's bucket cannot be used; the message gives the reason and the remedy."""


def atomic_write(path: Path, data: bytes) -> None:
    """Write a file atomically: readers get the old or the new content.

    Args:
        path: File to write.
        data: Its content.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    temporary.replace(path)


_COMMIT = re.compile(r"[0-9]{20}\.json").fullmatch


def newest_commit(table: Path) -> int:
    """Return the number of the newest commit in a Delta table's log; -1 if there is none.

    Args:
        table: Folder of the table.
    """
    try:
        names = os.listdir(table / "_delta_log")
    except FileNotFoundError:
        return -1
    return max((int(name[:20]) for name in names if _COMMIT(name)), default=-1)


def identify_commit(table: Path, version: int) -> tuple[int, int] | None:
    """Identify a commit of a Delta table among others of the same number at the same place.

    Args:
        table: Folder of the table.
        version: Number of the commit.

    Returns:
        Number of its file on the disk and time of change in nanoseconds; None if the log no longer has the commit.
    """
    try:
        status = (table / "_delta_log" / f"{version:020}.json").stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


class FileStat(NamedTuple):
    """Properties of a file without reading it."""

    bytes: int
    age_s: float


class Storage(Protocol):
    """Interface of a home's storage. Names are relative with `/` separators; a name outside the storage is an error."""

    def uri_of(self, name: str) -> str:
        """Return the URI of a name, for storage engines and messages.

        Args:
            name: Path of a file or folder, relative to the home.
        """

    def options(self) -> dict[str, str]:
        """Return what an engine needs to open a `uri_of`: endpoint, region, keys. Never log or store it."""

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a name; None where it does not exist.

        Args:
            name: Path of a file or folder, relative to the home.
        """

    def stat(self, name: str) -> FileStat | None:
        """Return the size and age of a file; None where there is none.

        Args:
            name: Path of a file or folder, relative to the home.
        """

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically: readers get the old or the new bytes.

        Args:
            name: Path of a file or folder, relative to the home.
            data: Content of the file.
        """

    def remove(self, name: str) -> None:
        """Delete a name and everything below it.

        Args:
            name: Path of a file or folder, relative to the home.
        """

    def children(self, name: str) -> list[str]:
        """Return the names directly below a folder, sorted.

        Args:
            name: Path of a file or folder, relative to the home.
        """

    def walk(self, name: str) -> Iterator[str]:
        """Return every file below a folder, as relative paths.

        Args:
            name: Path of a file or folder, relative to the home.
        """

    def publish_folder(self, folder: Path, name: str) -> None:
        """Move a local folder into the home, replacing any folder of that name.

        Args:
            folder: Local folder; its files are moved.
            name: Path of a file or folder, relative to the home.
        """

    def local_copy(self, name: str) -> Path:
        """Return a local folder with a copy of immutable files below a name.

        Args:
            name: Path of a file or folder, relative to the home.
        """

    def lease(self, *, wait_s: float) -> AbstractContextManager[None]:
        """Lock the storage for one writer among all machines.

        Args:
            wait_s: Longest wait for another writer, in seconds.

        Returns:
            A context that holds the lock.
        """

    def check_lease(self) -> None:
        """Raise `HomeBusyError` if the lease was lost, because another build may be writing."""


def is_remote(home: str) -> bool:
    """Return whether a home is in a bucket.

    Args:
        home: Folder or bucket address of the home.
    """
    return home.startswith(REMOTE)


def safe_name(name: str) -> str:
    """Check that a relative name stays below its folder, and return it.

    Args:
        name: Name of a file or folder.

    Returns:
        The name.

    Raises:
        ValueError: The name leads out of its folder.
    """
    if name.startswith("/") or "\0" in name or any(part in {"", ".", ".."} for part in name.split("/")):
        raise ValueError(f"{name!r} is not a valid path in a home: it leads out of the home.")
    return name


class LocalStorage:
    """Storage of a home in a local folder. The store's file lock protects it, so its lease does nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def uri_of(self, name: str) -> str:
        """Return the absolute or relative path of a name.

        Args:
            name: Path of a file or folder, relative to the home.

        Raises:
            ValueError: The name leads out of the home.
        """
        return str(self._path(name))

    def options(self) -> dict[str, str]:
        """Return an empty mapping: engines open local paths without options."""
        return {}

    def read(self, name: str) -> bytes | None:
        """Read a file.

        Args:
            name: Path of a file or folder, relative to the home.

        Returns:
            Its bytes; None where there is no such file.
        """
        path = self._path(name)
        return path.read_bytes() if path.is_file() else None

    def stat(self, name: str) -> FileStat | None:
        """Read the size and age of a file, by the clock of this machine.

        Args:
            name: Path of a file or folder, relative to the home.

        Returns:
            Size in bytes and age in seconds; None where there is no such file.
        """
        path = self._path(name)
        if not path.is_file():
            return None
        status = path.stat()
        return FileStat(status.st_size, time.time() - status.st_mtime)

    def write(self, name: str, data: bytes) -> None:
        """Replace a file atomically: readers get the old or the new bytes.

        Args:
            name: Path of a file or folder, relative to the home.
            data: Content.
        """
        atomic_write(self._path(name), data)

    def remove(self, name: str) -> None:
        """Delete a file or a folder with its content; a missing one is ignored.

        Args:
            name: Path of a file or folder, relative to the home.
        """
        path = self._path(name)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def children(self, name: str) -> list[str]:
        """Return the names directly below a folder, sorted; empty for a missing folder.

        Args:
            name: Path of a file or folder, relative to the home.
        """
        path = self._path(name)
        return sorted(child.name for child in path.iterdir()) if path.is_dir() else []

    def walk(self, name: str) -> Iterator[str]:
        """List all files below a folder, sorted.

        Args:
            name: Path of a file or folder, relative to the home.

        Yields:
            Path of each file, relative to the folder.
        """
        path = self._path(name)
        yield from (file.relative_to(path).as_posix() for file in sorted(path.rglob("*")) if file.is_file())

    def publish_folder(self, folder: Path, name: str) -> None:
        """Move a folder into the home on the same file system, replacing any folder of that name.

        Args:
            folder: Local folder; it is gone afterwards.
            name: Path of a file or folder, relative to the home.
        """
        self.remove(name)
        self._path(name).parent.mkdir(parents=True, exist_ok=True)
        folder.replace(self._path(name))

    def local_copy(self, name: str) -> Path:
        """Return the path of a name, which is local already.

        Args:
            name: Path of a file or folder, relative to the home.
        """
        return self._path(name)

    def lease(self, *, wait_s: float) -> AbstractContextManager[None]:
        """Return an empty context: the store's file lock suffices on one machine.

        Args:
            wait_s: Not used.
        """
        return nullcontext()

    def check_lease(self) -> None:
        """Do nothing: a file lock cannot be lost while its process lives."""

    def _path(self, name: str) -> Path:
        return self._folder / safe_name(name)
