"""Router: find the forms, years, revisions, boxes, states and more that a question names, by its words alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypedDict, TypeVar

from taxkg_assets.retrieval.encoding.lexical import find_terms, stem
from taxkg_assets.retrieval.query.filers import find_filers
from taxkg_assets.retrieval.query.route_explanation import RouteExplanation
from taxkg_assets.rules.families import RuleList
from taxkg_assets.rules.forms import find_named_forms, split_forms
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.models.lay_terms import load_lay_terms
from taxkg_assets.rules.models.levels import load_levels
from taxkg_assets.rules.models.router import load_router
from taxkg_assets.rules.months import MONTHS

QUESTION = "question_answering"
_AnyRule = TypeVar("_AnyRule", bound=Rule)
_LEAST_BALANCE = 0.3
"""Weight of the words for filers over those for recipients, or the reverse, from which they say who asks."""
_KEY = re.compile(r"(\d{1,2})([a-z]?)")
_JOINED = re.compile(r"^(\d{4})([a-z])")
"""A form's number and suffix written as one word, such as "1099g"."""
_ANCHOR_KEY = re.compile(r"(?P<kind>box|line|code)(?P<plural>e?s)?_(?P<value>.+)")


@dataclass(frozen=True, slots=True)
class Route:
    """What a question asks for; a field is empty where the question says nothing about it.

    Attributes:
        forms: Forms of the library that the question names or implies.
        years: Years that it names.
        revisions: Revisions that it names, as `2024-12`.
        keys: Keys of the boxes, lines, codes and sections that it names, e.g. `box_1a`.
        perspective: Requested audience of the instructions: `filer` or `recipient`.
        certainty: Certainty of the perspective, 0 to 1.
        wants_draft: Whether it asks for a draft.
        places: States and cities that it names, by rule id.
        unknown_forms: Forms that it asks about and the library lacks.
        mentioned_forms: Other forms that it only mentions and the library lacks.
        wants_amount: Whether it asks for an amount.
        wants_city: Whether it asks for a city's own law.
        filers: Kinds of filers besides individuals that it may be about.
        intent: Kind of question, by rule id.
        corrections: Corrected typing errors, each as `misspelled: corrected`.
    """

    forms: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    revisions: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    perspective: str = ""
    certainty: float = 0.0
    wants_draft: bool = False
    places: tuple[str, ...] = ()
    unknown_forms: tuple[str, ...] = ()
    mentioned_forms: tuple[str, ...] = ()
    wants_amount: bool = False
    wants_city: bool = False
    filers: tuple[str, ...] = ()
    intent: str = QUESTION
    corrections: tuple[str, ...] = ()

    @property
    def codes(self) -> list[str]:
        """Return the requested codes of boxes, such as `code_DD`."""
        return [key for key in self.keys if key.startswith("code_")]

    def describe(self) -> RouteExplanation:
        """Return the explanation of the route for display, without the default intent."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return RouteExplanation(**values | {"intent": "" if self.intent == QUESTION else self.intent})


@dataclass(frozen=True, slots=True)
class Catalog:
    """The forms of a corpus.

    Attributes:
        names: Names of the forms, sorted.
        document_names: Forms and titles of all documents, one per line, in lower case.
        title_words: Words of the title of each form.
        keys: Keys of the boxes, lines and codes of each form.
    """

    names: tuple[str, ...]
    document_names: str = ""
    title_words: dict[str, frozenset[str]] = field(default_factory=dict)
    keys: Mapping[str, frozenset[str]] = field(default_factory=dict)


class NamedDocument(TypedDict):
    """Columns of `documents` that name a document."""

    form: str
    title: str
    doc_type: str


def build_catalog(documents: Iterable[NamedDocument], *, keys: Mapping[str, frozenset[str]] | None = None) -> Catalog:
    """Collect the forms of a corpus.

    Args:
        documents: Documents of the corpus.
        keys: Keys of the headings and listed codes of each form.

    Returns:
        The catalog.
    """
    title_words_by_form: dict[str, set[str]] = {}
    document_names: list[str] = []
    for row in documents:
        document_names.append(f"{row['form']} {row['title']}".casefold())
        for form in split_forms(row["form"]):
            title_words = title_words_by_form.setdefault(form, set())
            if row["doc_type"] == "form":
                title_words |= {term for term in find_terms(row["title"]) if term.isalpha()}
    return Catalog(
        names=tuple(sorted(title_words_by_form)),
        document_names="\n".join(document_names),
        title_words={form: frozenset(terms) for form, terms in title_words_by_form.items()},
        keys={
            form: frozenset().union(
                *(form_keys for joined_forms, form_keys in (keys or {}).items() if form in split_forms(joined_forms))
            )
            for form in sorted(title_words_by_form)
        },
    )


def find_level(intent: str) -> str:
    """Return the size of passages that suits an intent, such as whole documents for "which documents …".

    Args:
        intent: Intent of a route.

    Returns:
        `document`, `page`, `section` or `table`; `auto` for most intents.
    """
    return next((rule.level for rule in load_levels().intents if rule.id == intent), "auto")


def wants_summary(intent: str) -> bool:
    """Return whether an intent asks what a document is about.

    Args:
        intent: Intent of a route.
    """
    return any(rule.id == intent and rule.is_summary for rule in load_levels().intents)


def find_topic(question: str, intent: str) -> str:
    """Remove from a question the words that only say what kind of answer is requested.

    The topic of "which documents discuss liens" is "liens".

    Args:
        question: Words of the user.
        intent: Intent of the question.

    Returns:
        The topic; the whole question if no search term would remain.
    """
    for rule in load_levels().intents:
        if rule.id == intent and rule.is_frame:
            topic = rule.pattern.sub(" ", question)
            return topic if find_terms(topic) else question
    return question


def find_route(question: str, *, catalog: Catalog) -> Route:
    """Find what a question asks for: forms, years, boxes, audience and more.

    Args:
        question: Words of the user.
        catalog: Forms of the corpus.

    Returns:
        The route.

    Source:
        rules/router.yaml, and intents in rules/levels.yaml.
    """
    rules = load_router()
    years, revisions = _find_years(question)
    keys = tuple(dict.fromkeys(_find_keys(question)))
    requested_absent, mentioned_absent = _find_absent_forms(question, catalog)
    forms = find_named_forms(catalog.names, question) or _find_nicknames(question, catalog)
    # If the question names a form, its boxes are of that form, even of an absent one.
    if not forms and not requested_absent:
        forms = _find_forms_of_keys(keys, catalog)
    perspective, certainty = _find_perspective(question)
    intents = _find_matching(load_levels().intents, question)
    return Route(
        forms=forms,
        years=years,
        revisions=revisions,
        keys=keys,
        perspective=perspective,
        certainty=certainty,
        wants_draft=any(_find_matching(rules.drafts, question)),
        places=tuple(rule.id for rule in _find_matching(rules.places, question)),
        unknown_forms=requested_absent,
        mentioned_forms=mentioned_absent,
        wants_amount=any(_find_matching(rules.amounts, question)),
        intent=next((rule.id for rule in intents), QUESTION),
        wants_city=any(_find_matching(rules.cities, question)),
        filers=find_filers(question),
    )


def _find_matching(rules: RuleList[_AnyRule], question: str) -> Iterator[_AnyRule]:
    """Find the rules of a list that match a question, in their order."""
    return (rule for rule in rules.find_usable(question) if rule.pattern.search(question))


def _find_absent_forms(question: str, catalog: Catalog) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find the forms of a question that the library lacks: those it asks about, then those it only mentions."""
    is_mention_by_form = {
        _JOINED.sub(r"\1-\2", match["form"].casefold()): rule.is_mention
        for rule in load_router().forms.find_usable(question)
        for match in rule.pattern.finditer(question)
    }
    absent_forms = sorted(form for form in is_mention_by_form if not _is_in_library(form, catalog))
    requested = tuple(form for form in absent_forms if not is_mention_by_form[form])
    mentioned = tuple(form for form in absent_forms if is_mention_by_form[form])
    return requested, mentioned


