"""Ranges of lines on a form of their own: between two lines are those that the form prints, and no others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from taxkg_assets.extraction.references.mentions import Mention
from taxkg_assets.rules.models.references import load_references

_NUMBER = re.compile(r"line_(\d+)([a-z]*)$")


def keep_printed_lines(mentions: Sequence[Mention], text: str, *, printed: Sequence[str]) -> list[Mention]:
    """Limit the lines of a numeric range to those that the form prints.

    `Lines 8a through 8z` are 8a, 8b and 8z if the form has no others, and `lines 1i through 1iii` include 1ii.

    Args:
        mentions: Mentions of one text, in its order, with ranges expanded by counting.
        text: The text.
        printed: Keys of the form's lines, in its order.

    Returns:
        Mentions in the order of the text; those of ranges whose ends the form does not print are unchanged.
    """
    words = re.compile(rf"\s*{load_references().range_words}(?:\s+(?i:lines?))?\s*$")
    places = {key: ix for ix, key in enumerate(printed)}
    kept: list[Mention] = []
    for (start, end), same in groupby(mentions, key=lambda mention: (mention.start, mention.end)):
        here = list(same)
        last = next((one for one in here if one.target == f"line_{text[start:end]}"), None)
        if last is not None and not last.target_form and kept and kept[-1].group == last.group:
            first = kept[-1]
            if words.match(text[first.end : start]) and first.target in places and last.target in places:
                here = [replace(last, target=key) for key in _find_between(first.target, last.target, printed, places)]
        kept += here
    return kept


def _find_between(first: str, last: str, printed: Sequence[str], places: dict[str, int]) -> list[str]:
    """Name the lines after `first` up to `last`: those of the same number, or one for each number.

    From a lettered line, a range takes in the other letters of its number: `lines 1a through 6` includes 1b.
    """
    low, high = _NUMBER.match(first), _NUMBER.match(last)
    if low is None or high is None:
        return [last]
    if low[1] == high[1]:
        between = printed[places[first] + 1 : places[last] + 1]
        return [key for key in between if (found := _NUMBER.match(key)) is not None and found[1] == low[1]]
    numbers = {found[1] for key in printed if (found := _NUMBER.match(key)) is not None}
    letters = [key for key in printed[places[first] + 1 : places[last]] if low[2] and _NUMBER.fullmatch(key)]
    letters = [key for key in letters if key.removeprefix("line_").rstrip("abcdefghijklmnopqrstuvwxyz") == low[1]]
    counted = [str(number) for number in range(int(low[1]) + 1, int(high[1]))]
    return [*letters, *(f"line_{number}" for number in counted if number in numbers), last]
