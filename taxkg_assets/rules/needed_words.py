"""Words without which a pattern cannot match, read off the pattern itself: most texts hold none of a rule's words.

To look for a few words is several times faster than to search for a pattern that is not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

# The parser of the standard library has no public name since Python 3.11.
_PARSER: Any = import_module("re._parser")


def find_needed_words(pattern: str) -> tuple[str, ...]:
    """Find words, in small letters, of which every text that matches holds at least one; none where no word is sure."""
    return tuple(sorted(_needed(_PARSER.parse(pattern)) or ()))


def _needed(items: Iterable[tuple[Any, Any]]) -> set[str] | None:
    """Choose the most telling of the words that the parts of a sequence need, each of which must be there."""
    best: set[str] | None = None
    word = ""
    for operation, argument in items:
        if letter := _letter(str(operation), argument):
            word += letter
            continue
        best = _more_telling(best, {word} if word else None)
        best = _more_telling(best, _needed_by_part(str(operation), argument))
        word = ""
    return _more_telling(best, {word} if word else None)


def _letter(operation: str, argument: Any) -> str:
    """Read one character of which only the case may be open: `s` or `[Ss]`; empty for anything else."""
    members = [(operation, argument)] if operation == "LITERAL" else argument if operation == "IN" else ()
    letters = {chr(code).lower() if str(kind) == "LITERAL" else "" for kind, code in members}
    return letters.pop() if len(letters) == 1 else ""


def _needed_by_part(operation: str, argument: Any) -> set[str] | None:
    if operation == "SUBPATTERN":
        return _needed(argument[-1])
    if operation == "BRANCH":
        branches = [_needed(branch) for branch in argument[1]]
        return {word for branch in branches for word in branch or ()} if all(branches) else None
    if operation in ("MAX_REPEAT", "MIN_REPEAT") and argument[0] >= 1:
        return _needed(argument[2])
    return None


def _more_telling(one: set[str] | None, other: set[str] | None) -> set[str] | None:
    """Prefer words whose shortest is longer, then fewer of them."""
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda words: (min(map(len, words)), -len(words)))