def _find_perspective(question: str) -> tuple[str, float]:
    """Find who asks, `filer` or `recipient` of an information return, and how sure that is, 0 to 1; empty for either.

    Words such as `my employees` count for the filer, `I received` for the recipient.
    """
    filer_balance = sum(rule.weight for rule in _find_matching(load_router().perspectives, question))
    if abs(filer_balance) <= _LEAST_BALANCE:
        return "", 0.0
    return "filer" if filer_balance > 0 else "recipient", min(1.0, abs(filer_balance))


def _is_in_library(form: str, catalog: Catalog) -> bool:
    """Decide whether the library has a document with the name of a form in its own name."""
    name = re.escape(form)  # first in the pattern: a search for literal characters takes a hundredth of the time
    return re.search(rf"{name}(?<![\w-]{name})(?![\w-])", catalog.document_names) is not None


def _find_forms_of_keys(keys: Sequence[str], catalog: Catalog) -> tuple[str, ...]:
    """Return the form that has all requested boxes and lines, if only one form has them."""
    box_and_line_keys = {key for key in keys if key.startswith(("box_", "line_"))}
    matching_forms = [
        form
        for form, form_keys in catalog.keys.items()
        if box_and_line_keys and all(_is_key_of(key, form_keys) for key in box_and_line_keys)
    ]
    return tuple(matching_forms) if len(matching_forms) == 1 else ()


