"""Cache of parsed rule files, shared by processes: parsing the files that a question needs takes 30 ms.

The cache is in `__pycache__`, like compiled modules, and valid as long as size and modification time of a file do not
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
    """Read the parsed content of a file from the cache; if the cache is outdated, parse the file and store the content.

    Args:
        path: File to read.
        parse: Function from the text of the file to its content.

    Returns:
        The content.
    """
    file_stat = path.stat()
    state = (file_stat.st_size, file_stat.st_mtime_ns)
    cache_path = path.parent / "__pycache__" / f"{path.name}.{sys.implementation.cache_tag}"
    cached_content: Content | None = _read_cache(cache_path, state)
    if cached_content is not None:
        return cached_content
    content = parse(path.read_text(encoding="utf8"))
    if not sys.dont_write_bytecode:
        _write_cache(cache_path, state, content)
    return content


def _read_cache(cache_path: Path, state: tuple[int, int]) -> Any:
    """Return the cached content of a file with this size and time; None if the cache has none or is damaged."""
    try:
        cached_state, content = marshal.loads(cache_path.read_bytes())
        return content if cached_state == state else None
    except (OSError, EOFError, ValueError, TypeError, LookupError):
        return None


def _write_cache(cache_path: Path, state: tuple[int, int], content: Any) -> None:
    """Write the cache, unless the folder is read-only or the content has values that marshal cannot store (dates)."""
    temporary = cache_path.with_name(f".{cache_path.name}.{os.getpid()}")
    with contextlib.suppress(OSError, ValueError):
        data = marshal.dumps((state, content))
        cache_path.parent.mkdir(exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(cache_path)
