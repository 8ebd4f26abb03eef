"""The recorded sources from the command line: what they hold, and how one is given up."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.ingest.file_status import inbox_of
from taxkg_assets.defs.ingest.source_scan import scan_roots
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.sources.scan import MissingSourceError, SourceError, drop_source, existing_roots


class ListedSource(TypedDict):
    """A recorded source folder or file."""

    source: str
    documents: int
    is_there: bool
    is_inbox: bool


def list_sources(home: str) -> list[ListedSource]:
    """List the recorded sources.

    Args:
        home: Folder or bucket address of the home.

    Returns:
        One row per source with the number of its documents and whether it is available now.
    """
    store = Store(home)
    manifest = store.read_manifest()
    inbox = str(inbox_of(Home(home=home).settings))
    return [
        {
            "source": root,
            "documents": sum(file.root == root for file in manifest.files.values()),
            "is_there": Path(root).exists(),
            "is_inbox": root == inbox,
        }
        for root in manifest.roots
    ]


def drop(home: str, source: Path) -> list[str]:
    """Remove a recorded source; the next build removes its documents.

    A document stays if another recorded source has the same bytes.

    Args:
        home: Folder or bucket address of the home.
        source: Folder or file of the source.

    Returns:
        Ids of the documents that the next build removes, sorted.

    Raises:
        MissingSourceError: The source was never recorded.
        SourceError: The source is the inbox, or the only one with documents.
    """
    store = Store(home)
    with store.exclusive(), store.lock_manifest():
        manifest = store.read_manifest()
        named_root = next((root for root in manifest.roots if root in (str(source), str(source.resolve()))), None)
        if named_root is None:
            source_list = ", ".join(manifest.roots) or "none"
            raise MissingSourceError(f"{source} is not a recorded source of {store.home}. Sources: {source_list}.")
        if named_root == str(inbox_of(Home(home=home).settings)):
            raise SourceError(
                f"{named_root} cannot be removed: the inbox is always a source. Delete the files in it instead."
            )
        other_roots = [root for root in existing_roots(manifest.roots) if str(root) != named_root]
        files_of_others, _ = scan_roots(other_roots)
        new_manifest = drop_source(manifest, named_root, other_scans=files_of_others)
        if not new_manifest.files:
            raise SourceError(
                f"{named_root} cannot be removed: it is the only source with documents. Record another one first with "
                "`taxkg build --corpus`, or delete the home."
            )
        store.write_manifest(new_manifest)
    return sorted(manifest.files.keys() - new_manifest.files.keys())
