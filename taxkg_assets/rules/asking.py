"""How a pattern is asked fastest whether it is in a text, read off the pattern itself; the answer is the same.

A search tries every place of a text, also for a pattern that says that it begins or ends there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from taxkg_assets.rules.loader import load_rules

# The parser of the standard library has no public name since Python 3.11.
_PARSER: Any = import_module("re._parser")
# Patterns that reach farther back from the end of a text gain nothing.
_FAR_BACK = 60

Search = Callable[[str], "re.Match[str] | None"]


def matches_any(name: str, group: str, text: str) -> bool:
    """Decide whether a text contains a match of any pattern in the list `group` of `rules/<name>.yaml`."""
    for search in _searches(name, group):  # noqa: SIM110 - a generator costs as much as the search
        if search(text):
            return True
    return False


@cache
def _searches(name: str, group: str) -> tuple[Search, ...]:
    return tuple(find_search(rule.pattern) for rule in load_rules(name, group))


def find_search(pattern: re.Pattern[str]) -> Search:
    """Find what to ask in the place of `pattern.search`: it looks only where the pattern can match."""
    parsed = _PARSER.parse(pattern.pattern, pattern.flags)
    if pattern.flags & re.MULTILINE:
        return pattern.search
    if _stands_at(parsed, "AT_BEGINNING", place=0):
        return pattern.match
    longest = int(parsed.getwidth()[1])
    if longest > _FAR_BACK or not _stands_at(parsed, "AT_END", place=-1):
        return pattern.search

    def search_end(text: str) -> re.Match[str] | None:
        # A line feed may follow the end.
        return pattern.search(text, max(0, len(text) - longest - 1))

    return search_end


def _stands_at(items: Sequence[tuple[Any, Any]], edge: str, *, place: int) -> bool:
    """Decide whether every match begins (place 0) or ends (place -1) at an edge of the text."""
    if not len(items):
        return False
    operation, argument = items[place]
    if str(operation) == "BRANCH":
        return all(_stands_at(branch, edge, place=place) for branch in argument[1])
    if str(operation) == "SUBPATTERN":
        return not argument[1] & re.MULTILINE and _stands_at(argument[-1], edge, place=place)
    return str(operation) == "AT" and str(argument) == edge
