"""What a field of a form states about itself to be heard, read into key, part, row, column, label and formula.

Spoken texts are spelled for the ear; their words stand in for the printed ones only where the print is in pieces.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from taxkg_assets.rules.models.spoken import load_spoken

_ROMAN = re.compile(r"^[ivx]{1,5}$")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A parsed spoken text of a form field; fields that the text does not mention are empty.

    key: `4b`, `1ii`, `e`. kind: box, line, option (a check box with a capital letter) or letter (a letter alone), else
    empty. number: the line that a row belongs to. section: the heading mentioned with the part. column: its letter;
    head: its words. row: as spoken. entry: the entry of a list that is spoken as the column of a row; the row ends
    with it.
    """

    key: str = ""
    kind: str = ""
    part: str = ""
    step: str = ""
    section: str = ""
    row: str = ""
    entry: str = ""
    column: str = ""
    head: str = ""
    copy: str = ""
    label: str = ""
    formula: str = ""


@lru_cache(maxsize=4096)
def read_spoken(text: str, *, is_entry: bool = False) -> Spoken:
    """Parse the spoken text of a form field (its tooltip for screen readers).

    Args:
        text: Spoken text; may be empty.
        is_entry: Whether a number at its end counts the entries of a list, and is no key.

    Returns:
        The parsed text; a text that matches no rule is a label as a whole.

    Source:
        rules/spoken.yaml.
    """
    text = join_letters(" ".join(text.split()))
    said, rest = _read_fronts(text)
    before, said, rest = _read_key(said, rest, is_entry=is_entry)
    said |= _read_headings(before)
    formula = find_formula(rest)
    rest = _read_item(said, rest, is_entry=is_entry)
    rest = _read_column(said, rest)
    return Spoken(**said, label=_plain(rest), formula=formula)


def find_entries(texts: Sequence[str]) -> set[str]:
    """Find spoken texts that end with a number of a list: others say the same before the numbers from 1 on.

    Args:
        texts: Spoken texts of the fields of one page.

    Returns:
        Those of the texts that end so.
    """
    numbers: dict[str, dict[str, int]] = defaultdict(dict)
    for text in texts:
        match = load_spoken().items.last_number.pattern.search(" ".join(text.split()))
        if match is not None:
            numbers[match.string[: match.start()]][text] = int(match["item"])
    return {text for alike in numbers.values() for text in alike if 1 < max(alike.values()) == len({*alike.values()})}


def join_letters(text: str) -> str:
    """Join letters that are spelled out: "T I N" to "TIN"."""
    for rule in load_spoken().spelled.find_usable(text):
        text = rule.pattern.sub(lambda match: match[0].replace(" ", ""), text)
    return text


def find_formula(text: str) -> str:
    """Extract the sentences of a spoken text that say how an amount is computed.

    Args:
        text: Spoken text of a field.

    Returns:
        The sentences, joined by blanks; empty for none.
    """
    found = {
        match.start("formula"): match["formula"]
        for rule in load_spoken().formulas.find_usable(text)
        for match in rule.pattern.finditer(text)
    }
    return " ".join(found[start] for start in sorted(found))


def _read_fronts(text: str) -> tuple[dict[str, str], str]:
    """Take off the front of a text what says where in the form its field is."""
    said = dict.fromkeys(("key", "kind", "part", "step", "section", "row", "entry", "column", "head", "copy"), "")
    is_front = True
    while is_front:
        is_front = False
        for rule in load_spoken().fronts:
            match = rule.pattern.match(text)
            if match is not None:
                said |= {name: value.strip() for name, value in match.groupdict().items() if value}
                text, is_front = text[match.end() :], True
    return said, text


def _read_headings(before: str) -> dict[str, str]:
    """Read what is said between the front of a text and its key: a part, or a few words that head the lines."""
    for rule in load_spoken().headings:
        match = rule.pattern.search(before)
        if match is not None:
            return {name: value.strip() for name, value in match.groupdict().items() if value}
    return {}


