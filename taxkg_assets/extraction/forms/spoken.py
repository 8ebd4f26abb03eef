"""The spoken texts of a form's fields (tooltips for screen readers), parsed into key, part, row, column and label.

Spoken texts differ from the printed words; they are used as labels only where the printed words are in pieces.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from taxkg_assets.rules.models.spoken import load_spoken

_ROMAN = re.compile(r"^[ivx]{1,5}$")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A parsed spoken text of a form field; what the text does not mention is "".

    Attributes:
        key: Number or letter: `4b`, `1ii`, `e`.
        kind: `box`, `line`, `option` for a check box with a capital letter, `letter` for a letter alone, or "".
        part: Number of the part: `II`.
        step: Number of the step.
        section: Heading mentioned with the part.
        row: Name of the row in a table, as spoken.
        entry: Entry of a list, where the text mentions it as the column of a row; `row` ends with it.
        column: Letter of the column.
        head: Words of the column's head.
        copy: Copy of the form: `B`.
        label: All other words.
        formula: Sentences that say how the amount is computed.
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
        is_entry: Whether a number at the end of the text counts the entries of a list, and is no key.

    Returns:
        The parsed text; a text that matches no rule is a label as a whole.

    Source:
        rules/spoken.yaml.
    """
    text = join_letters(" ".join(text.split()))
    values, text_left = _read_fronts(text)
    text_before, values, text_left = _read_key(values, text_left, is_entry=is_entry)
    values |= _read_headings(text_before)
    formula = find_formula(text_left)
    text_left = _read_item(values, text_left, is_entry=is_entry)
    text_left = _read_column(values, text_left)
    return Spoken(**values, label=_plain(text_left), formula=formula)


def find_entries(texts: Sequence[str]) -> set[str]:
    """Find the spoken texts that end with the number of a list entry.

    These texts differ in that number only, and the numbers rise from 1 on: "Name of payer 1", "Name of payer 2".

    Args:
        texts: Spoken texts of the fields of one page.

    Returns:
        The texts that end with such a number.
    """
    numbers_by_words: dict[str, dict[str, int]] = defaultdict(dict)
    for text in texts:
        match = load_spoken().items.last_number.pattern.search(" ".join(text.split()))
        if match is not None:
            numbers_by_words[match.string[: match.start()]][text] = int(match["item"])
    return {
        text
        for text_numbers in numbers_by_words.values()
        for text in text_numbers
        if 1 < max(text_numbers.values()) == len({*text_numbers.values()})
    }


def join_letters(text: str) -> str:
    """Join letters that are spelled out: "T I N" to "TIN".

    Args:
        text: Spoken text.

    Returns:
        Text with joined letters.
    """
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
    sentences = {
        match.start("formula"): match["formula"]
        for rule in load_spoken().formulas.find_usable(text)
        for match in rule.pattern.finditer(text)
    }
    return " ".join(sentences[start] for start in sorted(sentences))


class _KeyParse(NamedTuple):
    """A spoken text, divided at its key.

    Attributes:
        text_before: Words before the key; empty where there is no key.
        values: What was read before, with the key.
        text_after: Words after the key.
    """

    text_before: str
    values: dict[str, str]
    text_after: str


def _read_fronts(text: str) -> tuple[dict[str, str], str]:
    """Read copy, part, step and row at the start of a text; return these and the rest of the text."""
    values = dict.fromkeys(("key", "kind", "part", "step", "section", "row", "entry", "column", "head", "copy"), "")
    is_front = True
    while is_front:
        is_front = False
        for rule in load_spoken().fronts:
            match = rule.pattern.match(text)
            if match is not None:
                values |= {name: value.strip() for name, value in match.groupdict().items() if value}
                text, is_front = text[match.end() :], True
    return values, text


def _read_headings(text_before: str) -> dict[str, str]:
    """Read the words between the start of a text and its key: a part, or a heading of a few words."""
    for rule in load_spoken().headings:
        match = rule.pattern.search(text_before)
        if match is not None:
            return {name: value.strip() for name, value in match.groupdict().items() if value}
    return {}


