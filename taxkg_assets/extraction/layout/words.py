"""The words that a document prints: they decide whether a hyphen at a line's end belongs to the word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from taxkg_assets.extraction.layout.lines import Line

_WORD = re.compile(r"[^\W\d_]{2,}(?:-[^\W\d_]{2,})*")


class Words:
    """The words of a document's lines, used to decide whether a hyphen at a line end belongs to the word.

    Few lines contain words with an inner hyphen; a plain word is only looked up if such a word occurs, too.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._plain: dict[str, bool] = {}

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str):
            return False
        if "-" in word:
            return word in self._hyphenated
        if word not in self._plain:
            self._plain[word] = word in _find_words([line for line in self._small_texts if word in line])
        return self._plain[word]

    @cached_property
    def _hyphenated(self) -> set[str]:
        tokens = " ".join([line.text for line in self._lines if "-" in line.text]).split()
        return {word for word in _find_words([token for token in tokens if "-" in token]) if "-" in word}

    @cached_property
    def _small_texts(self) -> list[str]:
        return [line.text.lower() for line in self._lines]


def _find_words(texts: Sequence[str]) -> set[str]:
    tokens = set("\n".join(texts).lower().split())
    return set(_WORD.findall("\n".join(tokens)))
