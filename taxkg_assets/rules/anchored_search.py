"""Fastest call for a pattern, derived from the pattern itself, with the result of `search`.

A search tries every place of a text, also for a pattern that is anchored at its beginning or end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from taxkg_assets.rules.regex_parser import parse_pattern

# Patterns that reach farther back from the end of a text gain nothing.
_FAR_BACK = 60

Search = Callable[[str], "re.Match[str] | None"]


def compile_search(pattern: re.Pattern[str]) -> Search:
    """Compile a pattern to a search function, faster for anchored patterns.

    Args:
        pattern: Compiled pattern.

    Returns:
        `match` for patterns anchored at the beginning, a search of the last characters for short ones anchored at the
        end, else `search`.
    """
    if pattern.flags & re.MULTILINE or not _may_be_anchored(pattern.pattern):
        return pattern.search
    parsed = parse_pattern(pattern.pattern, pattern.flags)
    if _is_anchored(parsed, "AT_BEGINNING", ix=0):
        return pattern.match
    longest = int(parsed.getwidth()[1])
    if longest > _FAR_BACK or not _is_anchored(parsed, "AT_END", ix=-1):
        return pattern.search

    def search_end(text: str) -> re.Match[str] | None:
        # A line feed may follow the end.
        return pattern.search(text, max(0, len(text) - longest - 1))

    return search_end


def _may_be_anchored(pattern: str) -> bool:
    """Return whether a pattern names an edge of the text: to parse it takes as long as to compile it."""
    named = pattern.replace("[^", "[")
    return any(edge in named for edge in ("^", "$", r"\A", r"\Z"))


def _is_anchored(items: Sequence[tuple[Any, Any]], edge: str, *, ix: int) -> bool:
    """Return whether every match begins (place 0) or ends (place -1) at an edge of the text."""
    if not len(items):
        return False
    operation, argument = items[ix]
    if str(operation) == "BRANCH":
        return all(_is_anchored(branch, edge, ix=ix) for branch in argument[1])
    if str(operation) == "SUBPATTERN":
        return not argument[1] & re.MULTILINE and _is_anchored(argument[-1], edge, ix=ix)
    return str(operation) == "AT" and str(argument) == edge
