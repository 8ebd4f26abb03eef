"""Numbers that a statement gives in words: `not more than ten owners` is not what a passage on five owners says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from taxkg_assets.rules.models.claims import load_claims
from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.values import Value, find_values, fold

_DIGITS = re.compile(r"(?<![\d.,$])\d{1,3}(?![\d%]|[.,]\d)")
_TWO = 2


def find_lacking_counts(claim: str, text: str) -> tuple[str, ...]:
    """Find the numbers in words that a claim names and a passage prints neither in words nor in digits.

    A number with a unit, such as `six months`, is a value, which is compared elsewhere. `Both` says two.

    Args:
        claim: Words of the claim.
        text: Words of the passage.

    Returns:
        The numbers as the claim prints them.
    """
    counts = _find_counts(claim, find_values(claim))
    if not counts:
        return ()
    text = fold(text)
    printed = {int(match[0]) for match in _DIGITS.finditer(text)} | set(_find_counts(text, ()))
    if load_verification().numbers.both.pattern.search(text):
        printed.add(_TWO)
    return tuple(word for count, word in counts.items() if count not in printed)


def _find_counts(text: str, values: Sequence[Value]) -> dict[int, str]:
    """Find numbers in words outside some values, each with its word."""
    units = load_claims().numbers.units
    return {
        units[match[0].casefold()]: match[0]
        for match in _number_words().finditer(text)
        if not any(value.start < match.end() and match.start() < value.end for value in values)
    }


@lru_cache(maxsize=1)
def _number_words() -> re.Pattern[str]:
    """Return the pattern of numbers in words; `one` and `zero` are mostly no numbers."""
    numbers = load_claims().numbers
    words = "|".join(word for word in numbers.units if word not in numbers.alone)
    return re.compile(rf"(?i)(?<![\w-])(?:{words})(?![\w-])")
