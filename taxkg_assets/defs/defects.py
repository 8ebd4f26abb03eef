"""Messages of unexpected errors, for documents on which our code fails."""

from __future__ import annotations

import traceback
from pathlib import Path

_MOST_CHARACTERS = 400


def describe_defect(error: Exception) -> str:
    """Describe an unexpected error in one line: its type, its message and where it was raised.

    Args:
        error: The error.

    Returns:
        One line, such as "IndexError: list index out of range (flow_words.py:144)".
    """
    last = traceback.extract_tb(error.__traceback__)[-1]
    message = " ".join(str(error).split())[:_MOST_CHARACTERS]
    return f"{type(error).__name__}: {message} ({Path(last.filename).name}:{last.lineno})"
