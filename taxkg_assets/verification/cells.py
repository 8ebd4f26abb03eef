"""Which row and column of a table a statement means: a range that holds its amount, a heading that is a number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from taxkg_assets.rules.models.claims import load_claims

_RANGE = re.compile(r"(?i)(?:at least |over )?\$?([\d,]+)\s*(?:-|–|—|to|but (?:less than|not over))\s*\$?([\d,]+)")
_AMOUNT = re.compile(r"\$?(\d{1,3}(?:,\d{3})+|\d{1,6})")
_NUMBER = re.compile(r"\d{1,2}")
_FIGURE = re.compile(r"(?<![\d,.$])\d{1,2}(?![\d,.%])")
_WORD = re.compile(r"[a-z]+")
_NONE = frozenset({"no", "without", "none"})


@lru_cache(maxsize=20_000)
def find_ranges(headers: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Find the ranges of amounts that the headings of a row or a column name: `at least`, `but less than`.

    Args:
        headers: Headings of the row and the column of a cell.

    Returns:
        Lower end, and exclusive upper end.
    """
    found = [(match[1], match[2]) for own in headers if (match := _RANGE.fullmatch(own.strip()))]
    amounts = [_AMOUNT.fullmatch(own.strip()) for own in headers]
    found += [(one[1], other[1]) for one, other in pairwise(amounts) if one and other]
    ends = [(_read(low), _read(high)) for low, high in found if low.strip(",") and high.strip(",")]
    return tuple((low, high) for low, high in ends if low < high)


def is_within(figure: str, ranges: Sequence[tuple[int, int]]) -> bool:
    """Return whether an amount is in one of some ranges.

    Args:
        figure: The amount, as in `Value.figure`.
        ranges: Lower ends, and exclusive upper ends.
    """
    return any(low <= float(figure) < high for low, high in ranges) if _is_number(figure) else False


def find_unnamed(headers: Sequence[str], text: str) -> list[str]:
    """Find headings that are a number, such as a family's size, which a statement does not name.

    Args:
        headers: Headings of the row and the column of a cell.
        text: The statement.

    Returns:
        The headings, in their order; empty if the statement names each of them, or there are none.
    """
    named = set(_name_numbers(text))
    return [own for own in headers if _NUMBER.fullmatch(own.strip()) and own.strip().lstrip("0") not in named]


def _name_numbers(text: str) -> Iterator[str]:
    """Return the small numbers of a text, those in words included; none is an empty figure."""
    units = load_claims().numbers.units
    yield from (figure.lstrip("0") for figure in _FIGURE.findall(text))
    for word in _WORD.findall(text.casefold()):
        if word in units:
            yield str(units[word]).lstrip("0")
        elif word in _NONE:
            yield ""


def _read(figure: str) -> int:
    return int(figure.replace(",", ""))


def _is_number(figure: str) -> bool:
    return figure.replace(".", "", 1).isdigit()
