"""PyMuPDF without its layout model and its Markdown writer, whose import takes a second in each process.

Only one optional engine of tables uses the layout model. Other code can still import both modules.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

LAYOUT, WRITER = "pymupdf.layout", "pymupdf4llm"


def load_layout() -> None:
    """Enable the layout model in PyMuPDF's table finder, if the installed version has one."""
    with suppress(ImportError):
        import_module(LAYOUT)


def _import_library() -> ModuleType:
    hidden = [] if "pymupdf" in sys.modules else [name for name in (LAYOUT, WRITER) if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment] # Python then raises ImportError for this module
    try:
        import pymupdf
    finally:
        for name in hidden:
            del sys.modules[name]
    return pymupdf


pymupdf: Any = _import_library()

MEMORY_ERRORS: tuple[type[Exception], ...] = (pymupdf.mupdf.FzErrorSystem,)
"""How MuPDF reports that it cannot allocate. It reads bytes that are in memory, so no other system call can fail."""
