"""Opens versions of the search index where the home keeps them, in a folder or in a bucket."""

from __future__ import annotations

from typing import Any

from taxkg_assets.defs.home.store import Store


def open_index(store: Store, path: str) -> Any:
    """Return a LanceDB connection to one version of the index.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.
    """
    # Loaded here: readers of an index that fits into memory need no LanceDB.
    from taxkg_assets.defs.home.lance_client import load_lancedb

    return load_lancedb().connect(store.storage.uri_of(path), storage_options=store.storage.options() or None)


def has_index(store: Store, path: str) -> bool:
    """Return whether a version of the index still exists.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.
    """
    return any(".lance/_versions/" in name for name in store.storage.walk(path))
