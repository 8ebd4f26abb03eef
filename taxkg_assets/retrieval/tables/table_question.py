"""A question about a table: its words, its numbers with what they count, its periods, statuses and years."""

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
    """A parsed question about a table: the words, numbers and values that select table, row and column."""

    words: frozenset[str]
    lay_words: frozenset[str]
    numbers: tuple[Number, ...]
    facets: dict[str, frozenset[str]]
    years: tuple[int, ...]
    forms: frozenset[str] = frozenset()
    names_place: bool = False
    wants_share: bool = False
    states: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Return all parts of the question as a key of a cache."""
        facets = frozenset(self.facets.items())
        scope = (self.forms, self.names_place, self.wants_share, self.states, self.denied)
        return self.words, self.lay_words, self.numbers, facets, self.years, scope


@cache
def _families() -> dict[str, str]:
    return {stem(word): stem(family[0]) for family in load_table_lookup().families for word in family}


def canonical(word: str) -> str:
    """Return the representative of a group of synonymous stems.

    Args:
        word: Stem of a word.
    """
    return _families().get(word, word)


@lru_cache(maxsize=50_000)
def find_words(text: str) -> frozenset[str]:
    """Extract the content words of a text as stems for table matching.

    Args:
        text: Question or header.

    Returns:
        Stems of their families; plain numbers are left out, "w-4" and "sec_1202" are included.
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
        Months as words of questions.
    """
    ends = (
        [MONTHS.index(match[end][:3].lower()) for end in ("first", "last")] for match in _MONTH_RANGE.finditer(text)
    )
    listed = re.findall(_MONTH_NAME, text) if _MONTH_LIST.fullmatch(text) else ()
    numbers = [MONTHS.index(name[:3].lower()) for name in listed]
    for first, last in ends:
        numbers += range(first, last + 1 if first <= last else last + len(MONTHS) + 1)
    return frozenset(_month_words()[number % len(MONTHS)] for number in numbers)


def remove_negated(text: str) -> str:
    """Remove negated parts from a text: the rest of each clause after a negation.

    Args:
        text: Question, title or sentence.

    Returns:
        The rest of the text.
    """
    return _DENIED.sub(" ", text)


def find_negated_words(text: str) -> frozenset[str]:
    """Find the words that a text only mentions in a negated condition: "if you aren't covered".

    Args:
        text: Question or title.

    Returns:
        Words after negations, as far as the text does not print them elsewhere.
    """
    denied = " ".join(match[1] for match in _DENIED_OF.finditer(text))
    return find_words(denied) - find_words(_DENIED_OF.sub(" ", text)) - _noise_words()


@lru_cache(maxsize=50_000)
def find_form_numbers(text: str) -> frozenset[int]:
    """Extract the form numbers in a text: 7041 from "Form 7041".

    Args:
        text: Header or title.

    Returns:
        The numbers; none of a form with a suffix.
    """
    return frozenset(int(number) for number in _FORM.findall(text))


@cache
def _month_words() -> tuple[str, ...]:
    """Return the months as words of questions: a header prints the first day of one, a person says its name."""
    return tuple(canonical(stem(name.lower())) for name in _MONTH_NAMES)


@lru_cache(maxsize=50_000)
def find_facets(text: str) -> dict[str, frozenset[str]]:
    """Find the attribute values in a text, such as filing statuses.

    Args:
        text: Question or header.

    Returns:
        Values by facet, such as filing statuses.
    """
    facets: dict[str, set[str]] = {}
    small = text.lower()
    for rule in load_table_lookup().facets:
        if rule.may_match(small) and rule.pattern.search(text):
            facets.setdefault(rule.facet, set()).add(rule.id)
    return {facet: frozenset(values) for facet, values in facets.items()}


def is_for_other_status(row: str, question: str) -> bool:
    """Return whether a row names filing statuses, and none of those that a question names.

    Args:
        row: Row of a table.
        question: Words of the user.
    """
    wanted, named = (find_facets(remove_negated(text)).get(STATUS, frozenset()) for text in (question, row))
    return bool(wanted and named) and named.isdisjoint(wanted)


@lru_cache(maxsize=20_000)
def find_states(text: str) -> frozenset[str]:
    """Find the states whose full names are in a text.

    Args:
        text: Question or header.

    Returns:
        Ids of the rules of `router.places`.
    """
    small = text.lower()
    rules = (rule for rule in load_router().places if rule.may_match(small))
    return frozenset(rule.id for rule in rules if rule.pattern.search(text))


@cache
def _noise_words() -> frozenset[str]:
    """Return words that name nothing in a table, and number words, which are read as numbers."""
    family = load_table_lookup()
    return frozenset(canonical(stem(word)) for word in (*family.noise, *family.number_words))


def read_question(question: str) -> Question:
    """Parse a question about a table.

    Args:
        question: Words of the user.

    Returns:
        Words, numbers, facets and years.
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
    text = _take_sums(text, numbers)
    text = _take_counts(text, numbers)
    years = []
    digits = write_digits(text)
    for match, number in find_numbers(digits):
        is_year = len(match["whole"]) == 4 and text[match.start() : match.end()].strip().isdigit()
        if is_year and 1990 <= number.value <= 2060:
            years.append(int(number.value))
        else:
            beyond = _find_side(digits[: match.start()])
            is_word = not any(map(str.isdigit, text[match.start() : match.end()]))
            nouns = _nouns(digits, *match.span())
            numbers.append(replace(number, nouns=nouns, beyond=beyond, is_word=is_word))
    month = canonical(stem("month"))
    for place, name in enumerate(_month_words(), start=1):
        if name in words:
            numbers.append(Number(float(place), nouns=((month, 0.0),), is_word=True, is_month=True))
    if years:
        # "tax year 2031" is covered by the number.
        words -= frozenset({stem("year")})
    lay = find_words(find_lay_terms(question))
    if asks_for_date(question):
        lay |= find_words("due date")
    wants_share = any(rule.pattern.search(question) for rule in load_table_lookup().shares if not rule.is_printed)
    return Question(
        words,
        lay - words,
        tuple(numbers),
        facets,
        tuple(years),
        wants_share=wants_share,
        states=find_states(question),
        denied=find_negated_words(question) & words,
    )


