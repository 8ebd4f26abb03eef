"""The lexical retriever: text to search terms, and BM25 over them.

Keys decide tax questions, so a box, a form number, a section and an amount are one term each (`rules/lexical.yaml`).
"""

from __future__ import annotations

import math
import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets.rules.loader import load_rules
from taxkg_assets.rules.models.lexical import load_lexical

Scores = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": " ", "‑": "-", "\u00ad": None})
_DIGIT = re.compile(r"\d")


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Remove plural and tense endings; the stem need not be a word, only the same for all forms.

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
    """Return the stop words, alone and contracted."""
    family = load_lexical()
    return frozenset(word + ending for word in family.stopwords for ending in ("", *family.contractions))


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    return {rule.id: rule.pattern for rule in load_rules("lexical")}


def _number(whole: str, fraction: str, thousands: str, percent: str) -> list[str]:
    plain = whole.replace(",", "") + fraction
    if thousands and not fraction:
        plain += "000"
    return [plain, plain + "%"] if percent else [plain]


@lru_cache(maxsize=1)
def _scanner() -> re.Pattern[str]:
    """Compile one pass over the text for the terms that are not prefixed by a word.

    There is a group for each kind, and four within an amount. Words come first, as most terms are words; nothing else
    begins with a letter.
    """
    found = _patterns()
    return re.compile("|".join(f"({found[rule].pattern})" for rule in ("word", "dashed_number", "key", "amount")))


@lru_cache(maxsize=200_000)
def _find_word_terms(word: str) -> tuple[str, ...]:
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
    if _DIGIT.search(text):
        text = _take_prefixed(text, terms)
    for word, dashed, key, amount, *parts in _scanner().findall(text):
        if word:
            terms += _find_word_terms(word)
        elif amount:
            terms += _number(*parts)
        else:
            terms += _find_key_terms(key or dashed)
    return terms


def _take_prefixed(text: str, terms: list[str]) -> str:
    """Add the terms of numbers that a word or a letter makes keys, and return the text without those of forms."""
    found = _patterns()

    def take_form(match: re.Match[str]) -> str:
        suffix = next(group for group in match.groups()[1:] if group)
        terms.append(f"{match[1]}-{suffix.replace('misc', 'msc')}")
        return f" {match[1]} " if match[1] != "w" else " "

    text = found["form_number"].sub(take_form, text)
    text = found["wage_form_number"].sub(take_form, text)
    terms += [f"sec_{match[1]}" for match in found["section_number"].finditer(text)]
    terms += [f"box_{match[1]}" for match in found["box_number"].finditer(text)]
    return text


class Vocabulary:
    """The terms of a corpus in alphabetical order, and the number of rows that contain each.

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
        place = self.find(term)
        if place is None:
            return 0.0
        frequency = int(self.frequencies[place])
        return float(np.log(1 + (row_count - frequency + 0.5) / (frequency + 0.5)))


@dataclass(frozen=True, slots=True)
class LexicalRetriever:
    """BM25 over the terms of each row: for each term the rows that contain it, and its contribution to their scores.

    Attributes:
        vocabulary: Terms with their frequencies.
        starts: First posting of each term in `rows` and `scores`, one entry more than there are terms.
        rows: Row of each posting.
        scores: Score of each posting.
        row_count: Number of rows.
    """

    vocabulary: Vocabulary
    starts: Ints
    rows: npt.NDArray[np.int32]
    scores: Scores
    row_count: int

    def score_rows(self, terms: Sequence[str], *, extra: Sequence[str] = (), extra_weight: float = 0.0) -> Scores:
        """Score every row.

        Args:
            terms: Terms of the question.
            extra: Terms of the question's expansion.
            extra_weight: Weight of these.

        Returns:
            BM25 of shape (rows,).
        """
        scores = self._score(terms)
        if extra and extra_weight > 0:
            scores = scores + np.float32(extra_weight) * self._score(extra)
        return scores

    def _score(self, terms: Sequence[str]) -> Scores:
        scores: Scores = np.zeros(self.row_count, dtype=np.float32)
        for term in dict.fromkeys(terms):
            own = self._postings(term)
            scores[self.rows[own]] += self.scores[own]
        return scores

    def hold_terms(self, terms: Sequence[str], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return whether some rows contain terms.

        Args:
            terms: Search terms.
            rows: Row numbers.

        Returns:
            Booleans of shape (terms, rows).
        """
        found = np.zeros((len(terms), len(rows)), dtype=np.bool_)
        wanted = rows.astype(np.int32)  # numbers of another type would have all rows of a term copied
        for own, term in zip(found, terms, strict=True):
            postings = self.rows[self._postings(term)]
            if len(postings):
                own[:] = postings[np.minimum(np.searchsorted(postings, wanted), len(postings) - 1)] == wanted
        return found

    def _postings(self, term: str) -> slice:
        """Return the postings of a term, in order of row; empty for an unknown one."""
        place = self.vocabulary.find(term)
        return slice(0, 0) if place is None else slice(int(self.starts[place]), int(self.starts[place + 1]))

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term, 0 for an unknown one.

        Args:
            term: Search term.
        """
        return self.vocabulary.idf(term, row_count=self.row_count)


def build_lexical(rows: Iterable[Sequence[str]]) -> LexicalRetriever:
    """Index rows of terms; they are read one by one, so that each term is in memory once and not once per row.

    Args:
        rows: Terms of each row, with repeats.

    Returns:
        BM25 over the rows, in their order.
    """
    numbers: dict[str, int] = {}
    occurrences, lengths = array("i"), array("i")
    for row in rows:
        occurrences.extend([numbers.setdefault(term, len(numbers)) for term in row or ("∅",)])
        lengths.append(len(row) or 1)
    order, count = sorted(numbers), len(lengths)
    place = np.empty(len(numbers), dtype=np.int64)
    place[[numbers[term] for term in order]] = np.arange(len(order))
    lengths_of = np.asarray(lengths, dtype=np.int64)
    owners = np.repeat(np.arange(count), lengths_of)
    postings, repeats = np.unique(place[np.asarray(occurrences, dtype=np.int64)] * count + owners, return_counts=True)
    terms, posting_rows = np.divmod(postings, max(count, 1))
    frequencies = np.bincount(terms, minlength=len(order))
    return LexicalRetriever(
        vocabulary=Vocabulary(pl.Series("term", order, dtype=pl.String), frequencies),
        starts=np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64),
        rows=posting_rows.astype(np.int32),
        scores=_score_postings(terms, posting_rows, repeats=repeats, frequencies=frequencies, lengths=lengths_of),
        row_count=count,
    )


def _score_postings(terms: Ints, rows: Ints, *, repeats: Ints, frequencies: Ints, lengths: Ints) -> Scores:
    """Return the contribution of each term to the score of each row that contains it: BM25 as in Lucene.

    Source:
        Kamphuis, de Vries, Boytsov, Lin (2020), Which BM25 do you mean?
    """
    settings = load_lexical().bm25
    k1, b, count = settings.k1, settings.b, len(lengths)
    rarity = np.array(
        [math.log(1 + (count - own + 0.5) / (own + 0.5)) for own in frequencies.tolist()], dtype=np.float32
    )
    often = repeats.astype(np.float32)
    norm = k1 * ((1 - b) + b * lengths / lengths.mean()) if count else np.zeros(0)
    scores: Scores = (rarity[terms] * (often / (norm[rows] + often))).astype(np.float32)
    return scores