def _read_key(said: dict[str, str], text: str, *, is_entry: bool) -> tuple[str, dict[str, str], str]:
    """Find the key; gives what is said before it, what is known by now, and what comes after it."""
    found = [
        (match.start(), order, match)
        for order, rule in enumerate(load_spoken().keys.find_usable(text))
        if (match := rule.pattern.search(text)) is not None and not (is_entry and _ends_words(match))
    ]
    if not found:
        return "", said, text
    start, _, match = min(found, key=lambda one: one[:2])
    groups = {name: value for name, value in match.groupdict().items() if value}
    if "option" in groups:
        said = said | {"key": groups["option"], "kind": "option"}
    elif "letter" in groups:
        said = said | {"key": groups["letter"], "kind": "letter"}
    else:
        kind = "box" if groups.get("word", "").startswith("Box") else "line" if "word" in groups else ""
        row = groups.get("row", "")
        key = groups.get("key", "")
        if key and _ROMAN.match(row):
            key += row
        said = said | {"key": key, "kind": kind, "row": row}
        said["step"] = groups.get("step_key", said["step"])
    rest = text[match.end() :].strip()
    if said["key"].isdigit() and not said["row"]:
        rest = _read_first_letter(said, rest)
    return text[:start].strip(), said, rest


def _ends_words(match: re.Match[str]) -> bool:
    """Decide whether a number is the last of a text that begins with words: it is no key, but a place in a list."""
    found = load_spoken().items.last_number.pattern.search(match.string)
    return found is not None and match.start() == found.start()


def _read_first_letter(said: dict[str, str], rest: str) -> str:
    """Read the letter after the words of a line that letters divide: from there on the field describes itself."""
    match = load_spoken().first_letters.first_letter.pattern.search(rest)
    if match is None:
        return rest
    said["key"] += match["letter"]
    return rest[match.end() :]


def _read_item(said: dict[str, str], rest: str, *, is_entry: bool) -> str:
    """Take the place in a list out of a text."""
    match = load_spoken().items.item.pattern.search(rest)
    if match is not None:
        said["row"] = said["row"] or match["item"] or match["line"] or match["entry"]
        return f"{rest[: match.start()]}{rest[match.end() :]}"
    match = load_spoken().items.last_number.pattern.search(rest) if is_entry else None
    if match is None or said["row"]:
        return rest
    said["row"] = match["item"]
    return rest[: match.start()].rstrip()


def _read_column(said: dict[str, str], rest: str) -> str:
    """Take the column off the end of a text."""
    plain = _without_noise(rest)
    for rule in load_spoken().columns:
        match = rule.pattern.search(plain)
        if match is None:
            continue
        head = _read_entry(said, match["head"])
        letters = list(load_spoken().column_letters.letter.pattern.finditer(head))
        said["column"] = letters[-1]["letter"].lower() if letters else ""
        said["head"] = _plain(head[letters[-1].end() :] if letters else head)
        # A header over several columns is read aloud between row and column, like the words of a line.
        return "" if said["row"] else plain[: match.start("head")].removesuffix("Column: ")
    return rest


def _read_entry(said: dict[str, str], head: str) -> str:
    """Take the entry of a list off the front of a column's head, in a table whose rows say what to enter for each."""
    match = load_spoken().items.item.pattern.match(head)
    if match is None or not said["row"] or not match["entry"]:
        return head
    said["entry"] = match["entry"]
    said["row"] += f". {match['entry']}"
    return head[match.end() :]


def _without_noise(text: str) -> str:
    for rule in load_spoken().noises.find_usable(text):
        text = rule.pattern.sub("", text).strip()
    return text


def _plain(text: str) -> str:
    """Return a label without what a screen reader adds, and without its final period."""
    text = _without_noise(text)
    return text.removesuffix(".") if not text.endswith(("etc.", "no.")) else text