def _find_quarters(words: frozenset[str]) -> frozenset[str]:
    """Return the number of the quarter of each month of a question that is about quarters: second for May."""
    if stem("quarter") not in words:
        return frozenset()
    months = (number for number, month in enumerate(_month_words()) if month in words)
    quarters = {number // (len(MONTHS) // QUARTERS) + 1 for number in months}
    return frozenset[str]().union(*map(find_ordinal_words, quarters))


def find_ordinal_words(number: int) -> frozenset[str]:
    """Return an ordinal as it is searched, such as "third".

    Args:
        number: Number from 1.
    """
    names = (name for name, value in load_table_lookup().ordinals.items() if value == number)
    return frozenset(canonical(stem(name)) for name in names)


def asks_for_date(question: str) -> bool:
    """Return whether a question asks for a day.

    Args:
        question: Words of the user.
    """
    return load_table_lookup().dates.matches(question)


def is_date(text: str) -> bool:
    """Return whether a cell begins with a day of a month.

    Args:
        text: Text of a cell.
    """
    return _DAY.match(text) is not None


def _find_side(before: str) -> int:
    """Return 1 where the words before a number mean what is over it, -1 for what is under it, else 0."""
    found = (rule for rule in load_table_lookup().comparatives if rule.pattern.search(before))
    return next((int(rule.side) for rule in found), 0)


def _take_sums(text: str, numbers: list[Number]) -> str:
    """Count "a mother plus two" as a household of three and its two children."""
    for rule in load_table_lookup().sums:
        for match in rule.pattern.finditer(text):
            more = _count(match["more"])
            adults = _count_adults(match, rule)
            numbers.append(Number(adults + more, nouns=((canonical(stem(rule.noun)), 0.0),)))
        text = rule.pattern.sub(" , ", text)
    return text


def _count_adults(match: re.Match[str], rule: Household) -> int:
    """Return how many adults a sum names besides those that it counts: none in "three of us"."""
    if not rule.two:
        return 0
    return 2 if re.search(rule.two, match["first"]) else 1


def _take_counts(text: str, numbers: list[Number]) -> str:
    for rule in load_table_lookup().count_words:
        for match in rule.pattern.finditer(text):
            numbers.append(Number(rule.number, nouns=((canonical(stem(match["noun"].lower())), 0.0),)))
        text = rule.pattern.sub(" , ", text)
    return text


def _count(word: str) -> float:
    known = load_table_lookup().number_words
    return float(known[word.lower()]) if word.lower() in known else float(word)


def _nouns(text: str, start: int, end: int) -> tuple[tuple[str, float], ...]:
    """Return the content words just before and after a number, inside its clause, with their distances.

    Words before a number name it rather than those after it where both are as near: "higher 90k lower 25k".
    """
    window = int(load_table_lookup().limits.noun_window)
    before = _content(_CLAUSE_END.split(text[:start])[-1])[::-1][:window]
    after = _content(_CLAUSE_END.split(text[end:])[0])[:window]
    near = [(word, float(i)) for i, word in enumerate(before)]
    return tuple(near + [(word, i + 0.5) for i, word in enumerate(after)])


def _content(text: str) -> list[str]:
    words: Iterable[str] = (word for word in _WORD.findall(text))
    return [found for word in words if len(word) > 1 or word == "%" for found in find_words(word)]
