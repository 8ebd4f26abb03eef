"""Words without which a pattern cannot match, read off the pattern itself: most texts hold none of a rule's words.

To look for a few words is several times faster than to search for a pattern that is not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

# The parser of the standard library has no public name since Python 3.11.
_PARSER: Any = import_module("re._parser")
# So many spellings of one word are told apart: don't and don’t.
_SPELLINGS = 4
# To look for more words than this takes as long as the search that it saves.
_MANY_WORDS = 30


def find_needed_words(pattern: str) -> tuple[str, ...]:
    """Find words, in small letters, of which every text that matches holds at least one; none where no word is sure."""
    needed = _needed(_PARSER.parse(pattern)) or set()
    # Where `no` is not, there is no `not` either.
    return tuple(sorted(word for word in needed if not any(part in word for part in needed - {word})))


def _needed(items: Iterable[tuple[Any, Any]]) -> set[str] | None:
    """Choose the most telling of the words that the parts of a sequence need, each of which must be there."""
    best: set[str] | None = None
    words: set[str] = set()
    for operation, argument in items:
        letters = _letters(str(operation), argument)
        longer = {word + letter for word in words or {""} for letter in letters}
        if 0 < len(longer) <= _SPELLINGS:
            words = longer
            continue
        best = _more_telling(best, words or None)
        best = _more_telling(best, letters or _needed_by_part(str(operation), argument))
        words = set()
    return _more_telling(best, words or None)


def _letters(operation: str, argument: Any) -> set[str]:
    """Read the characters that one place allows, case aside, where they are few: `s`, `[Ss]`, `[’']`; else none."""
    members = [(operation, argument)] if operation == "LITERAL" else argument if operation == "IN" else ()
    letters = {chr(code).lower() if str(kind) == "LITERAL" else "" for kind, code in members}
    return letters if "" not in letters and len(letters) <= _SPELLINGS else set()


def _needed_by_part(operation: str, argument: Any) -> set[str] | None:
    if operation == "SUBPATTERN":
        return _needed(argument[-1])
    if operation == "ASSERT":
        return _needed(argument[1])
    if operation == "BRANCH":
        branches = [_needed(branch) for branch in argument[1]]
        return {word for branch in branches for word in branch or ()} if all(branches) else None
    if operation in ("MAX_REPEAT", "MIN_REPEAT") and argument[0] >= 1:
        return _needed(argument[2])
    return None


def _more_telling(one: set[str] | None, other: set[str] | None) -> set[str] | None:
    """Prefer words that are not too many, then those whose shortest is longer, then fewer of them."""
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda words: (len(words) <= _MANY_WORDS, min(map(len, words)), -len(words)))
