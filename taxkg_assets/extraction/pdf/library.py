"""PyMuPDF without the layout model and the Markdown writer that it loads with itself: a second in each process.

Only one optional engine of tables asks the layout model. Code that imports these modules has them as before.
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
        sys.modules[name] = None  # type: ignore[assignment] # Python's own way to say that there is none
    try:
        import pymupdf
    finally:
        for name in hidden:
            del sys.modules[name]
    return pymupdf


pymupdf: Any = _import_library()

MEMORY_ERRORS: tuple[type[Exception], ...] = (pymupdf.mupdf.FzErrorSystem,)
"""How MuPDF reports that it cannot allocate. It reads bytes that are in memory, so no other system call can fail."""
