"""Numbers that a statement gives in words: `not more than ten owners` is not what a passage on five owners says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from taxkg_assets.rules.models.claims import load_claims
from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.values import Value, find_values, fold

_DIGITS = re.compile(r"(?<![\d.,$])\d{1,3}(?![\d%]|[.,]\d)")
_BETWEEN, _AND = re.compile(r"[ -]"), "and"
_TWO, _HUNDRED = 2, 100
_TENS, _UNITS = range(20, 100, 10), range(1, 10)


@dataclass(frozen=True, slots=True)
class _Count:
    """A number in words.

    Attributes:
        number: The whole number: 12,000 for `twelve thousand`.
        words: As written.
        is_value: Whether it is an amount or a rate, which a passage prints as `$5` or `5%`.
    """

    number: int
    words: str
    is_value: bool


def find_lacking_counts(claim: str, text: str) -> tuple[str, ...]:
    """Find the numbers in words that a claim names and a passage prints neither in words nor in digits.

    A number with a unit, such as `six months`, is a value, which is compared elsewhere. `Both` says two.

    Args:
        claim: Words of the claim.
        text: Words of the passage.

    Returns:
        The numbers as the claim prints them.
    """
    claim, text = fold(claim), fold(text)
    counts = _find_counts(claim, find_values(claim))
    if not counts:
        return ()
    printed = _find_printed(text)
    return tuple(dict.fromkeys(count.words for count in counts if (count.number, count.is_value) not in printed))


def _find_printed(text: str) -> set[tuple[int, bool]]:
    """Find the numbers that a text prints in words or in digits, each with whether it is an amount or a rate."""
    printed = {(count.number, count.is_value) for count in _find_counts(text, ())}
    printed |= {(int(match[0]), False) for match in _DIGITS.finditer(text)}
    if load_verification().numbers.as_two.pattern.search(text):
        printed.add((_TWO, False))
    for figure in {value.figure for value in find_values(text)}:
        if figure.isdecimal():
            number = int(figure)
            printed |= {(number, True), (number, number < _HUNDRED)}  # `$12,000` is what `twelve thousand` says
    return printed


def _find_counts(text: str, values: Sequence[Value]) -> list[_Count]:
    """Find numbers in words outside some values; a share, such as `two thirds`, is none."""
    rules, numbers = load_verification().numbers, load_claims().numbers
    found: list[_Count] = []
    for match in _number_words().finditer(text):
        words, rest = match[0].casefold(), text[match.end() :]
        if words in numbers.alone or rules.part.pattern.match(rest):
            continue
        if any(value.start < match.end() and match.start() < value.end for value in values):
            continue
        number = numbers.read(word for word in _BETWEEN.split(words) if word != _AND)
        found.append(_Count(number, match[0], rules.of_values.pattern.match(rest) is not None))
    return found


@lru_cache(maxsize=1)
def _number_words() -> re.Pattern[str]:
    """Return the pattern of whole numbers in words."""
    numbers = load_claims().numbers
    tens, units = ("|".join(word for word, number in numbers.units.items() if number in own) for own in (_TENS, _UNITS))
    small, scales = rf"(?:(?:{tens})-(?:{units})|{'|'.join(numbers.units)})", "|".join(numbers.scales)
    large = rf"(?:[ -](?:{scales})\b)+"
    return re.compile(
        rf"(?i)(?<![\w-]){small}(?:{large}(?:(?: and)? {small}(?:{large})?)*)?(?![\w-])(?! (?:{scales})\b)"
    )
