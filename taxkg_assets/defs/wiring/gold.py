"""Folders of labels and query sets on disk: the bundled ones and those that the setting `gold` adds."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from taxkg_assets.defs.home.store import digest
from taxkg_assets.defs.wiring.resources import PROJECT, Home
from taxkg_assets.evaluation.labels import LABEL_FILES, Labels, read_label_file, read_labels
from taxkg_assets.rules.floors import BUNDLED_SET
from taxkg_assets.sources.scan import sha256_of

BUNDLED = PROJECT / "data" / "eval"


class GoldError(Exception):
    """A configured label folder does not exist, or its query set is unreadable."""


def label_folders(home: Home) -> list[Path]:
    """Return the bundled label folder, if present, then the folders in TAXKG_GOLD.

    Args:
        home: Home with the settings.

    Raises:
        GoldError: TAXKG_GOLD names a path that is not a folder.
    """
    configured_folders = [Path(part).resolve() for part in home.settings.gold.split(os.pathsep) if part]
    for folder in configured_folders:
        if not folder.is_dir():
            raise GoldError(
                f"{folder}, named in TAXKG_GOLD, is not a folder. Correct the setting, or create the folder."
            )
    return [folder for folder in (BUNDLED, *configured_folders) if folder.is_dir()]


def open_labels(home: Home) -> Labels:
    """Return all labels of the bundled and the configured folders.

    Args:
        home: Home with the settings.
    """
    return _read_labels(tuple((folder, _fingerprint(folder)) for folder in label_folders(home)))


@cache
def _read_labels(folders: tuple[tuple[Path, str], ...]) -> Labels:
    return read_labels(
        {
            str(folder): {
                path.stem: read_label_file(path.stem, path.read_text(encoding="utf8"))
                for path in sorted(folder.iterdir())
                if path.stem in LABEL_FILES and path.suffix in (".json", ".jsonl")
            }
            for folder, _ in folders
        }
    )


def open_query_sets(home: Home) -> dict[str, list[dict[str, Any]]]:
    """Return the query set of each label folder that has one, by folder name; the bundled one is `bundled`.

    Args:
        home: Home with the settings.

    Raises:
        GoldError: A folder does not exist, or a query set is not JSON Lines.
    """
    sets_by_name: dict[str, list[dict[str, Any]]] = {}
    for folder in label_folders(home):
        path = folder / "queries.jsonl"
        if path.exists():
            lines = path.read_text(encoding="utf8").splitlines()
            name = BUNDLED_SET if folder == BUNDLED else f"{folder.parent.name}/{folder.name}"
            try:
                sets_by_name[name] = [json.loads(line) for line in lines if line.strip()]
            except json.JSONDecodeError as broken:
                raise GoldError(f"{path} is not a valid JSON Lines file ({broken}). Correct the file.") from broken
    return sets_by_name


def gold_fingerprint(home: Home) -> str:
    """Return a digest of the bytes of all labels and query sets.

    Args:
        home: Home with the settings.
    """
    return digest(*(f"{folder.name}:{_fingerprint(folder)}" for folder in label_folders(home)))


def _fingerprint(folder: Path) -> str:
    return digest(*(f"{path.name}={sha256_of(path)}" for path in sorted(folder.glob("*.json*"))))
