"""Definitions: what documents say a term means, for questions that are for nothing else.

A passage that defines a term rarely repeats the question's other words, and passages that use it often rank before
it. So the term alone is searched, and the sentences and headings that define it open the answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from taxkg_assets.retrieval.answering.stated import UNRANKED, Findings, is_current, name_edition
from taxkg_assets.retrieval.answering.statements import Statement, read_row
from taxkg_assets.retrieval.answering.units import Draft, Unit, draft_unit, finish_unit
from taxkg_assets.retrieval.encoding.lexical import find_distinct_terms, find_terms
from taxkg_assets.retrieval.index.passage_context import open_contexts
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.models.definitions import load_definitions

_ABBREVIATION = re.compile(r"@ \(([A-Z][A-Za-z&-]{1,9})\)")
_WORD = re.compile(r"[^\W_](?:[\w’'.&/-]*[^\W_])?")


@dataclass(frozen=True, slots=True)
class Definition:
    """A statement that defines a term.

    Attributes:
        statement: The statement.
        strength: Certainty that it defines the term (rules/definitions.yaml); higher is more certain.
    """

    statement: Statement
    strength: int


def find_definitions(searcher: Searcher, question: str, ranking: Ranking, *, allowed: Collection[str]) -> Findings:
    """Find the statements that define the term in a question.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question. A question that names a form, a line or a box is not about a term.
        allowed: Documents that may be quoted.

    Returns:
        Definitions of different documents, the most certain first, or one for each term of a comparison. Empty where
        the question asks for something else, or where no document clearly defines the term.
    """
    route = ranking.route
    terms = () if route.keys or route.forms or route.unknown_forms else read_terms(question)
    if not terms:
        return Findings()
    documents = {
        number: own["document_id"]
        for number, own in enumerate(searcher.facts.documents)
        if own["document_id"] in allowed and is_current(searcher, own, route, allowed=allowed)
    }
    rules, units = load_definitions(), list[tuple[int, Unit]]()
    for term in terms:
        found = _find_statements(searcher, term, route, documents=documents)
        if not found or found[0].strength < rules.sure:  # one side of a comparison is no answer either
            return Findings()
        for row, draft in _choose(found, searcher, most=rules.most if len(terms) == 1 else 1):
            edition = name_edition(searcher, documents[int(searcher.passages.document_number[row])])
            units.append((row, finish_unit(draft, rank=UNRANKED, edition=edition)))
    return Findings(units, is_whole=True, frame=rules.frame)


def _find_statements(searcher: Searcher, term: str, route: Route, *, documents: Mapping[int, str]) -> list[Definition]:
    """Find the statements that define a term, the surest first, and of equals that of the better passage."""
    only = next(iter(documents.values())) if len(documents) == 1 else None
    rows = _find_rows(searcher, searcher.rank(term, document=only), term, documents=documents)
    contexts = open_contexts(rows, searcher.passages)
    found: list[Definition] = []
    for row in rows:
        statements = read_row(row, contexts[row], route=route, passage=0, hit=row, wanted=frozenset())
        found += rate_statements(list(statements), term)
    return sorted(found, key=lambda own: -own.strength)


def read_terms(question: str) -> tuple[str, ...]:
    """Extract the terms whose meaning, or whose difference, a question asks for.

    Args:
        question: Words of the user.

    Returns:
        One term or two; empty where the question asks for something else.
    """
    rules = load_definitions()
    for rule in (*rules.comparisons, *rules.questions):
        match = rule.pattern.search(question)
        terms = [own.rstrip(".") for own in match.groups() if own] if match else []
        queried = [question, *(f"is the {own.partition(' for ')[0]}" for own in terms)]
        if terms and any(map(rules.generic.matches, queried)):
            return ()
        if terms and all(len(own.split()) <= rules.most_term_words and find_terms(own) for own in terms):
            return tuple(terms)
    return ()


def mark_term(text: str, term: str) -> str:
    """Replace each occurrence of a term, singular or plural, by `@`.

    Args:
        text: Sentence or heading.
        term: The term.

    Returns:
        The text with `@` for each place of the term.
    """
    wanted = [each for word in _WORD.finditer(term) for each in find_terms(word[0])]
    words = [(word.start(), word.end(), find_terms(word[0])) for word in _WORD.finditer(text)]
    parts: list[str] = []
    done = place = 0
    while place < len(words):
        last = _find_end(words, place, wanted)
        if last is None:
            place += 1
            continue
        parts += [text[done : words[place][0]], "@"]
        done, place = words[last][1], last + 1
    return "".join([*parts, text[done:]])


def _find_end(words: Sequence[tuple[int, int, list[str]]], place: int, wanted: Sequence[str]) -> int | None:
    """Return the place of the last word of a term that begins at a word; None where it does not."""
    if not words[place][2]:
        return None
    said: list[str] = []
    for last in range(place, len(words)):
        said += words[last][2]
        if said != list(wanted[: len(said)]):
            return None
        if len(said) == len(wanted):
            return last
    return None


def _find_rows(searcher: Searcher, ranking: Ranking, term: str, *, documents: Collection[int]) -> list[int]:
    """Find the passages on a term that contain all its words, best first."""
    facts = searcher.passages
    rows = [own.row for own in ranking.candidates if int(facts.document_number[own.row]) in documents]
    rows = rows[: load_definitions().candidates]
    facts.prefetch(rows, ("text", "heading_path"))
    wanted = find_distinct_terms(term)
    texts, paths = facts.columns["text"], facts.columns["heading_path"]
    return [row for row in rows if wanted <= set(find_terms(f"{paths[row].rpartition(' > ')[2]} {texts[row]}"))]


def rate_statements(statements: Sequence[Statement], term: str) -> Iterator[Definition]:
    """Yield the statements of a passage that define a term, by their wording or as the first one under its heading.

    Args:
        statements: Statements of one row of the index, in reading order.
        term: The term.

    Yields:
        Definitions, unsorted.
    """
    if not statements:
        return
    rules, first = load_definitions(), statements[0]
    heading = first.context.heading(first.row)
    names = [term, *find_abbreviations(" ".join([heading, *(own.text for own in statements)]), term)]
    is_under = any(rules.headings.matches(mark_term(heading, name)) for name in names)
    for own in statements:
        if own.is_pointer or own.is_example or own.is_expired or own.is_figures:
            continue
        leads = [own.context.lines[place].text for place in own.line.intro_ixs[-1:]]  # "The term means:" is a lead-in
        strength = max(_find_strength(text, name) for text in [own.text, *leads] for name in names)
        opens = is_under and own.is_opening and any(rules.openings.matches(mark_term(own.text, name)) for name in names)
        if strength > 0 or opens:
            yield Definition(own, strength + is_under * rules.under_heading)


def find_abbreviations(text: str, term: str) -> list[str]:
    """Extract the abbreviations printed in parentheses after a term.

    Args:
        text: Text of a passage.
        term: The term.

    Returns:
        Abbreviations in the order of the text.
    """
    return list(dict.fromkeys(_ABBREVIATION.findall(mark_term(text, term))))


def _find_strength(text: str, term: str) -> int:
    """Return how surely a sentence defines a term; 0 where it does not."""
    rules, marked = load_definitions(), mark_term(text, term)
    if "@" not in marked:
        return 0
    found = [(rule.strength, match) for rule in rules.statements if (match := rule.pattern.search(marked))]
    purposes = [match for _, match in found if match.groupdict().get("purpose")]
    return max((strength for strength, _ in found), default=0) - (rules.for_one_purpose if purposes else 0)


def _choose(found: Sequence[Definition], searcher: Searcher, *, most: int) -> list[tuple[int, Draft]]:
    """Choose the surest definition of each document with its row, and leave out those that repeat a surer one."""
    rules, least = load_definitions(), load_answers().same_unit_share
    chosen: list[tuple[int, Draft]] = []
    documents: set[int] = set()
    for own in found:
        number = int(searcher.passages.document_number[own.statement.row])
        if number in documents or own.strength < found[0].strength - rules.reach or len(chosen) == most:
            continue
        draft = draft_unit(own.statement, worth=float(own.strength))
        if any(len(draft.terms & other.terms) >= least * len(draft.terms) for _, other in chosen):
            continue
        documents.add(number)
        chosen.append((own.statement.row, draft))
    return chosen
