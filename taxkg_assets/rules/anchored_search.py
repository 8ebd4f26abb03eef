"""A faster equivalent of `re.Pattern.search` for patterns that match only at the beginning or end of a text.

`search` tries every position of the text even for such patterns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from taxkg_assets.rules.regex_parser import parse_pattern

# For patterns with longer matches, searching the end of the text saves no time.
_MAX_LENGTH = 60

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
    parsed_pattern = parse_pattern(pattern.pattern, pattern.flags)
    if _is_anchored(parsed_pattern, "AT_BEGINNING", ix=0):
        return pattern.match
    max_length = int(parsed_pattern.getwidth()[1])
    if max_length > _MAX_LENGTH or not _is_anchored(parsed_pattern, "AT_END", ix=-1):
        return pattern.search

    def search_end(text: str) -> re.Match[str] | None:
        # `$` also matches before a line feed that ends the text.
        return pattern.search(text, max(0, len(text) - max_length - 1))

    return search_end


def _may_be_anchored(pattern: str) -> bool:
    """Return whether a pattern contains an anchor such as `^`: a quick test, because parsing a pattern is slow."""
    without_sets = pattern.replace("[^", "[")
    return any(edge in without_sets for edge in ("^", "$", r"\A", r"\Z"))


def _is_anchored(items: Sequence[tuple[Any, Any]], edge: str, *, ix: int) -> bool:
    """Return whether every match begins (`ix` 0) or ends (`ix` −1) at an edge of the text."""
    if not len(items):
        return False
    operation, argument = items[ix]
    if str(operation) == "BRANCH":
        return all(_is_anchored(branch, edge, ix=ix) for branch in argument[1])
    if str(operation) == "SUBPATTERN":
        return not argument[1] & re.MULTILINE and _is_anchored(argument[-1], edge, ix=ix)
    return str(operation) == "AT" and str(argument) == edge
