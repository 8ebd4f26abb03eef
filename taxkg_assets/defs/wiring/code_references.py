"""Links from the UI to the code: the function that makes or judges a table, and the line that wires it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg

from taxkg_assets.defs.wiring.resources import PACKAGE, source_line


def code_references(**functions: Callable[..., Any]) -> dg.CodeReferencesMetadataValue:
    """Return links to functions and to the calling line in `defs`, for the Dagster UI.

    Args:
        functions: Functions by label.
    """
    lines_by_label = {label: source_line(function) for label, function in functions.items()}
    return dg.CodeReferencesMetadataValue(
        code_references=[
            dg.LocalFileCodeReference(file_path=file, line_number=line, label=label)
            for label, (file, line) in {**lines_by_label, "wiring": _find_wiring()}.items()
        ]
    )


def _find_wiring() -> tuple[str, int]:
    """Return the module-level statement of `defs` that is being executed."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and Path(frame.f_code.co_filename).parent == PACKAGE / "defs":
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    raise LookupError("code_references() must be called while a module of defs is imported.")
