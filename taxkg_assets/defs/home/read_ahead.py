"""Have the operating system read the files of a large index into its cache, before questions need them.

A question reads some thousand rows of these files, each a request to the disk where the file is not cached: at 500,000
passages that makes a question half as slow again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from taxkg_assets.defs.home.index_files import FACTS
from taxkg_assets.defs.home.store import Store

READ_BY_ROW = ("vectors.npy", "section_means.npy", "mapped.arrow")
"""Files of an index of which a question reads single rows."""
_REQUESTED_AT_ONCE = 1 << 17
"""Bytes of a request: Linux cuts a larger one to what it reads ahead, which may be no more than this."""


def read_index_ahead(store: Store, path: str) -> None:
    """Request that the operating system reads the files of an index; it does so in the background.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.
    """
    folder = store.storage.local_copy(f"{path}/{FACTS}")
    for name in READ_BY_ROW:
        with suppress(OSError):  # questions read the file themselves, and report what is wrong with it
            read_file_ahead(folder / name)


def read_file_ahead(path: Path) -> None:
    """Request that the operating system reads a file; does nothing where it takes no such request.

    Args:
        path: The file.

    Raises:
        OSError: The file cannot be opened.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    with path.open("rb") as file:
        for start in range(0, path.stat().st_size, _REQUESTED_AT_ONCE):
            os.posix_fadvise(file.fileno(), start, _REQUESTED_AT_ONCE, os.POSIX_FADV_WILLNEED)
