"""Opens versions of the search index where the home keeps them, in a folder or in a bucket."""

from __future__ import annotations

from typing import Any

from taxkg_assets.defs.store import Store


def open_index(store: Store, path: str) -> Any:
    """A LanceDB connection to one version of the index."""
    import lancedb  # loaded here: readers of an index that fits into memory need no LanceDB

    return lancedb.connect(store.place.uri_of(path), storage_options=store.place.options() or None)


def has_index(store: Store, path: str) -> bool:
    """Whether this version is still kept."""
    return any(".lance/_versions/" in name for name in store.place.walk(path))
