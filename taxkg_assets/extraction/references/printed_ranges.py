"""Ranges of lines on a form of their own: between two lines are those that the form prints, and no others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby

from taxkg_assets.extraction.references.mentions import Mention
from taxkg_assets.rules.models.references import load_references

_NUMBER = re.compile(r"line_(\d+)([a-z]*)$")


def keep_printed_lines(mentions: Sequence[Mention], text: str, *, printed_keys: Sequence[str]) -> list[Mention]:
    """Limit the lines of a range to those that the form prints.

    `Lines 8a through 8z` are 8a, 8b and 8z if the form has no others, and `lines 1i through 1iii` include 1ii.

    Args:
        mentions: Mentions in one text, in order, with ranges expanded by counting.
        text: The text.
        printed_keys: Keys of the form's lines, in printed order.

    Returns:
        Mentions in order; a range is unchanged if the form does not print both ends.
    """
    if len(mentions) < 2:
        return list(mentions)
    range_words = _range_words()
    key_positions = {key: ix for ix, key in enumerate(printed_keys)}
    new_mentions: list[Mention] = []
    for (start, end), mentions_there in groupby(mentions, key=lambda mention: (mention.start, mention.end)):
        replacements = list(mentions_there)
        range_end = next((mention for mention in replacements if mention.target == f"line_{text[start:end]}"), None)
        if (
            range_end is not None
            and not range_end.target_form
            and new_mentions
            and new_mentions[-1].group == range_end.group
        ):
            range_start = new_mentions[-1]
            if (
                range_words.match(text[range_start.end : start])
                and range_start.target in key_positions
                and range_end.target in key_positions
            ):
                replacements = [
                    replace(range_end, target=key)
                    for key in _find_between(range_start.target, range_end.target, printed_keys, key_positions)
                ]
        new_mentions += replacements
    return new_mentions


@cache
def _range_words() -> re.Pattern[str]:
    return re.compile(rf"\s*{load_references().range_words}(?:\s+(?i:lines?))?\s*$")


def _find_between(first: str, last: str, printed_keys: Sequence[str], key_positions: dict[str, int]) -> list[str]:
    """Name the lines after `first` up to `last`: those of the same number, or one for each number.

    From a lettered line, a range takes in the other letters of its number: `lines 1a through 6` includes 1b.
    """
    low, high = _NUMBER.match(first), _NUMBER.match(last)
    if low is None or high is None:
        return [last]
    if low[1] == high[1]:
        between = printed_keys[key_positions[first] + 1 : key_positions[last] + 1]
        return [
            key for key in between if (number_match := _NUMBER.match(key)) is not None and number_match[1] == low[1]
        ]
    numbers = {number_match[1] for key in printed_keys if (number_match := _NUMBER.match(key)) is not None}
    letters = [
        key for key in printed_keys[key_positions[first] + 1 : key_positions[last]] if low[2] and _NUMBER.fullmatch(key)
    ]
    letters = [key for key in letters if key.removeprefix("line_").rstrip("abcdefghijklmnopqrstuvwxyz") == low[1]]
    counted = [str(number) for number in range(int(low[1]) + 1, int(high[1]))]
    return [*letters, *(f"line_{number}" for number in counted if number in numbers), last]
