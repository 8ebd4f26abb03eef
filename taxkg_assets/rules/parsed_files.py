"""Content of rule files as another process parsed it: to parse the YAML of a question's rules takes 0.1 s.

It lies where Python keeps compiled modules, and like those it holds for a file of the same size and time of change.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def read_parsed(path: Path, parse: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Read a file's parsed content, from the cache where it holds the present file.

    Args:
        path: File to read.
        parse: Parser of its text.

    Returns:
        The content; of a package that may not be written, each process parses it.
    """
    seen = path.stat()
    state = (seen.st_size, seen.st_mtime_ns)
    cached = path.parent / "__pycache__" / f"{path.name}.{sys.implementation.cache_tag}"
    content = _recall(cached, state)
    if content is None:
        content = parse(path.read_text(encoding="utf8"))
        if not sys.dont_write_bytecode:
            _keep(cached, state, content)
    return content


def _recall(cached: Path, state: tuple[int, int]) -> dict[str, Any] | None:
    """Return the cached content of a file in this state; None where there is none, or a damaged one."""
    try:
        stored: tuple[tuple[int, int], dict[str, Any]] = marshal.loads(cached.read_bytes())
        return stored[1] if stored[0] == state else None
    except (OSError, EOFError, ValueError, TypeError, LookupError):
        return None


def _keep(cached: Path, state: tuple[int, int], content: dict[str, Any]) -> None:
    """Write the cache; not of content that it cannot hold, such as a date, nor where nothing may be written."""
    temporary = cached.with_name(f".{cached.name}.{os.getpid()}")
    with contextlib.suppress(OSError, ValueError):
        data = marshal.dumps((state, content))
        cached.parent.mkdir(exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(cached)
