"""Numbers as texts write them: what a list shortens, what a range leaves out, and numbers in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxkg_assets.extraction.references.subsections import complete_subsection, expand_subsections, is_enumerator
from taxkg_assets.rules.models.references import load_references

_LETTERED = re.compile(r"^(\d*)([a-zA-Z]?)$")
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")


def complete_item(item: str, *, items: Sequence[tuple[str, int, int]], text: str) -> str:
    """Complete a number that a list abbreviates: `-2` in `1.409A-1, -2` is 1.409A-2.

    A number alone after a form is another form: `4563` in `Forms 2555, 4563`.

    Args:
        item: Number as printed.
        items: Earlier items of the list in full, each with its range in the text.
        text: The text.

    Returns:
        The item in full; empty if it does not belong to the list.
    """
    (first_item, start, _), (last_item, _, _) = items[0], items[-1]
    if item.startswith("("):
        return "" if is_enumerator(text, start=start, item=item) else complete_subsection(item, previous_item=last_item)
    if first_item.startswith("Form") and item[0].isdigit():
        return f"Form {item}"
    return first_item.rsplit("-", 1)[0] + item if item.startswith("-") else item


def expand_range(first: str, last: str, *, between: str, item_range: tuple[int, int]) -> list[tuple[str, int, int]]:
    """Return the items from one list item to the next: `3` to `6` with `through` between them are 4, 5 and 6.

    Args:
        first: Earlier item, in full.
        last: Later item, in full.
        between: Text between the two.
        item_range: Range of the later item in the text, half-open.

    Returns:
        Items after `first` up to `last`, each with `item_range`; only `last` if the text between states no range.
    """
    words: str = load_references().range_words
    first_match, last_match = _LETTERED.match(first), _LETTERED.match(last)
    is_roman = first in _ROMAN and last in _ROMAN
    is_range = re.search(rf"(?:^|\s){words}(?:\s|$)", re.sub(r"\([^()]*\)", "", between)) is not None
    if not is_range:
        return [(last, *item_range)]
    if is_roman:
        return [(name, *item_range) for name in _ROMAN[_ROMAN.index(first) + 1 : _ROMAN.index(last) + 1] or (last,)]
    if first_match is None or last_match is None:
        return [(name, *item_range) for name in expand_subsections(first, last)]
    if (
        first_match[1] == last_match[1]
        and first_match[2]
        and last_match[2]
        and first_match[2] < last_match[2]
        and first_match[2].isupper() == last_match[2].isupper()
    ):
        return [
            (f"{first_match[1]}{chr(code)}", *item_range)
            for code in range(ord(first_match[2]) + 1, ord(last_match[2]) + 1)
        ]
    if first_match[1] and last_match[1] and int(first_match[1]) < int(last_match[1]) <= int(first_match[1]) + 40:
        numbers = [(str(number), *item_range) for number in range(int(first_match[1]) + 1, int(last_match[1]))]
        return [*numbers, (last, *item_range)]
    return [(last, *item_range)]


def read_number(words: str) -> str:
    """Parse a section number written in words: `twelve hundred twenty-one (b)` is `1221(b)`.

    Args:
        words: The number in words, and its subsections.

    Returns:
        The number in digits, followed by what is no number word, such as the subsections.
    """
    values: dict[str, int] = load_references().number_words
    sum_before = part = 0
    suffix = ""
    for word in re.findall(r"\([^()]*\)|[a-z]+", words):
        value = values.get(word)
        if value is None:
            suffix += word
        elif value == 1000:
            sum_before, part = sum_before + part * value, 0
        elif value == 100:
            part *= value
        else:
            part += value
    return f"{sum_before + part}{suffix}"
