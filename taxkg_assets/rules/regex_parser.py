"""Parser of regular expressions of the standard library, which has no public name since Python 3.11."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PARSER: Any = import_module("re._parser")


def parse_pattern(pattern: str, flags: int = 0) -> Any:
    """Parse a regular expression into the standard library's syntax tree.

    Args:
        pattern: Regular expression.
        flags: Flags of `re`, combined.

    Returns:
        Pairs of operation and argument, as the standard library represents them; the method `getwidth` returns the
        least and the greatest length of a match, in characters.

    Raises:
        re.error: The expression is malformed.
    """
    return _PARSER.parse(pattern, flags)
