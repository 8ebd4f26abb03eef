"""Words without which a pattern cannot match, derived from the pattern itself: most texts have none of a rule's words.

To test for a few words is several times faster than to search for a pattern that does not occur.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from taxkg_assets.rules.regex_parser import parse_pattern

# Largest number of spellings of one word: don't and don’t are two.
_SPELLINGS = 4
# A test for more words than this takes as long as the search that it saves.
_MANY_WORDS = 30
# A single letter occurs in nearly every sentence.
_LEAST_LETTERS = 2


def find_required_literals(pattern: str) -> tuple[str, ...]:
    """Find literals of which every match of a pattern contains at least one, for prefiltering.

    Args:
        pattern: Regular expression.

    Returns:
        Words in lower case; empty where no word is sure.
    """
    return next(iter(find_literal_groups(pattern)), ())


def find_literal_groups(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Find groups of literals of which every match contains one each, for prefiltering.

    Args:
        pattern: Regular expression.

    Returns:
        Groups of lower-case words, the most selective first.
    """
    groups = sorted(_groups(parse_pattern(pattern)), key=_selectivity, reverse=True)
    few = [group for ix, group in enumerate(groups) if ix == 0 or _is_worth(group)]
    # A text without `no` contains no `not` either.
    shortest = [tuple(sorted(word for word in g if not any(part in word for part in g - {word}))) for g in few]
    return tuple(dict.fromkeys(shortest))


def _needed(items: Iterable[tuple[Any, Any]]) -> set[str] | None:
    """Choose the most selective of the words that the parts of a sequence need."""
    return max(_groups(items), key=_selectivity, default=None)


def _groups(items: Iterable[tuple[Any, Any]]) -> list[set[str]]:
    """List the words that each part of a sequence needs; all parts must occur."""
    groups: list[set[str]] = []
    words: set[str] = set()
    for operation, argument in items:
        letters = _letters(str(operation), argument)
        longer = {word + letter for word in words or {""} for letter in letters}
        if 0 < len(longer) <= _SPELLINGS:
            words = longer
            continue
        groups += [words] if words else []
        opened = {word + opening for word in words for opening in _openings(str(operation), argument)}
        groups += [opened] if opened else []
        groups += [letters] if letters else _groups_of_part(str(operation), argument)
        words = set()
    return [*groups, words] if words else groups


def _openings(operation: str, argument: Any) -> set[str]:
    """List how a choice may begin, where each of its branches begins with letters of its own."""
    if operation == "SUBPATTERN":
        items = list(argument[-1])
        return _openings(str(items[0][0]), items[0][1]) if len(items) == 1 else _opening(items)
    if operation == "BRANCH":
        branches = [_opening(branch) for branch in argument[1]]
        return {word for branch in branches for word in branch} if all(branches) else set()
    return set()


def _opening(items: Iterable[tuple[Any, Any]]) -> set[str]:
    """List the letters with which a sequence begins; none where they are not sure."""
    words: set[str] = set()
    for operation, argument in items:
        longer = {word + letter for word in words or {""} for letter in _letters(str(operation), argument)}
        if not 0 < len(longer) <= _SPELLINGS:
            break
        words = longer
    return words


def _letters(operation: str, argument: Any) -> set[str]:
    """List the characters that one place allows, case aside, where they are few: `s`, `[Ss]`, `[’']`; else none."""
    members = [(operation, argument)] if operation == "LITERAL" else argument if operation == "IN" else ()
    letters = {chr(code).lower() if str(kind) == "LITERAL" else "" for kind, code in members}
    return letters if "" not in letters and len(letters) <= _SPELLINGS else set()


def _groups_of_part(operation: str, argument: Any) -> list[set[str]]:
    if operation == "SUBPATTERN":
        return _groups(argument[-1])
    if operation == "ASSERT":
        return _groups(argument[1])
    if operation == "BRANCH":
        branches = [_needed(branch) for branch in argument[1]]
        return [{word for branch in branches for word in branch or ()}] if all(branches) else []
    if operation in ("MAX_REPEAT", "MIN_REPEAT") and argument[0] >= 1:
        return _groups(argument[2])
    return []


def _selectivity(words: set[str]) -> tuple[bool, int, int]:
    """Return a sort key: not too many words, then a longer shortest one, then fewer of them."""
    return len(words) <= _MANY_WORDS, min(map(len, words)), -len(words)


def _is_worth(words: set[str]) -> bool:
    """Return whether a further group is worth a test: words of several letters, and not many."""
    return len(words) <= _MANY_WORDS and min(map(len, words)) >= _LEAST_LETTERS
