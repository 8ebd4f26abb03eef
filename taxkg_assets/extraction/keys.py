"""The key that a heading names: Box 1a → box_1a, Boxes 14–16 → boxes_14-16, § 11-503 → sec_11-503."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from taxkg_assets.rules.models.box_grammar import load_box_grammar
from taxkg_assets.rules.models.section_grammar import load_section_grammar

_TOKEN = re.compile(
    r"[A-Z]?\d{1,2}[a-z]?\(\d{1,2}\)|[A-Z]\d{1,2}[a-z]?|\d{1,2}[a-z]{0,2}|[A-Z]{1,2}\b|\b[a-z]\b"
    r"|(?i:through|thru|\bto\b|and|or)|,|[-–—]"
)
_WORDS = frozenset({"and", "or", ","})
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# A longer run of numbers is no list of boxes: a date, an age, a share.
_LONGEST_RUN = 9
# Numbers of parts, in words.
_NUMERALS = dict(
    zip(
        ("One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"),
        ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"),
        strict=True,
    )
)
_ENDING = re.compile(r"^[\s.:;]*$")


@dataclass(frozen=True, slots=True)
class Key:
    """The kind and key of the item that a heading names: `box` and `box_1a`; the key is None for a kind without one."""

    kind: str
    key: str | None


@lru_cache(maxsize=4096)
def find_key(heading: str, *, is_whole: bool = False) -> Key | None:
    """Return the key of the box, group, code, line or part that begins a heading.

    Args:
        heading: Heading as printed.
        is_whole: Whether the key must be the whole heading.
    """
    heading = " ".join(heading.split())
    for rule in load_box_grammar().keys:
        match = rule.pattern.match(heading)
        if match is None or (is_whole and not _ENDING.match(heading[match.end("list") :])):
            continue
        return _key_of(rule.kind, match["list"])
    return None


@lru_cache(maxsize=4096)
def find_numbered_line(heading: str) -> Key | None:
    """Return the line number of a heading that consists of the number alone; None for other headings.

    Args:
        heading: Heading as printed.
    """
    for rule in load_box_grammar().numbered_lines:
        match = rule.pattern.match(heading)
        if match is not None:
            return _key_of(rule.kind, match["list"])
    return None


@lru_cache(maxsize=4096)
def find_statute_key(text: str, *, is_code: bool = False) -> Key | None:
    """Return the section number of a statute that begins a line; None for other lines.

    Args:
        text: Line as printed.
        is_code: Whether the line is known to be a section heading, whatever its style.
    """
    grammar = load_section_grammar()
    for rule in (*grammar.statutes, *(grammar.statute_styles if is_code else ())):
        match = rule.pattern.match(text)
        if match is not None:
            return Key("statute_section", f"sec_{match['number']}")
    return None


def division_word(text: str) -> str:
    """Return the word for a division of a legal code (title, chapter, part, …) that begins a line; empty for none.

    Args:
        text: Line as printed.
    """
    for rule in load_section_grammar().divisions:
        match = rule.pattern.match(text)
        if match is not None:
            return match["word"].lower()
    return ""


def is_division(text: str) -> bool:
    """Return whether a line is the heading of a title, chapter, part or other division of a legal code.

    Args:
        text: Line as printed.
    """
    return bool(division_word(text))


def _key_of(kind: str, printed_list: str) -> Key:
    if kind == "part":
        return Key("part", f"part_{_NUMERALS.get(printed_list, printed_list)}")
    if kind == "checkbox":
        return Key("box", f"box_{printed_list.lower()}")
    members = read_members(printed_list)
    if len(members) == 1 and "-" not in members[0]:
        return Key({"code": "runin", "item": "line"}.get(kind, kind), f"{kind}_{members[0]}")
    plural = {"box": "boxes", "code": "codes", "line": "lines", "item": "items"}[kind]
    group_kind = {"box": "box_group", "code": "runin", "item": "line"}.get(kind, kind)
    return Key(group_kind, f"{plural}_{'_'.join(members)}")


def read_members(printed_list: str) -> list[str]:
    """Parse a list of keys: `1a, 4 and 6 through 8` to `1a`, `4`, `6-8`.

    Args:
        printed_list: List as printed.

    Returns:
        Keys and ranges in the order of the list. A list of only two neighbors, `3 and 4`, is one range, `3-4`.
    """
    members: list[str] = []
    is_range = False
    for token in _TOKEN.findall(printed_list):
        if token.lower() in _WORDS:
            continue
        if any(rule.pattern.match(token.lower()) for rule in load_box_grammar().ranges):
            is_range = True
        elif is_range and members:
            members[-1] = f"{members[-1]}-{token}"
            is_range = False
        else:
            members.append(token)
    if len(members) == 2 and _are_neighbors(members[0], members[1]):
        return [f"{members[0]}-{members[1]}"]
    return members


def expand_members(printed_list: str) -> list[str]:
    """Parse a list of keys and expand its ranges: 12a-12d to 12a, 12b, 12c, 12d.

    A range that cannot be enumerated yields its two ends.

    Args:
        printed_list: List as printed.

    Returns:
        Keys in the order of the list.
    """
    expanded: list[str] = []
    for member in read_members(printed_list):
        first, _, last = member.partition("-")
        expanded += _run_between(first, last) if last else [first]
    return list(dict.fromkeys(expanded))


def _run_between(first: str, last: str) -> list[str]:
    stem, end = first.rstrip(_LETTERS), last.rstrip(_LETTERS)
    if first.isdigit() and last.isdigit() and int(first) < int(last) <= int(first) + _LONGEST_RUN:
        return [str(number) for number in range(int(first), int(last) + 1)]
    low, high = first[len(stem) :], last[len(end) :]
    if len(low) == len(high) == 1 and end in ("", stem) and low < high:
        return [f"{stem}{chr(code)}" for code in range(ord(low), ord(high) + 1)]
    return [first, last]


def _are_neighbors(first: str, second: str) -> bool:
    if first.isdigit() and second.isdigit():
        return int(second) == int(first) + 1
    same_stem = first[:-1] == second[:-1] or (first[:-1] and second == second[-1:])
    return bool(same_stem) and first[-1:].isalpha() and second[-1:].isalpha() and ord(second[-1]) == ord(first[-1]) + 1
