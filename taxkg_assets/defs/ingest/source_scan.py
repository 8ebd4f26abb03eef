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
    """Return whether a source is recorded or the inbox contains a file.

    Args:
        home: Tables, files and settings of the home.
    """
    inbox = inbox_of(home.settings)
    return bool(home.store.read_manifest().roots) or (inbox.is_dir() and bool(find_source_files(inbox)))


def scan_sources(home: Home, roots: Sequence[Path] = (), *, default_roots: Sequence[Path] = ()) -> ScannedSources:
    """Scan the given sources, or all recorded ones and the inbox, and record their files.

    Args:
        home: Tables, files and settings of the home.
        roots: Folders and files to scan and record.
        default_roots: Sources to scan if `roots` is empty, none is recorded and the inbox is empty.

    Returns:
        The manifest, and the reasons why folders could not be read.

    Raises:
        SourceError: No source can be read.
    """
    store = home.store
    with store.lock_manifest():
        manifest = store.read_manifest()
        chosen_roots = roots or (() if has_sources(home) else default_roots)
        recorded = sorted({*manifest.roots, str(inbox_of(home.settings))})
        scanned_roots = [root.resolve() for root in chosen_roots] or existing_roots(recorded)
        scans, reasons_by_root = scan_roots(scanned_roots)
        new_manifest = merge_sources(manifest, scans, unreadable_roots=reasons_by_root)
        if new_manifest != manifest:
            store.write_manifest(new_manifest)
    return ScannedSources(new_manifest, list(reasons_by_root.values()))


def scan_roots(roots: Iterable[Path]) -> tuple[dict[Path, dict[str, list[Path]]], dict[Path, str]]:
    """Find the documents of some sources.

    Args:
        roots: Folders and files.

    Returns:
        Files by document id for each source that can be read, and the reason for each one that cannot.

    Raises:
        MissingSourceError: A source does not exist, or is a file of another kind.
        SourceError: No source can be read.
    """
    scans: dict[Path, dict[str, list[Path]]] = {}
    errors: dict[Path, SourceError] = {}
    for root in roots:
        try:
            scans[root] = find_source_files(root)
        except MissingSourceError:
            raise
        except SourceError as error:
            errors[root] = error
    if errors and not scans:
        raise next(iter(errors.values()))
    return scans, {root: str(error) for root, error in errors.items()}
