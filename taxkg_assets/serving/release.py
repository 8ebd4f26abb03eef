"""The release from the command line: what is served, and the step back to the one before."""

from __future__ import annotations

from typing import Any

from taxkg_assets.defs.home.indexes import has_index
from taxkg_assets.defs.home.store import Store
from taxkg_assets.records import ReleaseRecord, iter_records
from taxkg_assets.retrieval.index.release import find_current, roll_back
from taxkg_assets.schemas import Release
from taxkg_assets.serving.released import NotReleasedError


class ListedRelease(ReleaseRecord):
    """A release, and whether it is the one currently served."""

    is_current: bool


def list_releases(home: str) -> list[ListedRelease]:
    """List all releases, newest first.

    Args:
        home: Folder or bucket address of the home.

    Returns:
        Releases; `is_current` marks the one that is served.
    """
    store = Store(home)
    releases = Release.cast(store.read_or_empty("release"))
    current = find_current(releases)
    current_number = None if current is None else current["release_ix"]
    rows = iter_records(releases.sort("release_ix", descending=True), ReleaseRecord)
    return [{**row, "is_current": row["release_ix"] == current_number} for row in rows]


def withdraw(home: str) -> None:
    """Roll back to the release before the current one.

    Args:
        home: Folder or bucket address of the home.

    Raises:
        NotReleasedError: There is no earlier release, or its index was deleted.
    """
    store = Store(home)
    with store.exclusive():
        state = store.state("release")
        old = Release.cast(store.read_or_empty("release"))
        new = roll_back(old)
        if state is None or new.equals(old):
            raise NotReleasedError(f"{store.uri} has no earlier release to roll back to.")
        if not has_index(store, str(_current(new)["index_path"])):
            raise NotReleasedError(
                "Cannot roll back: the index of the previous release was deleted. Rebuild from the earlier documents "
                "with `taxkg build`."
            )
        store.write("release", new, inputs=state.inputs)


def _current(releases: Any) -> dict[str, object]:
    current_release = find_current(releases)
    assert current_release is not None
    return current_release
