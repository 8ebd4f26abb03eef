"""Subsections that share the number of a section: `section 170(b)(2)(B) and (C)` names 170(b)(2)(C), too."""

from __future__ import annotations

import re

_GROUP = re.compile(r"\(([A-Za-z0-9]{1,5})\)")
_LAST = re.compile(r"(.*)\(([A-Za-z0-9]{1,5})\)$")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")


def complete_subsection(item: str, *, previous_item: str) -> str:
    """Complete a subsection in a list whose section is named only once.

    Args:
        item: Subsection as printed, e.g. `(C)` or `(b)(2)`.
        previous_item: Previous item of the list, in full, e.g. `170(b)(2)(B)`.

    Returns:
        The item in full, e.g. `170(b)(2)(C)`; empty if it does not continue the previous item.
    """
    first = _GROUP.match(item)
    groups = list(_GROUP.finditer(previous_item))
    if first is None or not groups:
        return ""
    name = first[1]
    groups_of_style = [ix for ix, group in enumerate(groups) if _style_of(group[1]) == _style_of(name)]
    if len(groups_of_style) > 1 and name.islower() and name not in _ROMAN:
        # A plain letter names a subsection, and no clause, which has a Roman number.
        groups_of_style = groups_of_style[:1]
    if not groups_of_style:
        return ""
    replaced_group = groups[groups_of_style[-1]]
    is_later = _rank(name, replaced_group[1]) > _rank(replaced_group[1], name)
    is_deeper = name == replaced_group[1] and item != previous_item[replaced_group.start() :]
    return previous_item[: replaced_group.start()] + item if is_later or is_deeper else ""


def expand_subsections(first: str, last: str) -> list[str]:
    """Expand a range of subsections that differ only in their last letter or number.

    Args:
        first: First subsection in full, e.g. `48(a)(3)(A)`.
        last: Last subsection in full, e.g. `48(a)(3)(D)`.

    Returns:
        Subsections after `first` up to `last`, in full; only `last` if the two differ in more.
    """
    low, high = _LAST.match(first), _LAST.match(last)
    if low is None or high is None or low[1] != high[1]:
        return [last]
    begin, end = low[2], high[2]
    if begin.isdigit() and end.isdigit():
        return [f"{low[1]}({number})" for number in range(int(begin) + 1, int(end) + 1)]
    if begin in _ROMAN and end in _ROMAN and len(begin) + len(end) > 2:
        return [f"{low[1]}({name})" for name in _ROMAN[_ROMAN.index(begin) + 1 : _ROMAN.index(end) + 1]]
    if len(begin) == len(end) == 1 and begin.isupper() == end.isupper():
        return [f"{low[1]}({chr(code)})" for code in range(ord(begin) + 1, ord(end) + 1)]
    return [last]


def is_enumerator(text: str, *, start: int, item: str) -> bool:
    """Return whether a letter or number in parentheses enumerates clauses rather than naming a subsection.

    Args:
        text: The paragraph.
        start: Offset at which the list of sections begins.
        item: Letter or number as printed, e.g. `(2)`.
    """
    group = _GROUP.match(item)
    name = _name_before(group[1]) if group is not None else ""
    return bool(name) and re.search(rf"(?<![\w)])\({re.escape(name)}\)", text[:start]) is not None


def _name_before(name: str) -> str:
    if name.isdigit():
        return str(int(name) - 1)
    if len(name) == 1 and name not in "aA":
        return chr(ord(name) - 1)
    return _ROMAN[_ROMAN.index(name) - 1] if name in _ROMAN[1:] else ""


def _style_of(name: str) -> str:
    """Return whether a name consists of digits (`number`), or of letters in one case (`upper`, `lower`); else empty."""
    if name.isdigit():
        return "number"
    if name.isupper():
        return "upper"
    return "lower" if name.islower() else ""


def _rank(name: str, other: str) -> int:
    """Rank a name among those of its kind; `other` decides whether `i`, `v` and `x` are letters or Roman numbers."""
    if name.isdigit():
        return int(name)
    is_roman = name in _ROMAN and other in _ROMAN and (len(name) > 1 or len(other) > 1)
    return _ROMAN.index(name) if is_roman else sum(ord(letter) * 256 ** (2 - ix) for ix, letter in enumerate(name[:3]))
