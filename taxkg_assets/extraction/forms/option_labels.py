"""Labels of several fields of one line that share its printed label: check boxes with an option each, and amounts that
have words of their own.

Such a line prints its options one after the other, or in the margin. The spoken text of each field names one option.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxkg_assets.rules.models.form_lines import load_form_lines
from taxkg_assets.rules.models.spoken import load_spoken

_WORD = re.compile(r"\w+")
_LONE_LETTER = re.compile(r"(?:^|\.)[A-Z]$")
_SIGN = re.compile(r"\s*(?:\(\w{1,4}\)|\b\w)?\.?\s*$")
# A sentence is added to a label if less than this share of its words is in the label.
_KNOWN_FRAC = 0.5


def find_option_labels(label: str, spoken_texts: Sequence[str]) -> list[str]:
    """Find the label of each check box of a line whose spoken text contains the letter or number of an option.

    Args:
        label: The printed label of the line.
        spoken_texts: Spoken text of each check box, without the number of the line.

    Returns:
        The words before the options, each with one option, or alone for a blank. Empty if fewer than two check boxes
        have an option, or two have the same.
    """
    options = [_find_option(spoken_text) for spoken_text in spoken_texts]
    named_options = [option for option in options if option]
    if len(named_options) < 2 or len(set(named_options)) < len(named_options):
        return []
    stem = _find_stem(label, named_options)
    return [_join(stem, option) if option else stem or label for option in options]


def find_distinct_labels(spoken_texts: Sequence[str]) -> list[str]:
    """Return the spoken texts as labels; empty if two are equal, or if one has fewer than two words.

    Args:
        spoken_texts: Spoken text of each check box of a line, without the number of the line.
    """
    is_distinct = all(len(spoken_text.split()) > 1 for spoken_text in spoken_texts) and len(set(spoken_texts)) == len(
        spoken_texts
    )
    return list(spoken_texts) if is_distinct else []


def add_words(label: str, spoken_text: str) -> str:
    """Append to a label the last sentence of a field's spoken text that the label lacks.

    Args:
        label: The printed label of the line.
        spoken_text: Spoken text of the field.

    Returns:
        The label with that sentence; the label alone if it contains most words of each sentence, if these have fewer
        than two words, or if one names a column by its letter.
    """
    new_words = _find_added_words(label, spoken_text)
    period = "" if not new_words or label.endswith((".", ":", "?", ";")) else "."
    return f"{label}{period} {new_words}".strip()


def _find_added_words(label: str, spoken_text: str) -> str:
    label_words = {_singular(word) for word in _WORD.findall(label)}
    column_pattern = load_form_lines().column_numbers.column_number.pattern
    new_words = ""
    for sentence in spoken_text.split(". "):
        words = [_singular(word) for word in _WORD.findall(sentence)]
        if column_pattern.match(sentence) is not None or _LONE_LETTER.search(sentence) is not None:
            return ""
        if sum(word in label_words for word in words) >= _KNOWN_FRAC * len(words):
            # A sentence spoken before the words of the line is a note next to the line.
            new_words = ""
        elif len(words) > 1:
            new_words = sentence.strip(" .")
    return new_words


def _singular(word: str) -> str:
    return word.casefold().removesuffix("s")


def _find_stem(label: str, options: Sequence[str]) -> str:
    """Return the words of a label before the first option and before that option's letter or number."""
    matches = [re.search(rf"(?<!\w){re.escape(option)}(?!\w)", label) for option in options]
    starts = [match.start() for match in matches if match is not None]
    if starts:
        return _SIGN.sub("", label[: min(starts)])
    return label[: label.find(":") + 1] or label


def _find_option(spoken_text: str) -> str:
    """Return the words after the letter or number of an option; empty if the text contains no option."""
    options = [match["option"] for rule in load_spoken().options for match in rule.pattern.finditer(spoken_text)]
    return options[-1] if options else ""


def _join(stem: str, option: str) -> str:
    """Join the words before the options with one option; a word at both the end and the beginning is kept once."""
    first_word, _, words_after = option.partition(" ")
    is_repeated = bool(words_after) and _WORD.findall(stem)[-1:] == _WORD.findall(first_word)[:1]
    return f"{stem} {words_after if is_repeated else option}".strip()
