"""Numbers as users and tables write them: "65k" is within "$60,000 - 79,999", 2023 within "2020 or later"."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from taxkg_assets.rules.models.table_lookup import Range as RangeRule
from taxkg_assets.rules.models.table_lookup import load_table_lookup

_OTHER_WORD = re.compile(r"(?i)\b(?!(?:before|after|by|from|on|through|thru|to|until|and|next|year)\b)[a-z]{2,}")
"""A word that does not belong to a date; numbers of days are left out only in headers without such words."""
MAX_COUNT = 150
"""Largest bare number that is read as a count; a larger one is read as an amount."""


@dataclass(frozen=True, slots=True)
class Range:
    """A range of numbers in a header; `low` equals `high` for a single number.

    Attributes:
        low: Lower end; minus infinity for none.
        high: Upper end; infinity for none.
        includes_low: Whether the lower end is part of the range.
        includes_high: Whether the upper end is part of the range.
        is_percent: Whether the numbers are percentages.
        is_money: Whether the numbers are amounts of money.
    """

    low: float
    high: float
    includes_low: bool = True
    includes_high: bool = True
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
        """Return whether each finite end looks like a calendar year."""
        finite_ends = [end for end in (self.low, self.high) if abs(end) != float("inf")]
        return not self.is_percent and all(1990 <= end <= 2060 and end == int(end) for end in finite_ends)

    def holds(self, number: Number) -> bool:
        """Return whether a number is in the range and has the same unit.

        Args:
            number: Number of a question.
        """
        if number.is_percent != self.is_percent or (number.is_money and self.is_percent):
            return False
        if number.direction and not self.is_single:  # what is over 20 is in "more than 20", not in "10 to 20"
            least_step = float(number.is_count)  # over 59 is 60 and above
            if number.direction > 0:
                return self.low - least_step <= number.value < self.high
            return self.low < number.value <= self.high + least_step
        is_above_low = number.value > self.low or (self.includes_low and number.value == self.low)
        return is_above_low and (number.value < self.high or (self.includes_high and number.value == self.high))


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a question.

    Attributes:
        value: Its value.
        is_percent: Whether it is a percentage.
        is_money: Whether it is an amount of money.
        nouns: Words around it that may say what it counts, with their distances in words.
        direction: 1 if the question asks for what is over the number, -1 for what is under it, else 0.
        is_word: Whether the question writes it in letters; such a number may count nothing.
        may_be_form: Whether it may be the number of a form.
        is_month: Whether it is the number of a month that the question names; only headers that number months mean it.
    """

    value: float
    is_percent: bool = False
    is_money: bool = False
    nouns: tuple[tuple[str, float], ...] = ()
    direction: int = 0
    is_word: bool = False
    may_be_form: bool = False
    is_month: bool = False

    @property
    def is_count(self) -> bool:
        """Return whether the number counts something, such as years, persons or miles."""
        return not (self.is_percent or self.is_money or self.value % 1) and self.value <= MAX_COUNT


def can_mean(number: Number, header_range: Range, nouns: frozenset[str]) -> bool:
    """Return whether a header's range may mean a number of a question: the range includes it, or numbers its month.

    Args:
        number: Number of a question.
        header_range: Range in the header.
        nouns: Words that say what the range counts.
    """
    if number.is_month and not (header_range.is_single and any(noun in nouns for noun, _ in number.nouns)):
        return False
    return header_range.holds(number)


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
    """Return the amount of a matched number; `2.5 thousand` is 2,500."""
    number = float(match["whole"].replace(",", "") + (match["fraction"] or ""))
    return number * 1000 if match["thousands"] else number


@lru_cache(maxsize=20_000)
def find_ranges(text: str) -> tuple[Range, ...]:
    """Find the ranges and single numbers in a header, without numbers of forms and lines.

    `$1,000 to $2,000` is one range, `more than 5` one without an upper end, `3 children` the single number 3.

    Args:
        text: Text of a header or cell.

    Returns:
        Ranges in the order of the rules that find them, then single numbers.
    """
    text = _drop_labels_and_days(text)
    ranges: list[Range] = []
    for rule in load_table_lookup().ranges:
        ranges += [found for match in rule.pattern.finditer(text) if (found := _read_range(match, rule)) is not None]
        text = rule.pattern.sub(" ", text)
    ranges += [
        Range(number.value, number.value, is_percent=number.is_percent, is_money=number.is_money)
        for _, number in find_numbers(text)
    ]
    return tuple(ranges)


def _drop_labels_and_days(text: str) -> str:
    """Return a header without numbers of forms and lines, and without days where other words remain."""
    for label in load_table_lookup().labels:
        text = label.pattern.sub(" ", text)
    for day in load_table_lookup().days:
        without_days = day.pattern.sub(" ", text)
        if not _OTHER_WORD.search(without_days):
            text = without_days
    return text


def _read_range(match: re.Match[str], rule: RangeRule) -> Range | None:
    """Return the range that a match states; None where its lower end is above its upper end.

    Args:
        match: Match of a rule, with a group for each end that it names.
        rule: The rule.
    """
    ends = match.groupdict()
    low = read_amount(ends["low"]) if ends.get("low") else None
    high = read_amount(ends["high"]) if ends.get("high") else None
    if low is not None and high is not None and low > high:
        return None
    return Range(
        low=float("-inf") if low is None else low,
        high=float("inf") if high is None else high,
        includes_low=rule.low_in,
        includes_high=rule.high_in,
        is_percent="%" in match[0],
        is_money="$" in match[0],
    )


def join_ends(low: str, high: str, *, includes_low: bool) -> Range | None:
    """Build a range from two cells, its lower and its upper end.

    Args:
        low: Text of the lower end.
        high: Text of the upper end; without an amount the range has no upper end.
        includes_low: Whether the lower end is part of the range; if not, the upper end is.

    Returns:
        The range; None where the lower end has no amount.
    """
    start, end = read_amount(low), read_amount(high)
    if start is None:
        return None
    top = float("inf") if end is None else end
    return Range(start, top, includes_low=includes_low, includes_high=not includes_low, is_money="$" in low)
