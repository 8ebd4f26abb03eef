"""Router: form, year, revision, copy, box and place that a question names. No passage is read here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from taxkg_assets.retrieval.encoding.lexical import find_terms, stem
from taxkg_assets.retrieval.query.filers import find_filers
from taxkg_assets.retrieval.query.route_explanation import RouteExplanation
from taxkg_assets.rules.forms import find_named_forms, split_forms
from taxkg_assets.rules.models.lay_terms import load_lay_terms
from taxkg_assets.rules.models.levels import load_levels
from taxkg_assets.rules.models.router import load_router
from taxkg_assets.rules.months import MONTHS

QUESTION = "question_answering"
_KEY = re.compile(r"(\d{1,2})([a-z]?)")
_JOINED = re.compile(r"^(\d{4})([a-z])")
"""A form's number and suffix typed as one word."""
_ANCHOR_KEY = re.compile(r"(?P<kind>box|line|code)(?P<plural>e?s)?_(?P<value>.+)")


@dataclass(frozen=True, slots=True)
class Route:
    """Filters and preferences inferred from a question; a field is empty if the question does not mention it."""

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
    """The forms of a corpus: their names, titles as printed, words of titles, keys of boxes."""

    names: tuple[str, ...]
    printed: str = ""
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
        keys: Keys of each form's headings, so that a box that only one form has can identify the form.

    Returns:
        The catalog.
    """
    words: dict[str, set[str]] = {}
    printed: list[str] = []
    for row in documents:
        printed.append(f"{row['form']} {row['title']}".casefold())
        for form in split_forms(row["form"]):
            title_words = words.setdefault(form, set())
            if row["doc_type"] == "form":
                title_words |= {term for term in find_terms(row["title"]) if term.isalpha()}
    return Catalog(
        names=tuple(sorted(words)),
        printed="\n".join(printed),
        title_words={form: frozenset(terms) for form, terms in words.items()},
        keys={
            form: frozenset().union(
                *(form_keys for several, form_keys in (keys or {}).items() if form in split_forms(several))
            )
            for form in sorted(words)
        },
    )


def find_level(intent: str) -> str:
    """Return the unit size that suits an intent, such as whole documents for "which documents …".

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
    """Remove from a question the words that only say what kind of answer is wanted.

    "liens" remains of "which documents discuss liens".

    Args:
        question: Words of the user.
        intent: Its intent.

    Returns:
        The topic; the whole question where nothing else remains.
    """
    for rule in load_levels().intents:
        if rule.id == intent and rule.is_frame:
            topic = rule.pattern.sub(" ", question)
            return topic if find_terms(topic) else question
    return question


def find_route(question: str, *, catalog: Catalog) -> Route:
    """Infer the form, year, revision, copy, box and place that a question asks about.

    Args:
        question: Words of the user.
        catalog: Forms of the corpus.

    Returns:
        The route.

    Source:
        rules/router.yaml, and intents in rules/levels.yaml.
    """
    years, revisions = _find_years(question)
    named = {
        _JOINED.sub(r"\1-\2", match["form"].casefold()): rule.is_mention
        for rule in load_router().forms.find_usable(question)
        for match in rule.pattern.finditer(question)
    }
    forms = find_named_forms(catalog.names, question)
    unknown = sorted(form for form in named if not _is_printed(form, catalog))
    balance = sum(
        rule.weight for rule in load_router().perspectives.find_usable(question) if rule.pattern.search(question)
    )
    keys = tuple(dict.fromkeys(_find_keys(question)))
    absent = tuple(form for form in unknown if not named[form])
    forms = forms or _find_nicknames(question, catalog)
    if not forms and not absent:  # box 5 is of the form that the question names, even if the library lacks it
        forms = _find_forms_of_keys(keys, catalog)
    return Route(
        forms=forms,
        years=years,
        revisions=revisions,
        keys=keys,
        perspective="filer" if balance > 0.3 else "recipient" if balance < -0.3 else "",
        certainty=min(1.0, abs(balance)) if abs(balance) > 0.3 else 0.0,
        wants_draft=any(rule.pattern.search(question) for rule in load_router().drafts.find_usable(question)),
        places=tuple(rule.id for rule in load_router().places.find_usable(question) if rule.pattern.search(question)),
        unknown_forms=absent,
        mentioned_forms=tuple(form for form in unknown if named[form]),
        wants_amount=any(rule.pattern.search(question) for rule in load_router().amounts.find_usable(question)),
        intent=next(
            (rule.id for rule in load_levels().intents.find_usable(question) if rule.pattern.search(question)),
            QUESTION,
        ),
        wants_city=any(rule.pattern.search(question) for rule in load_router().cities.find_usable(question)),
        filers=find_filers(question),
    )


def _is_printed(form: str, catalog: Catalog) -> bool:
    name = re.escape(form)  # first in the pattern: a search for literal characters takes a hundredth of the time
    return re.search(rf"{name}(?<![\w-]{name})(?![\w-])", catalog.printed) is not None


def _find_forms_of_keys(keys: Sequence[str], catalog: Catalog) -> tuple[str, ...]:
    """Return the form that alone has all requested boxes and lines; none where several have them."""
    wanted = {key for key in keys if key.startswith(("box_", "line_"))}
    holders = [
        form for form, form_keys in catalog.keys.items() if wanted and all(_is_key_of(key, form_keys) for key in wanted)
    ]
    return tuple(holders) if len(holders) == 1 else ()