def find_missing_keys(route: Route, catalog: Catalog) -> tuple[str, ...]:
    """Find the requested boxes, codes and lines that the form of the question does not have.

    As instructions have headings for some lines only, a line is missing only if its number is higher than all others. A
    form without headings for boxes, codes or lines has no missing keys.

    Args:
        route: Route of the question.
        catalog: Forms of the corpus.

    Returns:
        Missing keys.
    """
    form_keys = frozenset().union(*(catalog.keys.get(form, frozenset()) for form in route.forms))
    kinds = {key.split("_")[0].removesuffix("es") for key in form_keys}
    requested_keys = [key for key in route.keys if key.split("_")[0] in kinds & {"box", "code"}]
    missing = [key for key in requested_keys if not _is_key_of(key, form_keys)]
    numbers = [int(digits) for key in form_keys if key.startswith("line") for digits in re.findall(r"\d+", key)]
    line_numbers = [(key, re.search(r"\d+", key)) for key in route.keys if key.startswith("line_")]
    too_high = [key for key, number in line_numbers if numbers and number and int(number[0]) > max(numbers)]
    return tuple(missing + too_high)


def _is_key_of(key: str, form_keys: frozenset[str]) -> bool:
    return key in form_keys or any(covers_key(form_key, (key,)) for form_key in form_keys if "es_" in form_key)


