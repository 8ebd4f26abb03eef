"""Sentence splitter of all stages (rules in sentences.yaml)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from taxkg_assets.rules.models.sentences import load_sentences

_BULLETS = " \t\n•▶◦·"
_LOOK_BACK = 60


def find_sentences(text: str) -> list[tuple[int, int]]:
    """Split a text into sentences.

    Args:
        text: Text of an element or passage.

    Returns:
        Half-open ranges of characters, 0-based, without surrounding blanks and bullets. A text without full stops is
        divided where a sentence would be longer than any real one.
    """
    return _make_ranges(text, _find_ends(text))


def find_sentence_parts(text: str) -> list[tuple[int, int]]:
    """Split a text into sentences, and sentences at the marks of list items in them.

    Args:
        text: Text of an element or passage.

    Returns:
        Half-open ranges of characters, 0-based, without surrounding blanks and bullets.
    """
    breaks = [match.end() for rule in load_sentences().breaks for match in rule.pattern.finditer(text)]
    return _make_ranges(text, sorted({*_find_ends(text), *breaks}))


def _find_ends(text: str) -> list[int]:
    ends: list[int] = []
    opening_pattern = _load_opening_pattern()
    for rule in load_sentences().ends:
        for match in rule.pattern.finditer(text):
            text_before = text[max(ends[-1] if ends else 0, match.end() - _LOOK_BACK) : match.end()]
            if not load_sentences().abbreviations.matches(text_before) or _ends_sentence(
                text, text_before, end=match.end(), opening_pattern=opening_pattern
            ):
                ends.append(match.end())
    return ends


def _ends_sentence(text: str, text_before: str, *, end: int, opening_pattern: re.Pattern[str]) -> bool:
    """Return whether a sentence ends at an abbreviation: by the words before the end or after it."""
    if load_sentences().labeled_letters.matches(text_before):
        return True
    return load_sentences().ends_anyway.matches(text_before) and opening_pattern.match(text, end) is not None


@cache
def _load_opening_pattern() -> re.Pattern[str]:
    return re.compile(load_sentences().openings)


def _make_ranges(text: str, ends: list[int]) -> list[tuple[int, int]]:
    bounds = zip([0, *ends], [*ends, len(text)], strict=True)
    spans = [_strip(text, start, end) for start, end in bounds]
    return [piece for span in spans if span[0] < span[1] for piece in _cut_overlong(text, *span)]


def _cut_overlong(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a range, in pieces that end at blanks if it is longer than any sentence; words are not cut.

    Without it, the work on a text without full stops grows with the square of its length.
    """
    most_characters = load_sentences().most_characters
    while end - start > most_characters:
        at = max(text.rfind(blank, start + 1, start + most_characters) for blank in " \n")
        if at < 0:  # a very long word
            at = min((ix for blank in " \n" if (ix := text.find(blank, start, end)) >= 0), default=end)
        piece = _strip(text, start, at)
        if piece[0] < piece[1]:
            yield piece
        start = _strip(text, at, end)[0]
    if start < end:
        yield start, end


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip(_BULLETS)), end - len(part) + len(part.rstrip())
