"""Numbers in words: "half a million", "two hundred thirty-five thousand", "15 grand"."""

from __future__ import annotations

import re
from functools import cache

from taxkg_assets.rules.models.table_lookup import load_table_lookup

_DIGITS = re.compile(r"\d+(?:\.\d+)?(?![\d.,]*\d|k\b|%)")


def write_digits(text: str) -> str:
    """Write numbers in words as digits, padded with spaces to the length of the words.

    Args:
        text: Words of a user.

    Returns:
        Text of the same length: "half a million" becomes "        500000", "third year" "    3 year".
    """
    ordinals = load_table_lookup().ordinals
    text = _ordinal().sub(lambda match: f"{ordinals[match[0].lower()]}".rjust(len(match[0])), text)
    return _number_phrase().sub(_write_phrase, text)


def remove_ordinals(text: str) -> str:
    """Remove the ordinals of years, which are read as numbers: "third year".

    Args:
        text: Words of a user.

    Returns:
        The rest of the text.
    """
    return _ordinal().sub(" ", text)


@cache
def _ordinal() -> re.Pattern[str]:
    return re.compile(rf"(?i)\b(?:{'|'.join(load_table_lookup().ordinals)})(?=\s+years?\b)")


def _write_phrase(match: re.Match[str]) -> str:
    return f"{match['sign']}{_read_phrase(match['number']):.0f}".rjust(len(match[0]))


@cache
def _number_phrase() -> re.Pattern[str]:
    rules = load_table_lookup()
    words, scales = "|".join(rules.number_words), "|".join(rules.number_scales)
    tens = "|".join(word for word, value in rules.number_words.items() if 20 <= value < 100)
    ones = "|".join(word for word, value in rules.number_words.items() if 0 < value < 10)
    small = rf"(?:(?:{tens})[\s-](?:{ones})|{words})"
    first = rf"(?:(?:{'|'.join(rules.number_parts)})(?: of)? an?|(?<!of )an?|{_DIGITS.pattern}|{small})"
    scaled = rf"{first}(?:\s(?:{scales})(?:\s(?:and\s)?{small})?)+"
    # A plain word before "of" or "or" counts nothing: "one of the boxes".
    return re.compile(rf"(?i)(?<![\w.,$])(?P<sign>\$?)(?P<number>{scaled}|{small}(?!\s+(?:of|or)\b))\b")


def _read_phrase(phrase: str) -> float:
    """Add up a number in words by its scales, as English says it."""
    rules = load_table_lookup()
    total = current = 0.0
    for word in re.split(r"[\s-]+", phrase.lower()):
        if word in rules.number_parts:
            current = rules.number_parts[word]
        elif word in rules.number_words:
            current += rules.number_words[word]
        elif _DIGITS.fullmatch(word):
            current += float(word)
        elif word in rules.number_scales:
            current = (current or 1.0) * rules.number_scales[word]
            if rules.number_scales[word] > 100:
                total, current = total + current, 0.0
    return total + current
