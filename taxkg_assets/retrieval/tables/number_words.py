"""Read numbers that a user writes in words: "half a million", "two hundred thirty-five thousand", "15 grand"."""

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
        Text in which "2nd quarter" and "Q2" are "second quarter", and "the first three months" is "the first quarter".
    """
    names = {str(value): name for name, value in load_table_lookup().ordinals.items()}
    text = _QUARTER.sub(r"\1th quarter", text)
    text = _LAST_MONTHS.sub("fourth quarter", _FIRST_MONTHS.sub("first quarter", text))
    return _NUMBERED.sub(lambda match: names.get(match[1], match[0]), text)


def write_digits(text: str) -> str:
    """Replace numbers in words by digits, padded with spaces so that the text keeps its length.

    Args:
        text: Words of a user.

    Returns:
        Text of the same length: "half a million" becomes "        500000", and "third year" becomes "    3 year".
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
    below_hundred = rf"(?:(?:{tens})[\s-](?:{ones})|{words})"
    multiplier = rf"(?:{below_hundred}|{_DIGITS})(?:\s+and\s+a\s+half)?"
    first_part = rf"(?:half(?: of)? an?|(?<!of )(?<!\w)an?(?!\s+grand)|{multiplier})"
    scaled = rf"{first_part}(?:[\s-](?:{scales})\b(?:\s(?:and\s)?{below_hundred})?)+"
    # A number without a scale is no amount before "of" or before "or": "one of the boxes", "one or two".
    unscaled = rf"{below_hundred}(?:\s+and\s+a\s+half)?(?!\s+of\b)(?!\s+or\s+{below_hundred})"
    return re.compile(
        rf"(?i)(?<![\w.,$])(?P<sign>\$?)(?P<number>{scaled}|{unscaled})\b(?!\s(?:total|child|daughter|son)s?\b)"
    )


def _read_phrase(phrase: str) -> float:
    """Return the value of a number in words: "two hundred thousand five" is 2 times 100 times 1,000, plus 5."""
    rules = load_table_lookup()
    higher_value = group_value = 0.0
    for word in _SEPARATOR.split(phrase.lower().replace(",", "")):
        if word == "half":
            group_value += 0.5
        elif word in rules.number_words:
            group_value += rules.number_words[word]
        elif word in rules.number_scales:
            group_value = (group_value or 1.0) * rules.number_scales[word]
            if rules.number_scales[word] > 100:
                higher_value, group_value = higher_value + group_value, 0.0
        elif word not in ("a", "an", "and", "of"):
            group_value += float(word)
    return higher_value + group_value
