"""Scanning the recorded sources of a home, and recording their files in the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from taxkg_assets.defs.ingest.file_status import inbox_of
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.sources.manifest import SourceManifest
from taxkg_assets.sources.scan import (
    MissingSourceError,
    SourceError,
    existing_roots,
    find_source_files,
    merge_sources,
)


class ScannedSources(NamedTuple):
    """The recorded sources after a scan.

    Attributes:
        manifest: Recorded sources.
        closed: Reasons why folders could not be read, one sentence each; the rows of their documents stay.
    """

    manifest: SourceManifest
    closed: list[str]


def has_sources(home: Home) -> bool:
    """Return whether a source is recorded or the inbox contains a file."""
    inbox = inbox_of(home.settings)
    return bool(home.store.read_manifest().roots) or (inbox.is_dir() and bool(find_source_files(inbox)))


def scan_sources(home: Home, roots: Sequence[Path] = (), *, at_first: Sequence[Path] = ()) -> ScannedSources:
    """Scan the given sources, or all recorded ones and the inbox, and record their files.

    Args:
        home: The home.
        roots: Folders and files to scan and record.
        at_first: Sources to use if none is recorded and the inbox is empty.

    Returns:
        The manifest, and the reasons why folders could not be read.

    Raises:
        SourceError: No source can be read.
    """
    store = home.store
    with store.lock_manifest():
        manifest = store.read_manifest()
        given = roots or (() if has_sources(home) else at_first)
        recorded = sorted({*manifest.roots, str(inbox_of(home.settings))})
        scanned = [root.resolve() for root in given] or existing_roots(recorded)
        scans, closed = _scan(scanned)
        merged = merge_sources(manifest, scans)
        if merged != manifest:
            store.write_manifest(merged)
    return ScannedSources(merged, closed)


def _scan(roots: Iterable[Path]) -> tuple[dict[Path, dict[str, list[Path]]], list[str]]:
    """Return the files of each source, and why some sources cannot be read; one that never existed is an error."""
    scans: dict[Path, dict[str, list[Path]]] = {}
    closed: list[SourceError] = []
    for root in roots:
        try:
            scans[root] = find_source_files(root)
        except MissingSourceError:
            raise
        except SourceError as unreadable:
            closed.append(unreadable)
    if closed and not scans:
        raise closed[0]
    return scans, [str(unreadable) for unreadable in closed]
