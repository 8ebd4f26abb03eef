"""Parse a question about a table: its words, numbers with the nouns that they count, months, statuses and years."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from taxkg_assets.retrieval.encoding.lexical import find_terms, stem
from taxkg_assets.retrieval.query.router import find_lay_terms
from taxkg_assets.retrieval.tables.number_words import spell_ordinals, write_digits
from taxkg_assets.retrieval.tables.table_ranges import Number, find_numbers
from taxkg_assets.rules.models.router import load_router
from taxkg_assets.rules.models.table_lookup import Household, load_table_lookup
from taxkg_assets.rules.months import MONTHS

_CLAUSE_END = re.compile(r"[,;:?!]|\.(?:\s|$)| - |—")
_KEYED = re.compile(r"^(?:box|line)_(?=\d+[a-z])")
_DENIED = re.compile(r"(?i)\b(?:not|never|\w+n['’]t)\b[^,.;]*")
_DENIED_OF = re.compile(
    r"(?i)\b(?:i|you|we|he|she|they|it|who|spouse|person|employees?|child|children)"
    r"(?:[’']?(?:m|re|s)| am| are| is| was| were)?"
    r" (?:(?:do|does|did|is|are|was|were|has|have|ca|wo)n[’']?t|not|never)\b([^,.;]*)"
)
_DATE = re.compile(r"\b(\d{1,2})/\d{1,2}/\d{2,4}\b")
_FORM = re.compile(r"(?i)\b(?:forms?|formularios?)\s+(\d{3,4})(?![\w-])(?!-)")
_MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
STATUS = "status"
"""Attribute of headers and questions: a filing status."""
QUARTERS = 4
"""Quarters of a year."""
_WORD = re.compile(r"[A-Za-z%]+(?:'[a-z]+)?")
_MONTH = "|".join(rf"{name[:3]}t?\.?|{name}" for name in _MONTH_NAMES)
_MONTH_NAME = rf"(?i)\b(?:{_MONTH})(?![a-z])"
_MONTH_LIST = re.compile(
    rf"(?i)(?:\d\.\s*)?(?:{_MONTH})(?:(?:,\s*|\s+)(?:and\s+)?(?:{_MONTH}))+"
    rf"|(?:{_MONTH})(?:\s*[-–—]\s*(?:{_MONTH})){{2,}}"
)
_DAY = re.compile(rf"(?i)(?:{_MONTH})\s+\d{{1,2}}\b")
_MONTH_RANGE = re.compile(
    rf"(?i)\b(?P<first>{_MONTH})(?:\s+\d{{1,2}}(?:st|nd|rd|th)?(?:\s\d)?)?(?:,?\s+\d{{4}})?,?\s*"
    rf"(?:-|–|—|to|through|thru|until)\s*(?P<last>{_MONTH})(?![a-z])"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question about a table: the words, numbers and values that select table, row and column.

    Attributes:
        words: Stems of its content words.
        lay_words: Stems of document terms for its everyday terms.
        numbers: Its numbers, without years.
        facets: Attribute values that it names, e.g. {`filing_status`: {`single`}}.
        years: Calendar years that it names.
        forms: Forms that it names.
        names_place: Whether it names a state or city.
        wants_percentage: Whether it asks for a percentage.
        states: States that it names.
        negated_words: Its words that a negation applies to: "covered" in "I am not covered".
    """

    words: frozenset[str]
    lay_words: frozenset[str]
    numbers: tuple[Number, ...]
    facets: dict[str, frozenset[str]]
    years: tuple[int, ...]
    forms: frozenset[str] = frozenset()
    names_place: bool = False
    wants_percentage: bool = False
    states: frozenset[str] = frozenset()
    negated_words: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Return all parts of the question as a hashable key, for a cache."""
        facets = frozenset(self.facets.items())
        other_parts = (self.forms, self.names_place, self.wants_percentage, self.states, self.negated_words)
        return self.words, self.lay_words, self.numbers, facets, self.years, other_parts


@cache
def _representatives() -> dict[str, str]:
    """Return the first stem of each group of synonyms by stem."""
    return {stem(word): stem(family[0]) for family in load_table_lookup().families for word in family}


def canonical(word: str) -> str:
    """Return the stem that represents a stem and its synonyms.

    Args:
        word: Stem of a word.
    """
    return _representatives().get(word, word)


@lru_cache(maxsize=50_000)
def find_words(text: str) -> frozenset[str]:
    """Find the content words of a text as stems, for matching questions with headers.

    Args:
        text: Question or header.

    Returns:
        Stems that stand for groups of synonyms; "w-4" and "sec_1202" are included, plain numbers are not.
    """
    words = (canonical(_KEYED.sub("", term)) for term in find_terms(text) if any(letter.isalpha() for letter in term))
    dates = tuple(_DATE.finditer(text))
    months = [_month_words()[int(date[1]) - 1] for date in dates if 0 < int(date[1]) <= len(_MONTH_NAMES)]
    if any(rule.pattern.search(text) for rule in load_table_lookup().may):
        months.append(_month_words()[4])
    return frozenset((*words, *(date[0] for date in dates), *months))


@lru_cache(maxsize=50_000)
def find_covered_months(text: str) -> frozenset[str]:
    """Find the months that a header covers: May in "April 1–June 30" and in "2. April, May, June".

    Args:
        text: Header.

    Returns:
        Months as stems, as `find_words` returns them.
    """
    month_ranges = (
        [MONTHS.index(match[end][:3].lower()) for end in ("first", "last")] for match in _MONTH_RANGE.finditer(text)
    )
    listed_names = re.findall(_MONTH_NAME, text) if _MONTH_LIST.fullmatch(text) else ()
    numbers = [MONTHS.index(name[:3].lower()) for name in listed_names]
    for first, last in month_ranges:
        numbers += range(first, last + 1 if first <= last else last + len(MONTHS) + 1)
    return frozenset(_month_words()[number % len(MONTHS)] for number in numbers)


def remove_negated(text: str) -> str:
    """Remove each negation from a text with the rest of its clause.

    Args:
        text: Question, title or sentence.

    Returns:
        The remaining text.
    """
    return _DENIED.sub(" ", text)


def find_negated_words(text: str) -> frozenset[str]:
    """Find the words of negated conditions: "covered" in "if you aren't covered".

    Args:
        text: Question or title.

    Returns:
        Words after a negation that are nowhere else in the text.
    """
    negated_text = " ".join(match[1] for match in _DENIED_OF.finditer(text))
    return find_words(negated_text) - find_words(_DENIED_OF.sub(" ", text)) - _noise_words()


@lru_cache(maxsize=50_000)
def find_form_numbers(text: str) -> frozenset[int]:
    """Extract the form numbers in a text: 7041 from "Form 7041".

    Args:
        text: Header or title.

    Returns:
        The numbers; a form with a suffix, such as W-4, has none.
    """
    return frozenset(int(number) for number in _FORM.findall(text))


@cache
def _month_words() -> tuple[str, ...]:
    """Return the stems of the names of months, in order."""
    return tuple(canonical(stem(name.lower())) for name in _MONTH_NAMES)


@lru_cache(maxsize=50_000)
def find_facets(text: str) -> dict[str, frozenset[str]]:
    """Find the attribute values in a text, such as filing statuses.

    Args:
        text: Question or header.

    Returns:
        Values by attribute, e.g. {`filing_status`: {`single`}}.
    """
    facets: dict[str, set[str]] = {}
    lower_text = text.lower()
    for rule in load_table_lookup().facets:
        if rule.may_match(lower_text) and rule.pattern.search(text):
            facets.setdefault(rule.facet, set()).add(rule.id)
    return {facet: frozenset(values) for facet, values in facets.items()}


def is_for_other_status(row_text: str, question: str) -> bool:
    """Return whether a row names filing statuses, but none that the question names.

    Args:
        row_text: Text of a table row.
        question: Words of the user.
    """
    question_statuses, row_statuses = (
        find_facets(remove_negated(text)).get(STATUS, frozenset()) for text in (question, row_text)
    )
    return bool(question_statuses and row_statuses) and row_statuses.isdisjoint(question_statuses)


@lru_cache(maxsize=20_000)
def find_states(text: str) -> frozenset[str]:
    """Find the states whose full names are in a text.

    Args:
        text: Question or header.

    Returns:
        Ids of the states in the rules `router.places`.
    """
    lower_text = text.lower()
    rules = (rule for rule in load_router().places if rule.may_match(lower_text))
    return frozenset(rule.id for rule in rules if rule.pattern.search(text))


@cache
def _noise_words() -> frozenset[str]:
    """Return the words that select nothing in a table, and words for numbers, which are read as numbers."""
    rules = load_table_lookup()
    return frozenset(canonical(stem(word)) for word in (*rules.noise, *rules.number_words))


def read_question(question: str) -> Question:
    """Parse a question about a table.

    Args:
        question: Words of the user.

    Returns:
        The parsed question.
    """
    text = spell_ordinals(re.sub(r"\$\s+", "$", question))
    facets = find_facets(text)
    for rule in load_table_lookup().facets:
        text = rule.pattern.sub(" ; ", text)
    words = find_words(write_digits(text)) - _noise_words()
    words |= _find_quarters(words)
    for label in (*load_table_lookup().labels, *load_table_lookup().days):
        text = label.pattern.sub(" ", text)
    numbers: list[Number] = []
    text = _extract_household_sizes(text, numbers)
    text = _extract_counts(text, numbers)
    years = []
    digits = write_digits(text)
    for match, number in find_numbers(digits):
        written = text[match.start() : match.end()].strip()
        is_year = len(match["whole"]) == 4 and written.isdigit()
        if is_year and 1990 <= number.value <= 2060:
            years.append(int(number.value))
        else:
            direction = _find_direction(digits[: match.start()])
            is_word = not any(map(str.isdigit, written))
            nouns = _find_nouns(digits, *match.span())
            numbers.append(replace(number, nouns=nouns, direction=direction, is_word=is_word))
    numbers += _number_months(words)
    if years:  # "tax year 2031" asks for the year, not for the word
        words -= frozenset({stem("year")})
    lay_words = find_words(find_lay_terms(question))
    if asks_for_date(question):
        lay_words |= find_words("due date")
    return Question(
        words,
        lay_words - words,
        tuple(numbers),
        facets,
        tuple(years),
        wants_percentage=_wants_percentage(question),
        states=find_states(question),
        negated_words=find_negated_words(question) & words,
    )


def _wants_percentage(question: str) -> bool:
    return any(rule.pattern.search(question) for rule in load_table_lookup().shares if not rule.is_printed)


def _number_months(words: frozenset[str]) -> list[Number]:
    """Return the number of each month that a question names, as some headers number the months."""
    nouns = ((canonical(stem("month")), 0.0),)
    return [
        Number(float(number), nouns=nouns, is_word=True, is_month=True)
        for number, name in enumerate(_month_words(), start=1)
        if name in words
    ]


def _find_quarters(words: frozenset[str]) -> frozenset[str]:
    """Return "second" for May and so on, for each month of a question about quarters."""
    if stem("quarter") not in words:
        return frozenset()
    months = (number for number, month in enumerate(_month_words()) if month in words)
    quarters = {number // (len(MONTHS) // QUARTERS) + 1 for number in months}
    return frozenset[str]().union(*map(find_ordinal_words, quarters))


def find_ordinal_words(number: int) -> frozenset[str]:
    """Return the stems of an ordinal, such as "third" for 3.

    Args:
        number: Number from 1.
    """
    names = (name for name, value in load_table_lookup().ordinals.items() if value == number)
    return frozenset(canonical(stem(name)) for name in names)


def asks_for_date(question: str) -> bool:
    """Return whether a question asks for a date.

    Args:
        question: Words of the user.
    """
    return load_table_lookup().dates.matches(question)


def is_date(text: str) -> bool:
    """Return whether the text of a cell begins with a month and a day.

    Args:
        text: Text of a cell.
    """
    return _DAY.match(text) is not None


def _find_direction(before: str) -> int:
    """Return 1 where the words before a number ask for what is over it, such as "more than", -1 for under, else 0."""
    matches = (rule for rule in load_table_lookup().comparatives if rule.pattern.search(before))
    return next((int(rule.side) for rule in matches), 0)


def _extract_household_sizes(text: str, numbers: list[Number]) -> str:
    """Add the size of a household in words to the numbers: 3 for "a mother plus two"; return the text without it."""
    for rule in load_table_lookup().sums:
        for match in rule.pattern.finditer(text):
            more = _read_count(match["more"])
            adults = _count_adults(match, rule)
            numbers.append(Number(adults + more, nouns=((canonical(stem(rule.noun)), 0.0),)))
        text = rule.pattern.sub(" , ", text)
    return text


def _count_adults(match: re.Match[str], rule: Household) -> int:
    """Return how many adults to add to the persons that are counted: 1 for "a mother plus two", 0 for "three of us"."""
    if not rule.two:
        return 0
    return 2 if re.search(rule.two, match["first"]) else 1


def _extract_counts(text: str, numbers: list[Number]) -> str:
    """Add counts in words to the numbers, such as 1 for "an only child"; return the text without them."""
    for rule in load_table_lookup().count_words:
        for match in rule.pattern.finditer(text):
            numbers.append(Number(rule.number, nouns=((canonical(stem(match["noun"].lower())), 0.0),)))
        text = rule.pattern.sub(" , ", text)
    return text


def _read_count(word: str) -> float:
    number_words = load_table_lookup().number_words
    return float(number_words[word.lower()]) if word.lower() in number_words else float(word)


def _find_nouns(text: str, start: int, end: int) -> tuple[tuple[str, float], ...]:
    """Return the content words around a number, inside its clause, with their distances.

    A word after a number has half a word more distance: in "higher 90k lower 25k", "higher" is nearest to 90k.
    """
    window = int(load_table_lookup().limits.noun_window)
    before = _list_content_words(_CLAUSE_END.split(text[:start])[-1])[::-1][:window]
    after = _list_content_words(_CLAUSE_END.split(text[end:])[0])[:window]
    nouns = [(word, float(distance)) for distance, word in enumerate(before)]
    return tuple(nouns + [(word, distance + 0.5) for distance, word in enumerate(after)])


def _list_content_words(text: str) -> list[str]:
    words: Iterable[str] = (word for word in _WORD.findall(text))
    return [content_word for word in words if len(word) > 1 or word == "%" for content_word in find_words(word)]
