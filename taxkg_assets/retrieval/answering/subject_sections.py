"""Sections on the very thing that a question is about: may it be deducted, is it taxed, how is it reported.

Publications have a section whose heading is that thing. A question in other words finds examples and remarks on it in
other sections, which share more words with the question but do not state the rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from taxkg_assets.retrieval.answering.standard_sections import quote_section
from taxkg_assets.retrieval.answering.stated import Findings, find_plain_words, is_current, name_edition
from taxkg_assets.retrieval.answering.units import Unit
from taxkg_assets.retrieval.encoding.lexical import find_distinct_terms
from taxkg_assets.retrieval.index.passage_context import open_contexts
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.models.subject_sections import load_subject_sections


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about.

    Attributes:
        kind: Kind of the question: `deduct`, `tax`, `exclude` or `how`.
        name: Words for the thing.
        terms: Search terms of the thing, without generic ones.
    """

    kind: str
    name: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Section:
    """A section on a thing, with how well it fits, the best first, and its words."""

    order: tuple[int, int, int, int]
    row: int
    unit: Unit
    terms: frozenset[str]


def find_subject_sections(searcher: Searcher, question: str, ranking: Ranking, *, allowed: Collection[str]) -> Findings:
    """Find the sections whose heading is the thing that a question is about.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Its ranking; a question for a line or a box is for no such section.
        allowed: Documents that may be quoted.

    Returns:
        The beginning of each section; none where the question is for something else, or where no section on the thing
        says what such a question is for.
    """
    route, subject = ranking.route, read_subject(question)
    if subject is None or route.keys or route.unknown_forms:
        return Findings()
    rules = load_subject_sections()
    rankings = (ranking, searcher.rank(subject.name))  # a section on a thing need not say all of the question
    documents = {number: own for one in rankings for number, own in _find_documents(searcher, one, route, allowed)}
    found = {row: match for one in rankings for row, match in _find_rows(searcher, one, subject, documents=documents)}
    sections = list(_read_sections(searcher, question, subject, list(found.items()), documents=documents))
    numbers = {row: int(searcher.passages.document_number[row]) for row in found}
    main = next((number for number in documents if number in numbers.values()), None)
    chosen = _choose(sorted(sections, key=lambda own: own.order))
    # Sections of other documents, and one of many, are on the thing in other contexts.
    if main not in {numbers[own.row] for own in sections} or len(chosen) > rules.most:
        return Findings()
    units = [(own.row, own.unit) for own in chosen]
    paths = " ".join(searcher.passages.columns["heading_path"][row] for row, _ in units)
    frame = f"{rules.frame} {rules.generic} {paths}"
    return Findings(units, is_whole=True, frame=frame, most_other_words=0)


def read_subject(question: str) -> Subject | None:
    """Read the thing that a question is about.

    Args:
        question: Words of the user.

    Returns:
        The thing and the kind of the question; None where the question is for something else.
    """
    rules = load_subject_sections()
    for rule in rules.questions:
        if (match := rule.pattern.search(question)) is None:
            continue
        thing = match["object"]
        for tail in rules.tails:
            if found := tail.pattern.search(thing):
                thing = thing[: found.start()]
        terms = find_distinct_terms(thing) - find_distinct_terms(rules.generic)
        return Subject(rule.kind, thing, terms) if terms - find_distinct_terms(rules.frame) else None
    return None


def _find_documents(
    searcher: Searcher, ranking: Ranking, route: Route, allowed: Collection[str]
) -> Iterator[tuple[int, str]]:
    """Yield the documents of the first passages by number: those that hold, of the form in question if there is one."""
    rules, seen = load_subject_sections(), set[int]()
    for candidate in ranking.candidates[: rules.candidates]:
        number = int(searcher.passages.document_number[candidate.row])
        own = searcher.facts.documents[number]
        is_of_form = not route.forms or not {*route.forms}.isdisjoint(split_forms(own["document_form"]))
        is_new = number not in seen and len(seen) < rules.documents
        if (
            is_new
            and own["document_id"] in allowed
            and is_of_form
            and is_current(searcher, own, route, allowed=allowed)
        ):
            seen.add(number)
            yield number, own["document_id"]


