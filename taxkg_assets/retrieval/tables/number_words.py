"""Numbers in words: "half a million", "two hundred thirty-five thousand", "15 grand"."""

from __future__ import annotations

import re
from functools import cache

from taxkg_assets.rules.models.table_lookup import load_table_lookup

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+)"
_QUARTER = re.compile(r"(?i)\bq([1-4])\b")
_NUMBERED = re.compile(r"(?i)\b(\d{1,2})(?:st|nd|rd|th)(?=\s+(?:quarter|installment|payment|period)s?\b)")
_FIRST_MONTHS = re.compile(
    r"(?i)\bfirst (?:3|three) months(?= of (?:the year|\d{4})\b)|(?<=for the )first (?:3|three) months\b(?! of)"
)
_LAST_MONTHS = re.compile(r"(?i)\blast (?:3|three) months(?= of (?:the year|\d{4})\b)")
_SEPARATOR = re.compile(r"[\s-]+")


def spell_ordinals(text: str) -> str:
    """Write the number of a quarter, an installment or a period as a word.

    Args:
        text: Words of a user.

    Returns:
        Text: "2nd quarter" and "Q2" become "second quarter", "the first three months" "the first quarter".
    """
    names = {str(value): name for name, value in load_table_lookup().ordinals.items()}
    text = _QUARTER.sub(r"\1th quarter", text)
    text = _LAST_MONTHS.sub("fourth quarter", _FIRST_MONTHS.sub("first quarter", text))
    return _NUMBERED.sub(lambda match: names.get(match[1], match[0]), text)


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


@cache
def _ordinal() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?<![\w-])(?:{'|'.join(load_table_lookup().ordinals)})(?=\s+years?\b)")


def _write_phrase(match: re.Match[str]) -> str:
    value = _read_phrase(match["number"])
    return f"{match['sign']}{int(value) if value.is_integer() else value}".rjust(len(match[0]))


@cache
def _number_phrase() -> re.Pattern[str]:
    rules = load_table_lookup()
    words, scales = "|".join(rules.number_words), "|".join(rules.number_scales)
    tens = "|".join(word for word, value in rules.number_words.items() if 20 <= value < 100)
    ones = "|".join(word for word, value in rules.number_words.items() if 0 < value < 10)
    small = rf"(?:(?:{tens})[\s-](?:{ones})|{words})"
    mixed = rf"(?:{small}|{_DIGITS})(?:\s+and\s+a\s+half)?"
    first = rf"(?:half(?: of)? an?|(?<!of )(?<!\w)an?(?!\s+grand)|{mixed})"
    scaled = rf"{first}(?:[\s-](?:{scales})\b(?:\s(?:and\s)?{small})?)+"
    # A plain word before "of", or before "or" and another one, counts nothing: "one of the boxes", "one or two".
    plain = rf"{small}(?:\s+and\s+a\s+half)?(?!\s+of\b)(?!\s+or\s+{small})"
    return re.compile(
        rf"(?i)(?<![\w.,$])(?P<sign>\$?)(?P<number>{scaled}|{plain})\b(?!\s(?:total|child|daughter|son)s?\b)"
    )


def _read_phrase(phrase: str) -> float:
    """Add up a number in words by its scales, as English says it."""
    rules = load_table_lookup()
    total = current = 0.0
    for word in _SEPARATOR.split(phrase.lower().replace(",", "")):
        if word == "half":
            current += 0.5
        elif word in rules.number_words:
            current += rules.number_words[word]
        elif word in rules.number_scales:
            current = (current or 1.0) * rules.number_scales[word]
            if rules.number_scales[word] > 100:
                total, current = total + current, 0.0
        elif word not in ("a", "an", "and", "of"):
            current += float(word)
    return total + current
