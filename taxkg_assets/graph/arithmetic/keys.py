"""Ranges of lines spelled out: which keys of a form `lines 1a through 1h` names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

Span = tuple[float, float]
_PIECES = re.compile(r"^(\d+)([a-z]*)$")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")


def expand_range(first: str, last: str, spans: Mapping[str, Sequence[Span]]) -> list[str]:
    """Expand a range of lines to the lines it includes.

    The lines of a range have amounts in one column: the rightmost column of its first and last line. A line in between
    is excluded if its fields are in other columns, such as a date or an inner amount.

    Args:
        first: First key, without its kind.
        last: Last key.
        spans: For each key of the form, from left to right, the extents of its fields.

    Returns:
        The keys; empty if an end is not on the form, the range is reversed, or a line in it has no amount.
    """
    if first not in spans or last not in spans:
        return []
    is_roman = _is_roman(first, last, spans)
    low, high = _order(first, is_roman=is_roman), _order(last, is_roman=is_roman)
    if low >= high:
        return []
    ends = [max(spans[key], key=lambda span: span[1]) for key in (first, last) if spans[key]]
    within = [key for key in spans if _PIECES.match(key) and low <= _order(key, is_roman=is_roman) <= high]
    keys_with_amounts = [
        key for key in within if key in (first, last) or any(_is_aligned(extent, ends) for extent in spans[key])
    ]
    if {_number(key) for key in within} != {_number(key) for key in keys_with_amounts}:
        return []
    return sorted(keys_with_amounts, key=lambda key: _order(key, is_roman=is_roman))


def _number(key: str) -> str:
    return key.rstrip("abcdefghijklmnopqrstuvwxyz")


def _is_aligned(span: Span, ends: Collection[Span]) -> bool:
    """Decide whether a field ends at the right edge of one of some columns."""
    return any(abs(span[1] - end[1]) <= (end[1] - end[0]) / 4 for end in ends)


def _is_roman(first: str, last: str, keys: Collection[str]) -> bool:
    number = re.match(r"\d*", first)
    assert number is not None
    suffixes = (first[number.end() :], last[number.end() :])
    return last.startswith(number[0]) and all(s in _ROMAN for s in suffixes) and f"{number[0]}ii" in keys


def _order(key: str, *, is_roman: bool) -> tuple[int, int, str]:
    match = _PIECES.match(key)
    if match is None:
        return -1, 0, key
    if is_roman and match[2] in _ROMAN:
        return int(match[1]), _ROMAN.index(match[2]), ""
    return int(match[1]), len(match[2]), match[2]