def _find_years(question: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    years: list[int] = []
    revisions: list[str] = []
    for rule in load_router().years.find_usable(question):
        for match in rule.pattern.finditer(question):
            groups = {name.rstrip("2"): value for name, value in match.groupdict().items() if value}
            years.append(int(groups["year"]))
            if "month" in groups:
                revisions.append(f"{groups['year']}-{int(groups['month']):02d}")
            elif "name" in groups:
                revisions.append(f"{groups['year']}-{MONTHS.index(groups['name'].lower()[:3]) + 1:02d}")
    return tuple(sorted(set(years))), tuple(dict.fromkeys(revisions))


def _find_keys(question: str) -> Iterable[str]:
    matched_spans: list[tuple[int, int]] = []
    for rule in load_router().keys.find_usable(question):
        kind = rule.kind
        for match in rule.pattern.finditer(question):
            if any(start <= match.start("list") < end for start, end in matched_spans):
                continue
            matched_spans.append(match.span())
            key_list = match["list"]
            if kind in ("code", "sec"):
                yield f"{kind}_{key_list}"
            else:
                yield from (f"{kind}_{key}" for key in _expand_list(key_list))


def _expand_list(listed: str) -> list[str]:
    """Return the keys in a list: 17, 18 and 19 for "17 to 19"; 6a, 6b and 7 for "6a, 6b and 7"."""
    keys: list[str] = []
    parts = re.findall(r"\d{1,2}[a-z]?|-|–|\bto\b|\bthrough\b", listed.lower())
    for position, part in enumerate(parts):
        if not part[0].isdigit():
            continue
        if position >= 2 and parts[position - 1] in ("-", "–", "to", "through"):
            keys += _list_keys_between(parts[position - 2], part)
        keys.append(part)
    return keys


def _list_keys_between(first: str, last: str) -> list[str]:
    start, end = _KEY.fullmatch(first), _KEY.fullmatch(last)
    if not start or not end:
        return []
    if start[2] and end[2] and start[1] == end[1]:
        return [f"{start[1]}{chr(code)}" for code in range(ord(start[2]) + 1, ord(end[2]))]
    return [str(number) for number in range(int(start[1]) + 1, int(end[1]))]


@dataclass(frozen=True, slots=True)
class EverydayWords:
    """Everyday words in a question that a rule of `lay_terms` matches, with the document terms for them."""

    words: str
    terms: str


@lru_cache(maxsize=64)
def find_everyday_words(question: str) -> tuple[EverydayWords, ...]:
    """Find the everyday words in a question for which tax documents use other terms; cached, as several steps ask.

    Args:
        question: Words of the user.

    Returns:
        Words with these terms, in the order of rules/lay_terms.yaml.
    """
    usable = load_lay_terms().rules.find_usable(question)
    matches = ((rule, rule.pattern.search(question)) for rule in usable)
    return tuple(EverydayWords(match[0], rule.terms) for rule, match in matches if match)


def find_lay_terms(question: str) -> str:
    """Return the document terms for the everyday words in a question, as one text.

    Args:
        question: Words of the user.

    Returns:
        Terms separated by blanks, in the order of rules/lay_terms.yaml; empty for none.
    """
    return " ".join(word.terms for word in find_everyday_words(question))


def map_lay_terms(question: str) -> dict[str, frozenset[str]]:
    """Map each everyday term in a question to the terms that documents use instead.

    Args:
        question: Words of the user.

    Returns:
        Document terms by term of the question; empty where no rule matches.
    """
    terms_by_lay_term: dict[str, frozenset[str]] = {}
    for word in find_everyday_words(question):
        terms = frozenset(find_terms(word.terms))
        terms_by_lay_term |= {term: terms_by_lay_term.get(term, frozenset()) | terms for term in find_terms(word.words)}
    return terms_by_lay_term


def _find_nicknames(question: str, catalog: Catalog) -> tuple[str, ...]:
    """Return the forms that a question names by a word of their title, as in "pension slip"."""
    for rule in load_router().nicknames.find_usable(question):
        form_pattern = re.compile(rule.forms)
        for match in rule.pattern.finditer(question):
            word = stem(match["word"].lower())
            forms = [form for form, words in catalog.title_words.items() if form_pattern.match(form) and word in words]
            if 0 < len(forms) <= 2:
                return tuple(forms)
    return ()


def name_code(listed_text: str) -> str:
    """Extract the code from the beginning of a listed line: DD from "Code DD—".

    Args:
        listed_text: Text that matched `listed_codes`.

    Returns:
        The code.
    """
    return listed_text.removeprefix("Code").strip(" —–-")


def find_listed_codes(text: str) -> list[str]:
    """Find the codes that a text lists, one at the beginning of a line.

    Args:
        text: Text of a passage.

    Returns:
        Codes in order.
    """
    pattern = load_router().listed_codes.code_and_dash.pattern
    return [name_code(match.group()) for match in pattern.finditer(text)]


def find_kind(anchor_key: str | None) -> str:
    """Return the kind of item that an anchor's key is for: box, line or code.

    Args:
        anchor_key: Key; None for none.

    Returns:
        `box`, `line` or `code`; empty for other keys and for None.
    """
    match = _ANCHOR_KEY.fullmatch(anchor_key or "")
    return match["kind"] if match else ""


def covers_key(anchor_key: str | None, keys: Sequence[str]) -> bool:
    """Return whether an anchor's key is one of some keys, or is a range such as `boxes_14-16` that includes one.

    Args:
        anchor_key: Key of the anchor; None for none.
        keys: Requested keys.
    """
    if not anchor_key or not keys:
        return False
    if anchor_key in keys:
        return True
    range_match = _ANCHOR_KEY.fullmatch(anchor_key)
    if range_match is None or not range_match["plural"]:
        return False
    keys_in_range = {f"{range_match['kind']}_{key}" for key in _expand_list(range_match["value"].replace("_", ","))}
    return not keys_in_range.isdisjoint(keys)
