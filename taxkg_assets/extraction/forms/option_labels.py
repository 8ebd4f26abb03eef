"""Labels of several fields of one line that share its printed label: check boxes with an option each, and amounts that
have words of their own.

The print of such a line runs its options together, or sets them in the margin; each field says which of them it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxkg_assets.rules.models.form_lines import load_form_lines
from taxkg_assets.rules.models.spoken import load_spoken

_WORD = re.compile(r"\w+")
_LONE_LETTER = re.compile(r"(?:^|\.)[A-Z]$")
_SIGN = re.compile(r"\s*(?:\(\w{1,4}\)|\b\w)?\.?\s*$")
# Of the words of a sentence that adds to a label, less than this share is in the label.
_KNOWN_FRAC = 0.5


def find_option_labels(label: str, spoken: Sequence[str]) -> list[str]:
    """Find a label of its own for each check box of a line that is spoken with the letter or number of an option.

    Args:
        label: The printed label of the line.
        spoken: The words that each check box is spoken with, without the number of the line.

    Returns:
        The words before the options, each with one option, or alone for a blank. Empty if fewer than two check boxes
        have an option, or two have the same.
    """
    options = [_find_option(said) for said in spoken]
    named = [option for option in options if option]
    if len(named) < 2 or len(set(named)) < len(named):
        return []
    stem = _find_stem(label, named)
    return [_join(stem, option) if option else stem or label for option in options]


def find_distinct_labels(spoken: Sequence[str]) -> list[str]:
    """Return the spoken words as labels; empty if two check boxes say the same, or one says a word at most.

    Args:
        spoken: The words that each check box of a line is spoken with, without the number of the line.
    """
    is_distinct = all(len(said.split()) > 1 for said in spoken) and len(set(spoken)) == len(spoken)
    return list(spoken) if is_distinct else []


def add_words(label: str, said: str) -> str:
    """Append the last sentence of what a field says that its line's label does not print to the label.

    Args:
        label: The printed label of the line.
        said: The words that the field is spoken with.

    Returns:
        The label alone if it has most words of each sentence, or they are fewer than two, or one names a column by its
        letter.
    """
    added = _find_added_words(label, said)
    period = "" if not added or label.endswith((".", ":", "?", ";")) else "."
    return f"{label}{period} {added}".strip()


def _find_added_words(label: str, said: str) -> str:
    known = {_singular(word) for word in _WORD.findall(label)}
    column = load_form_lines().column_numbers.column_number.pattern
    added = ""
    for sentence in said.split(". "):
        words = [_singular(word) for word in _WORD.findall(sentence)]
        if column.match(sentence) is not None or _LONE_LETTER.search(sentence) is not None:
            return ""
        if sum(word in known for word in words) >= _KNOWN_FRAC * len(words):
            # What is said before the words of the line is a note next to it.
            added = ""
        elif len(words) > 1:
            added = sentence.strip(" .")
    return added


def _singular(word: str) -> str:
    return word.casefold().removesuffix("s")


def _find_stem(label: str, options: Sequence[str]) -> str:
    """Return the words of a label before the first option, which it may print with its letter or number."""
    found = [re.search(rf"(?<!\w){re.escape(option)}(?!\w)", label) for option in options]
    starts = [match.start() for match in found if match is not None]
    if starts:
        return _SIGN.sub("", label[: min(starts)])
    return label[: label.find(":") + 1] or label


def _find_option(said: str) -> str:
    """Return what follows the letter or number of an option; empty without one."""
    found = [match["option"] for rule in load_spoken().options for match in rule.pattern.finditer(said)]
    return found[-1] if found else ""


def _join(stem: str, option: str) -> str:
    """Join the words before the options with one of them; a word that both share at the seam comes once."""
    first, _, rest = option.partition(" ")
    is_repeated = bool(rest) and _WORD.findall(stem)[-1:] == _WORD.findall(first)[:1]
    return f"{stem} {rest if is_repeated else option}".strip()
