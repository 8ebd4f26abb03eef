"""Words without which a pattern cannot match, derived from the pattern itself: `qualif` for `qualif(?:ied|ying)`.

Most texts have none of a rule's words, and a test for a few words is several times faster than a search for the
pattern.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from taxkg_assets.rules.regex_parser import parse_pattern

# Largest number of spellings of one word: don't and don’t are two.
_SPELLINGS = 4
# A test for more words than this takes as long as the search for the pattern.
_MANY_WORDS = 30
# A single letter occurs in nearly every sentence.
_LEAST_LETTERS = 2


def find_required_literals(pattern: str) -> tuple[str, ...]:
    """Find literals of which every match of a pattern contains at least one, for prefiltering.

    Args:
        pattern: Regular expression.

    Returns:
        Words in lower case; empty if no word is required.
    """
    return next(iter(find_literal_groups(pattern)), ())


def find_literal_groups(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Find groups of literals of which every match contains one each, for prefiltering.

    Args:
        pattern: Regular expression.

    Returns:
        Groups of lower-case words, the most selective first.
    """
    groups = sorted(_find_groups(parse_pattern(pattern)), key=_selectivity, reverse=True)
    useful_groups = [group for ix, group in enumerate(groups) if ix == 0 or _is_useful(group)]
    # A text without `no` contains no `not` either.
    reduced_groups = [
        tuple(sorted(word for word in g if not any(part in word for part in g - {word}))) for g in useful_groups
    ]
    return tuple(dict.fromkeys(reduced_groups))


def _find_best_group(items: Iterable[tuple[Any, Any]]) -> set[str] | None:
    """Choose the most selective group of words that a sequence requires."""
    return max(_find_groups(items), key=_selectivity, default=None)


def _find_groups(items: Iterable[tuple[Any, Any]]) -> list[set[str]]:
    """List the groups of words that the parts of a sequence require; all parts must occur."""
    groups: list[set[str]] = []
    words: set[str] = set()
    for operation, argument in items:
        letters = _letters(str(operation), argument)
        extended_words = {word + letter for word in words or {""} for letter in letters}
        if 0 < len(extended_words) <= _SPELLINGS:
            words = extended_words
            continue
        groups += [words] if words else []
        words_with_opening = {
            word + opening for word in words for opening in _find_choice_openings(str(operation), argument)
        }
        groups += [words_with_opening] if words_with_opening else []
        groups += [letters] if letters else _find_groups_of_part(str(operation), argument)
        words = set()
    return [*groups, words] if words else groups


def _find_choice_openings(operation: str, argument: Any) -> set[str]:
    """List how a choice (`a|b`) may begin; an empty set if a branch does not begin with letters."""
    if operation == "SUBPATTERN":
        items = list(argument[-1])
        return _find_choice_openings(str(items[0][0]), items[0][1]) if len(items) == 1 else _find_opening(items)
    if operation == "BRANCH":
        branches = [_find_opening(branch) for branch in argument[1]]
        return {word for branch in branches for word in branch} if all(branches) else set()
    return set()


def _find_opening(items: Iterable[tuple[Any, Any]]) -> set[str]:
    """List the letters with which a sequence may begin; an empty set if these are unknown."""
    words: set[str] = set()
    for operation, argument in items:
        extended_words = {word + letter for word in words or {""} for letter in _letters(str(operation), argument)}
        if not 0 < len(extended_words) <= _SPELLINGS:
            break
        words = extended_words
    return words


def _letters(operation: str, argument: Any) -> set[str]:
    """List the characters that one position allows, in lower case: `s`, `[Ss]`, `[’']`; an empty set if too many."""
    members = argument if operation == "IN" else ()
    if operation == "LITERAL":
        members = [(operation, argument)]
    letters = {chr(code).lower() if str(kind) == "LITERAL" else "" for kind, code in members}
    return letters if "" not in letters and len(letters) <= _SPELLINGS else set()


def _find_groups_of_part(operation: str, argument: Any) -> list[set[str]]:
    if operation == "SUBPATTERN":
        return _find_groups(argument[-1])
    if operation == "ASSERT":
        return _find_groups(argument[1])
    if operation == "BRANCH":
        branches = [_find_best_group(branch) for branch in argument[1]]
        return [{word for branch in branches for word in branch or ()}] if all(branches) else []
    if operation in ("MAX_REPEAT", "MIN_REPEAT") and argument[0] >= 1:
        return _find_groups(argument[2])
    return []


def _selectivity(words: set[str]) -> tuple[bool, int, int]:
    """Return a sort key: groups of few words first, then those with a longer shortest word, then smaller groups."""
    return len(words) <= _MANY_WORDS, min(map(len, words)), -len(words)


def _is_useful(words: set[str]) -> bool:
    """Return whether a further group is worth a test: words of several letters, and not many."""
    return len(words) <= _MANY_WORDS and min(map(len, words)) >= _LEAST_LETTERS