def _find_rows(
    searcher: Searcher, ranking: Ranking, subject: Subject, *, documents: Collection[int]
) -> Iterator[tuple[int, int]]:
    """Yield the rows that open the sections on a thing, with how surely the heading names it, best passage first."""
    facts, rules = searcher.passages, load_subject_sections()
    rows = [own.row for own in ranking.candidates[: rules.candidates]]
    rows = [row for row in rows if int(facts.document_number[row]) in documents]
    facts.prefetch(rows, ("heading_path",))
    seen: set[int] = set()
    for row in rows:
        headings = facts.columns["heading_path"][row].split(" > ")[1:]
        while headings and load_answers().examples.matches(headings[-1]):
            headings.pop()
        if not headings or any(load_answers().unasked.matches(own) for own in headings):
            continue
        if subject.kind != "how" and rules.procedures.matches(headings[-1]):
            continue
        match = match_heading(headings[-1], subject.terms)
        opening = _find_opening(searcher, row, " > ".join(headings))
        if match is not None and opening is not None and opening not in seen:
            seen.add(opening)
            yield opening, match


def match_heading(heading: str, terms: frozenset[str]) -> int | None:
    """Find how surely a heading names a thing.

    Args:
        heading: A heading.
        terms: Search terms of the thing.

    Returns:
        0 for the whole heading, 1 for one of the things that it joins ("Repairs and Improvements"); None where it names
        another thing.
    """
    rules = load_subject_sections()
    if len(heading.split()) > rules.most_heading_words:
        return None
    generic = find_distinct_terms(rules.generic)
    if find_distinct_terms(heading) - generic == terms:
        return 0
    parts = heading.replace(",", " and ").replace("/", " and ").replace(" or ", " and ").split(" and ")
    return 1 if any(find_distinct_terms(part) - generic == terms for part in parts) else None


def _find_opening(searcher: Searcher, row: int, path: str) -> int | None:
    """Return the row that begins the text under a heading, from a row under it; None where it has no text."""
    facts = searcher.passages
    document, paths = int(facts.document_number[row]), facts.columns["heading_path"]
    first = None
    while row >= 0 and int(facts.document_number[row]) == document:
        own = paths[row].partition(" > ")[2]
        if own == path:
            first = row
        elif not own.startswith(f"{path} > "):
            break
        row -= 1
    return first


def _read_sections(
    searcher: Searcher,
    question: str,
    subject: Subject,
    rows: Sequence[tuple[int, int]],
    *,
    documents: Mapping[int, str],
) -> Iterator[_Section]:
    """Yield the sections that say what a question is for, with all of its words."""
    facts, rules = searcher.passages, load_subject_sections()
    contexts = open_contexts([row for row, _ in rows], facts)
    wanted = find_plain_words(question) - find_plain_words(f"{rules.frame} {rules.generic}")
    places = {number: place for place, number in enumerate(documents)}
    says = [rule.pattern for rule in rules.says if rule.kind == subject.kind]
    for place, (row, match) in enumerate(rows):
        edition = name_edition(searcher, documents[int(facts.document_number[row])])
        for _, unit in quote_section([row], contexts, edition=edition, words=rules.words):
            text = " ".join(piece.text for piece in unit.pieces if piece.role not in ("label", "note"))
            path = facts.columns["heading_path"][row]
            others = wanted - subject.terms - find_plain_words(f"{path} {text}")
            if not others and any(pattern.search(text) for pattern in says):
                nearness = places[int(facts.document_number[row])]
                depth = path.count(" > ")  # a section within another is on a special case
                order = (match, nearness, depth, place)
                yield _Section(order, row, unit, find_distinct_terms(text))


def _choose(sections: Sequence[_Section]) -> list[_Section]:
    """Choose the best sections: as good as the first one, and none that repeats another."""
    least = load_answers().same_unit_share
    chosen: list[_Section] = []
    for own in sections:
        is_worse = own.order[0] > sections[0].order[0]
        if not is_worse and not any(len(own.terms & other.terms) >= least * len(own.terms) for other in chosen):
            chosen.append(own)
    return chosen
