"""Numbers as texts write them: what a list shortens, what a range leaves out, and numbers in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxkg_assets.extraction.references.subsections import complete_subsection, expand_subsections, is_enumerator
from taxkg_assets.rules.models.references import load_references

_LETTERED = re.compile(r"^(\d*)([a-zA-Z]?)$")
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")


def complete_item(item: str, *, items: Sequence[tuple[str, int, int]], text: str) -> str:
    """Complete a number that a list abbreviates: `1.409A-1, -2` names 1.409A-2.

    After a form, a number alone is another form.

    Args:
        item: Number as printed.
        items: Items of the list before it, with the characters that they are printed at, half-open in the text.
        text: The text.

    Returns:
        The item in full; empty where the list ends before it.
    """
    (first, start, _), (last, _, _) = items[0], items[-1]
    if item.startswith("("):
        return "" if is_enumerator(text, start=start, item=item) else complete_subsection(item, before=last)
    if first.startswith("Form") and item[0].isdigit():
        return f"Form {item}"
    return first.rsplit("-", 1)[0] + item if item.startswith("-") else item


def expand_range(first: str, last: str, *, between: str, at: tuple[int, int]) -> list[tuple[str, int, int]]:
    """Expand a range of two list items to all items after the first; without a range, return the last item.

    Args:
        first: Item before, in full.
        last: Item, in full.
        between: Text between the two.
        at: Characters that the item is printed at, half-open.

    Returns:
        Items with the characters that they are printed at.
    """
    words: str = load_references().range_words
    low, high = _LETTERED.match(first), _LETTERED.match(last)
    is_roman = first in _ROMAN and last in _ROMAN
    is_range = re.search(rf"(?:^|\s){words}(?:\s|$)", re.sub(r"\([^()]*\)", "", between)) is not None
    if not is_range:
        return [(last, *at)]
    if is_roman:
        return [(name, *at) for name in _ROMAN[_ROMAN.index(first) + 1 : _ROMAN.index(last) + 1] or (last,)]
    if low is None or high is None:
        return [(name, *at) for name in expand_subsections(first, last)]
    if low[1] == high[1] and low[2] and high[2] and low[2] < high[2] and low[2].isupper() == high[2].isupper():
        return [(f"{low[1]}{chr(code)}", *at) for code in range(ord(low[2]) + 1, ord(high[2]) + 1)]
    if low[1] and high[1] and int(low[1]) < int(high[1]) <= int(low[1]) + 40:
        numbers = [(str(number), *at) for number in range(int(low[1]) + 1, int(high[1]))]
        return [*numbers, (last, *at)]
    return [(last, *at)]


def read_number(words: str) -> str:
    """Parse a section number written in words: `twelve hundred twenty-one` is 1221.

    Args:
        words: The number, with its subsections.

    Returns:
        The number in digits.
    """
    values: dict[str, int] = load_references().number_words
    total = part = 0
    rest = ""
    for word in re.findall(r"\([^()]*\)|[a-z]+", words):
        value = values.get(word)
        if value is None:
            rest += word
        elif value == 1000:
            total, part = total + part * value, 0
        elif value == 100:
            part *= value
        else:
            part += value
    return f"{total + part}{rest}"