def _read_key(values: dict[str, str], text: str, *, is_entry: bool) -> _KeyParse:
    """Find the key in a spoken text: `4a` in `Part I. Line 4a. Harbor dues`.

    Args:
        values: What was read before.
        text: The rest of the text.
        is_entry: Whether the text ends with the number of a list entry.
    """
    matches = [
        match
        for rule in load_spoken().keys.find_usable(text)
        if (match := rule.pattern.search(text)) is not None and not (is_entry and _ends_words(match))
    ]
    if not matches:
        return _KeyParse("", values, text)
    match = min(matches, key=lambda key_match: key_match.start())  # of equals, that of the first rule
    values = values | _read_key_groups({name: value for name, value in match.groupdict().items() if value})
    text_after = text[match.end() :].strip()
    if values["key"].isdigit() and not values["row"]:
        text_after = _read_first_letter(values, text_after)
    return _KeyParse(text[: match.start()].strip(), values, text_after)


def _read_key_groups(groups: dict[str, str]) -> dict[str, str]:
    """Return key and kind, and row and step where the key has them, from the groups of a rule for keys."""
    if "option" in groups:
        return {"key": groups["option"], "kind": "option"}
    if "letter" in groups:
        return {"key": groups["letter"], "kind": "letter"}
    kind = ""
    if "word" in groups:
        kind = "box" if groups["word"].startswith("Box") else "line"
    key, row = groups.get("key", ""), groups.get("row", "")
    if key and _ROMAN.match(row):
        key += row
    step = {"step": groups["step_key"]} if "step_key" in groups else {}
    return {"key": key, "kind": kind, "row": row, **step}


def _ends_words(match: re.Match[str]) -> bool:
    """Decide whether a number ends a text that begins with words: the number is no key, but counts list entries."""
    number_match = load_spoken().items.last_number.pattern.search(match.string)
    return number_match is not None and match.start() == number_match.start()


def _read_first_letter(values: dict[str, str], text_left: str) -> str:
    """Read the letter of a line that letters divide, which follows the line's words; return the words after it."""
    match = load_spoken().first_letters.first_letter.pattern.search(text_left)
    if match is None:
        return text_left
    values["key"] += match["letter"]
    return text_left[match.end() :]


def _read_item(values: dict[str, str], text_left: str, *, is_entry: bool) -> str:
    """Read the number of a list entry into `values`; return the text without that number."""
    match = load_spoken().items.item.pattern.search(text_left)
    if match is not None:
        values["row"] = values["row"] or match["item"] or match["line"] or match["entry"]
        return f"{text_left[: match.start()]}{text_left[match.end() :]}"
    match = load_spoken().items.last_number.pattern.search(text_left) if is_entry else None
    if match is None or values["row"]:
        return text_left
    values["row"] = match["item"]
    return text_left[: match.start()].rstrip()


def _read_column(values: dict[str, str], text_left: str) -> str:
    """Read the column at the end of a text into `values`; return the text without the column."""
    plain_text = _without_noise(text_left)
    for rule in load_spoken().columns:
        match = rule.pattern.search(plain_text)
        if match is None:
            continue
        head = _read_entry(values, match["head"])
        letters = list(load_spoken().column_letters.letter.pattern.finditer(head))
        values["column"] = letters[-1]["letter"].lower() if letters else ""
        values["head"] = _plain(head[letters[-1].end() :] if letters else head)
        # A header over several columns is read aloud between row and column, like the words of a line.
        return "" if values["row"] else plain_text[: match.start("head")].removesuffix("Column: ")
    return text_left


def _read_entry(values: dict[str, str], head: str) -> str:
    """Read the list entry that begins a column's head, in a table with a row for each kind of amount of an entry."""
    match = load_spoken().items.item.pattern.match(head)
    if match is None or not values["row"] or not match["entry"]:
        return head
    values["entry"] = match["entry"]
    values["row"] += f". {match['entry']}"
    return head[match.end() :]


def _without_noise(text: str) -> str:
    for rule in load_spoken().noises.find_usable(text):
        text = rule.pattern.sub("", text).strip()
    return text


def _plain(text: str) -> str:
    """Return a label without what a screen reader adds, and without its final period."""
    text = _without_noise(text)
    return text.removesuffix(".") if not text.endswith(("etc.", "no.")) else text
