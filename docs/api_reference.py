"""Renders the API reference from the docstrings: one HTML page per module, without a network. `make api` runs it."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pdoc

from taxkg_assets.garbage import collect_rarely

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("taxkg_assets", "!taxkg_assets.defs.ingest.spark")
"""The package, without the module that needs the extra `spark`."""


def render(folder: Path) -> None:
    """Render the reference.

    Args:
        folder: Folder to write; it is created.

    Raises:
        RuntimeError: A module cannot be imported.
    """
    pdoc.render.configure(docformat="google", show_source=False, search=False, footer_text="taxkg")
    # `inspect` parses a whole module again for each class in it, which took a third of the time.
    with patch.object(ast, "parse", cache(ast.parse)):
        pdoc.pdoc(*MODULES, output_directory=folder)


if __name__ == "__main__":
    collect_rarely()  # the trees of all modules stay, and a fifth of the time went into looking through them
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "api"
    render(target)
    print(f"API reference: {target / 'taxkg_assets.html'}")