def find_missing_keys(route: Route, catalog: Catalog) -> tuple[str, ...]:
    """Find requested boxes, codes and lines that the form does not have.

    Instructions have headings for some lines only, so a line counts as missing only beyond the last one. A form without
    keyed headings is never said to lack a key.

    Args:
        route: Route of the question.
        catalog: Forms of the corpus.

    Returns:
        Missing keys.
    """
    printed = frozenset().union(*(catalog.keys.get(form, frozenset()) for form in route.forms))
    kinds = {key.split("_")[0].removesuffix("es") for key in printed}
    wanted = [key for key in route.keys if key.split("_")[0] in kinds & {"box", "code"}]
    missing = [key for key in wanted if not _is_key_of(key, printed)]
    numbers = [int(digits) for key in printed if key.startswith("line") for digits in re.findall(r"\d+", key)]
    lines = [(key, re.search(r"\d+", key)) for key in route.keys if key.startswith("line_")]
    beyond = [key for key, number in lines if numbers and number and int(number[0]) > max(numbers)]
    return tuple(missing + beyond)


def _is_key_of(key: str, own: frozenset[str]) -> bool:
    return key in own or any(covers_key(other, (key,)) for other in own if "es_" in other)


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
    taken: list[tuple[int, int]] = []
    for rule in load_router().keys.find_usable(question):
        kind = rule.kind
        for match in rule.pattern.finditer(question):
            if any(start <= match.start("list") < end for start, end in taken):
                continue
            taken.append(match.span())
            listed = match["list"]
            if kind in ("code", "sec"):
                yield f"{kind}_{listed}"
            else:
                yield from (f"{kind}_{key}" for key in _expand_list(listed))


def _expand_list(listed: str) -> list[str]:
    """Return the single keys of a list: '17 to 19' is 17, 18, 19; '6a, 6b and 7' are three keys."""
    keys: list[str] = []
    parts = re.findall(r"\d{1,2}[a-z]?|-|–|\bto\b|\bthrough\b", listed.lower())
    for position, part in enumerate(parts):
        if not part[0].isdigit():
            continue
        if position >= 2 and parts[position - 1] in ("-", "–", "to", "through"):
            keys += _between(parts[position - 2], part)
        keys.append(part)
    return keys


def _between(first: str, last: str) -> list[str]:
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


def find_everyday_words(question: str) -> list[EverydayWords]:
    """Find the everyday words of a question, with the terms that tax documents use for them.

    Args:
        question: Words of the user.

    Returns:
        Words with terms, in the order of rules/lay_terms.yaml.
    """
    usable = load_lay_terms().rules.find_usable(question)
    matches = ((rule, rule.pattern.search(question)) for rule in usable)
    return [EverydayWords(match[0], rule.terms) for rule, match in matches if match]


def find_lay_terms(question: str) -> str:
    """Join the document terms for the everyday words in a question.

    Args:
        question: Words of the user.

    Returns:
        Terms separated by blanks, in the order of rules/lay_terms.yaml; empty for none.
    """
    return " ".join(word.terms for word in find_everyday_words(question))


def find_printed_terms(question: str) -> dict[str, frozenset[str]]:
    """Map each everyday term in a question to the terms that documents use instead.

    Args:
        question: Words of the user.

    Returns:
        Printed terms by term of the question; terms that no rule matches are left out.
    """
    printed: dict[str, frozenset[str]] = {}
    for word in find_everyday_words(question):
        terms = frozenset(find_terms(word.terms))
        printed |= {term: printed.get(term, frozenset()) | terms for term in find_terms(word.words)}
    return printed


def _find_nicknames(question: str, catalog: Catalog) -> tuple[str, ...]:
    """Return forms that a question names by a word of their title: 'pension slip'."""
    for rule in load_router().nicknames.find_usable(question):
        kind = re.compile(rule.forms)
        for match in rule.pattern.finditer(question):
            word = stem(match["word"].lower())
            forms = [form for form, words in catalog.title_words.items() if kind.match(form) and word in words]
            if 0 < len(forms) <= 2:
                return tuple(forms)
    return ()


def name_code(printed: str) -> str:
    """Extract the code from the beginning of a listed line: DD from "Code DD—".

    Args:
        printed: Text that matched `listed_codes`.

    Returns:
        The code.
    """
    return printed.removeprefix("Code").strip(" —–-")


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
    """Return which kind of item an anchor's key names: box, line or code.

    Args:
        anchor_key: Key; None for none.

    Returns:
        `box`, `line` or `code`; empty for all others.
    """
    match = _ANCHOR_KEY.fullmatch(anchor_key or "")
    return match["kind"] if match else ""


def covers_key(anchor_key: str | None, keys: Sequence[str]) -> bool:
    """Return whether an anchor's key, which may be a range such as boxes_14-16, covers one of the requested keys.

    Args:
        anchor_key: Key of the anchor; None for none.
        keys: Requested keys.
    """
    if not anchor_key or not keys:
        return False
    if anchor_key in keys:
        return True
    plural = _ANCHOR_KEY.fullmatch(anchor_key)
    if plural is None or not plural["plural"]:
        return False
    covered = {f"{plural['kind']}_{key}" for key in _expand_list(plural["value"].replace("_", ","))}
    return not covered.isdisjoint(keys)
