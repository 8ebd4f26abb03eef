"""Open what a benchmark asks, and write what it found."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.documents import CorpusError

if TYPE_CHECKING:  # most benchmarks ask no home
    from taxkg_assets.serving.released import Released


def open_home(home: str) -> Released:
    """Open the release of a home.

    Raises:
        CorpusError: Nothing has been released there.
    """
    from taxkg_assets.serving.released import NotReleasedError, open_release

    try:
        return open_release(home)
    except NotReleasedError as missing:
        raise CorpusError(str(missing)) from missing


def write_results(report: Any, text: str, *, folder: Path, name: str) -> str:
    """Write a report as `<name>.json` and `<name>.md`.

    Args:
        report: Dataclass with the figures.
        text: Its Markdown.
        folder: Where to write; made if need be.
        name: Of the benchmark.

    Returns:
        The Markdown.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf8")
    (folder / f"{name}.md").write_text(text, encoding="utf8")
    return text
