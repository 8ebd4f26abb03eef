"""Sentence splitter of all stages that cut text (sentences.yaml)."""

from __future__ import annotations

import re
from functools import cache

from taxkg_assets.rules.models.sentences import load_sentences

_BULLETS = " \t\n•▶◦·"
_LOOK_BACK = 60


def find_sentences(text: str) -> list[tuple[int, int]]:
    """Split a text into sentences.

    Args:
        text: Text of an element or passage.

    Returns:
        Half-open ranges of characters, 0-based, without surrounding blanks and bullets.
    """
    return _ranges(text, _find_ends(text))


def find_sentence_parts(text: str) -> list[tuple[int, int]]:
    """Split a text into sentences, and sentences at their list marks.

    Args:
        text: Text of an element or passage.

    Returns:
        Half-open ranges of characters, 0-based, without surrounding blanks and bullets.
    """
    breaks = [match.end() for rule in load_sentences().breaks for match in rule.pattern.finditer(text)]
    return _ranges(text, sorted({*_find_ends(text), *breaks}))


def _find_ends(text: str) -> list[int]:
    ends: list[int] = []
    opening = _opening()
    for rule in load_sentences().ends:
        for match in rule.pattern.finditer(text):
            before = text[max(ends[-1] if ends else 0, match.end() - _LOOK_BACK) : match.end()]
            if not load_sentences().abbreviations.matches(before) or _closes(
                text, before, at=match.end(), opening=opening
            ):
                ends.append(match.end())
    return ends


def _closes(text: str, before: str, *, at: int, opening: re.Pattern[str]) -> bool:
    """Return whether a sentence ends at an abbreviation."""
    if load_sentences().labeled_letters.matches(before):
        return True
    return load_sentences().ends_anyway.matches(before) and opening.match(text, at) is not None


@cache
def _opening() -> re.Pattern[str]:
    return re.compile(load_sentences().openings)


def _ranges(text: str, ends: list[int]) -> list[tuple[int, int]]:
    bounds = zip([0, *ends], [*ends, len(text)], strict=True)
    spans = [_strip(text, low, high) for low, high in bounds]
    return [span for span in spans if span[0] < span[1]]


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip(_BULLETS)), end - len(part) + len(part.rstrip())
