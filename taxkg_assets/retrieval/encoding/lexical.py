"""Find the search terms of a text; the vocabulary of a corpus.

A box, a form number, a section and an amount are one term each, as they decide tax questions (`rules/lexical.yaml`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets.rules.models.lexical import load_lexical

Scores = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
_QUOTES = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": " ", "\u2010": "-", "\u2011": "-", "\u00ad": None}
)
_DIGIT = re.compile(r"\d")


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Remove plural and tense endings from a word.

    The stem need not be a word, but is the same for all forms of a word.

    Args:
        word: Word in lower case.

    Returns:
        The stem.

    Source:
        rules/lexical.yaml, `suffixes`.
    """
    word = word.removesuffix("'s").replace("'", "")
    for rule in load_lexical().suffixes:
        ending = rule["ending"]
        if word.endswith(ending) and len(word) - len(ending) >= rule["min_stem"]:
            word = word[: len(word) - len(ending)] + rule["replacement"]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


@lru_cache(maxsize=1)
def _stopwords() -> frozenset[str]:
    """Return the stop words and their contractions."""
    family = load_lexical()
    return frozenset(word + ending for word in family.stopwords for ending in ("", *family.contractions))


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    return {rule.id: rule.pattern for rule in load_lexical().rules}


def _number(whole: str, fraction: str, thousands: str, percent: str) -> list[str]:
    plain = whole.replace(",", "") + fraction
    if thousands and not fraction:
        plain += "000"
    return [plain, plain + "%"] if percent else [plain]


@lru_cache(maxsize=1)
def _scanner() -> re.Pattern[str]:
    """Compile the pattern that finds words, dashed numbers, keys and amounts in one pass over a text.

    It has one group for each of these kinds, and four groups within an amount. Words come first, as most terms are
    words, and no other kind begins with a letter.
    """
    patterns = _patterns()
    return re.compile("|".join(f"({patterns[rule].pattern})" for rule in ("word", "dashed_number", "key", "amount")))


@lru_cache(maxsize=200_000)
def _find_word_terms(word: str) -> tuple[str, ...]:
    if word.startswith("e-"):  # "e-file" is found as "efile" and as "file"
        return (stem("e" + word[2:]), *_find_word_terms(word[2:]))
    return () if word in _stopwords() else (stem(word),)


@lru_cache(maxsize=20_000)
def _find_key_terms(key: str) -> tuple[str, ...]:
    inner = _patterns()["amount"].fullmatch(key)
    return tuple(_number(*inner.groups("")) if inner else [key])


def find_terms(text: str) -> list[str]:
    """Find the search terms of a text.

    Args:
        text: Question, passage or heading.

    Returns:
        Terms in order, with repeats.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    text = text.casefold()
    terms: list[str] = []
    if not _DIGIT.search(text):  # all other terms have a digit
        for word in _patterns()["word"].findall(text):
            terms += _find_word_terms(word)
        return terms
    text = _extract_prefixed(text, terms)
    for word, dashed, key, amount, *parts in _scanner().findall(text):
        if word:
            terms += _find_word_terms(word)
        elif amount:
            terms += _number(*parts)
        else:
            terms += _find_key_terms(key or dashed)
    return terms


@lru_cache(maxsize=10_000)
def find_distinct_terms(text: str) -> frozenset[str]:
    """Return the distinct search terms of a short text, cached for recent texts.

    Args:
        text: Sentence or heading.

    Returns:
        The distinct terms.
    """
    return frozenset(find_terms(text))


def _extract_prefixed(text: str, terms: list[str]) -> str:
    """Add the terms of numbers with a prefix, such as "box 2a" or "section 179", to `terms`.

    Returns:
        The text without the suffixes of form numbers and the letters of subsections.
    """
    patterns = _patterns()

    def take_form(match: re.Match[str]) -> str:
        suffix = next(group for group in match.groups()[1:] if group)
        terms.append(f"{match[1]}-{suffix.replace('misc', 'msc')}")
        return f" {match[1]} " if match[1] != "w" else " "

    def take_subsection(match: re.Match[str]) -> str:
        section, letter, *paragraphs = (group for group in match.groups() if group)
        terms.append(section + letter)
        terms.extend(section + letter + paragraph for paragraph in paragraphs)
        return f" {section} "

    text = patterns["form_number"].sub(take_form, text)
    text = patterns["joined_form_number"].sub(take_form, text)
    text = patterns["wage_form_number"].sub(take_form, text)
    text = patterns["subsection"].sub(take_subsection, text)
    terms += [f"sec_{match[1]}" for match in patterns["section_number"].finditer(text)]
    terms += [f"box_{match[1]}" for match in patterns["box_number"].finditer(text)]
    return text


class Vocabulary:
    """The terms of a corpus in alphabetical order, and the number of rows that contain each term.

    Args:
        terms: Column of terms.
        frequencies: Number of rows of each term.
    """

    def __init__(self, terms: pl.Series, frequencies: Ints) -> None:
        self.terms, self.frequencies = terms, frequencies

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {term: number for number, term in enumerate(self.terms.to_list())}

    def find(self, term: str) -> int | None:
        """Return the number of a term; None for an unknown one.

        Args:
            term: A search term, as `find_terms` returns it.
        """
        return self._numbers.get(term)

    def idf(self, term: str, *, row_count: int) -> float:
        """Return the inverse document frequency of a term, 0 for an unknown one.

        Args:
            term: Search term.
            row_count: Number of rows of the corpus.
        """
        ix = self.find(term)
        if ix is None:
            return 0.0
        frequency = int(self.frequencies[ix])
        return float(np.log(1 + (row_count - frequency + 0.5) / (frequency + 0.5)))
