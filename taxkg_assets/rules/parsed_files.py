"""Content of rule files as another process parsed it: to parse those that a question needs takes 30 ms.

It is stored where Python keeps compiled modules, and like those it holds for a file of the same size and time of
change.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Content = TypeVar("Content")


def read_parsed(path: Path, parse: Callable[[str], Content]) -> Content:
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
    recalled: Content | None = _recall(cached, state)
    if recalled is not None:
        return recalled
    content = parse(path.read_text(encoding="utf8"))
    if not sys.dont_write_bytecode:
        _keep(cached, state, content)
    return content


def _recall(cached: Path, state: tuple[int, int]) -> Any:
    """Return the cached content of a file in this state; None where there is none, or a damaged one."""
    try:
        of_state, content = marshal.loads(cached.read_bytes())
        return content if of_state == state else None
    except (OSError, EOFError, ValueError, TypeError, LookupError):
        return None


def _keep(cached: Path, state: tuple[int, int], content: Any) -> None:
    """Write the cache; not of content that it cannot hold, such as a date, nor where nothing may be written."""
    temporary = cached.with_name(f".{cached.name}.{os.getpid()}")
    with contextlib.suppress(OSError, ValueError):
        data = marshal.dumps((state, content))
        cached.parent.mkdir(exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(cached)
