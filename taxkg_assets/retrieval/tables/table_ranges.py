"""Numbers as users and tables write them: "65k" is within "$60,000 - 79,999", 2023 within "2020 or later"."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from taxkg_assets.rules.models.table_lookup import load_table_lookup

_OTHER_WORD = re.compile(r"(?i)\b(?!(?:before|after|by|from|on|through|thru|to|until|and|next|year)\b)[a-z]{2,}")
"""A word of a header that is not of a date: only dates have days that measure nothing."""
MOST_COUNTED = 150
"""Largest bare number that is taken for a count, not for an amount."""


@dataclass(frozen=True, slots=True)
class Range:
    """A range of numbers in a header; `low` equals `high` for a single number."""

    low: float
    high: float
    has_low: bool = True
    has_high: bool = True
    is_percent: bool = False
    is_money: bool = False

    @property
    def is_single(self) -> bool:
        """Return whether the range is a single number."""
        return self.low == self.high

    @property
    def is_open(self) -> bool:
        """Return whether the range has one end only."""
        return math.isinf(self.low) or math.isinf(self.high)

    @property
    def names_year(self) -> bool:
        """Return whether both ends look like calendar years."""
        ends = [end for end in (self.low, self.high) if abs(end) != float("inf")]
        return not self.is_percent and all(1990 <= end <= 2060 and end == int(end) for end in ends)

    def holds(self, number: Number) -> bool:
        """Return whether a number is in the range and has the same unit.

        Args:
            number: Number of a question.
        """
        if number.is_percent != self.is_percent or (number.is_money and self.is_percent):
            return False
        if number.beyond and not self.is_single:  # what is over 20 is in "more than 20", not in "10 to 20"
            step = float(number.is_count)  # over 59 is 60 and above
            if number.beyond > 0:
                return self.low - step <= number.value < self.high
            return self.low < number.value <= self.high + step
        above = number.value > self.low or (self.has_low and number.value == self.low)
        return above and (number.value < self.high or (self.has_high and number.value == self.high))


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a question, with the surrounding words that say what it counts and their distances.

    Attributes:
        is_month: It is the number of a month that the question names; only headers that number months mean it.
    """

    value: float
    is_percent: bool = False
    is_money: bool = False
    nouns: tuple[tuple[str, float], ...] = ()
    beyond: int = 0
    is_word: bool = False
    may_name: bool = False
    is_month: bool = False

    @property
    def is_count(self) -> bool:
        """Return whether the number counts something, such as years, persons or miles."""
        return not (self.is_percent or self.is_money or self.value % 1) and self.value <= MOST_COUNTED


def can_mean(number: Number, found: Range, nouns: frozenset[str]) -> bool:
    """Return whether a header may mean a number: it contains it, or is the number of the month.

    Args:
        number: Number of a question.
        found: Range of the header.
        nouns: Words that say what the range counts.
    """
    if number.is_month and not (found.is_single and any(noun in nouns for noun, _ in number.nouns)):
        return False
    return found.holds(number)


def read_amount(text: str) -> float | None:
    """Read the first amount of a text.

    Args:
        text: Text of a cell or header.

    Returns:
        The amount; None where the text has none.
    """
    match = load_table_lookup().numbers.amount.pattern.search(re.sub(r"\$\s+", "$", text))
    return _value(match) if match else None


def find_numbers(text: str) -> Iterator[tuple[re.Match[str], Number]]:
    """Find the numbers in a text, without the nouns they count.

    Args:
        text: Question or header.

    Yields:
        Match of the pattern and the number.
    """
    for match in load_table_lookup().numbers.amount.pattern.finditer(text):
        is_money = "$" in match[0] or match["thousands"] is not None
        yield match, Number(_value(match), match["percent"] is not None, is_money)


def _value(match: re.Match[str]) -> float:
    return float(match["whole"].replace(",", "") + (match["fraction"] or "")) * (1000 if match["thousands"] else 1)


@lru_cache(maxsize=20_000)
def find_ranges(text: str) -> tuple[Range, ...]:
    """Parse the ranges and single numbers in a header, skipping numbers of forms and lines.

    Args:
        text: Text of a header or cell.

    Returns:
        Ranges in the order of the rules, then single numbers.
    """
    for label in load_table_lookup().labels:
        text = label.pattern.sub(" ", text)
    for day in load_table_lookup().days:
        undated = day.pattern.sub(" ", text)
        text = text if _OTHER_WORD.search(undated) else undated
    found: list[Range] = []
    for rule in load_table_lookup().ranges:
        for match in rule.pattern.finditer(text):
            ends = {name: value for name, value in match.groupdict().items() if value}
            low, high = (read_amount(ends[name]) if name in ends else None for name in ("low", "high"))
            if low is not None and high is not None and low > high:
                continue
            found.append(
                Range(
                    low=float("-inf") if low is None else low,
                    high=float("inf") if high is None else high,
                    has_low=rule.low_in,
                    has_high=rule.high_in,
                    is_percent="%" in match[0],
                    is_money="$" in match[0],
                )
            )
        text = rule.pattern.sub(" ", text)
    found += [Range(n.value, n.value, is_percent=n.is_percent, is_money=n.is_money) for _, n in find_numbers(text)]
    return tuple(found)


def join_ends(low: str, high: str, *, low_in: bool) -> Range | None:
    """Build a range from two cells with its lower and upper amounts.

    Args:
        low: Text of the lower end.
        high: Text of the upper end; one without an amount is open.
        low_in: Whether the lower end belongs to the bracket; the upper one does otherwise.

    Returns:
        The bracket; None where the lower end has no amount.
    """
    start, end = read_amount(low), read_amount(high)
    if start is None:
        return None
    top = float("inf") if end is None else end
    return Range(start, top, has_low=low_in, has_high=not low_in, is_money="$" in low)
