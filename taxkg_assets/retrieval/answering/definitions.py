"""Find what documents say a term means, for questions that ask for nothing else.

A passage that only uses the term often ranks higher than the passage that defines it. So the term is searched without
the question's other words, and the statements that define it open the answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from taxkg_assets.retrieval.answering.openings import UNRANKED, Findings, is_current, name_edition
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
        strength: How certainly it defines the term (rules/definitions.yaml); higher is more certain.
    """

    statement: Statement
    strength: int


def find_definitions(
    searcher: Searcher, question: str, ranking: Ranking, *, allowed_documents: Collection[str]
) -> Findings:
    """Find the statements that define the term in a question.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        allowed_documents: Ids of the documents that may be quoted.

    Returns:
        Definitions from different documents, the most certain first; for a comparison, one of each term. Empty where
        the question names a form, line or box or asks for something else, or where no document clearly defines the
        term.
    """
    route = ranking.route
    terms = () if route.keys or route.forms or route.unknown_forms else read_terms(question)
    if not terms:
        return Findings()
    documents = {
        document_number: document["document_id"]
        for document_number, document in enumerate(searcher.facts.documents)
        if document["document_id"] in allowed_documents
        and is_current(searcher, document, route, allowed_documents=allowed_documents)
    }
    rules, units = load_definitions(), list[tuple[int, Unit]]()
    for term in terms:
        definitions = _find_statements(searcher, term, route, documents=documents)
        if not definitions or definitions[0].strength < rules.sure:  # one side of a comparison is no answer either
            return Findings()
        for row, draft in _choose(definitions, searcher, max_count=rules.most if len(terms) == 1 else 1):
            edition = name_edition(searcher, documents[int(searcher.passages.document_number[row])])
            units.append((row, finish_unit(draft, rank=UNRANKED, edition=edition)))
    return Findings(units, covers_question=True, request_words=rules.frame)


def _find_statements(searcher: Searcher, term: str, route: Route, *, documents: Mapping[int, str]) -> list[Definition]:
    """Find the statements that define a term, the most certain first, then in the order of their passages."""
    only_document = next(iter(documents.values())) if len(documents) == 1 else None
    rows = _find_rows(searcher, searcher.rank(term, document=only_document), term, documents=documents)
    contexts = open_contexts(rows, searcher.passages)
    definitions: list[Definition] = []
    for row in rows:
        statements = read_row(row, contexts[row], route=route, passage=0, hit=row, question_terms=frozenset())
        definitions += rate_statements(list(statements), term)
    return sorted(definitions, key=lambda definition: -definition.strength)


def read_terms(question: str) -> tuple[str, ...]:
    """Extract the term whose meaning a question asks for, or the two terms whose difference it asks for.

    Args:
        question: Words of the user.

    Returns:
        One term or two; empty where the question asks for something else.
    """
    rules = load_definitions()
    for rule in (*rules.comparisons, *rules.questions):
        match = rule.pattern.search(question)
        terms = [term.rstrip(".") for term in match.groups() if term] if match else []
        phrases = [question, *(f"is the {term.partition(' for ')[0]}" for term in terms)]
        if terms and any(map(rules.generic.matches, phrases)):
            return ()
        if terms and all(len(term.split()) <= rules.most_term_words and find_terms(term) for term in terms):
            return tuple(terms)
    return ()


def mark_term(text: str, term: str) -> str:
    """Replace each occurrence of a term, singular or plural, by `@`.

    Args:
        text: Sentence or heading.
        term: The term.

    Returns:
        The text with `@` in the place of the term.
    """
    term_stems = [stem for word in _WORD.finditer(term) for stem in find_terms(word[0])]
    words = [(word.start(), word.end(), find_terms(word[0])) for word in _WORD.finditer(text)]
    parts: list[str] = []
    copied_to = word_ix = 0
    while word_ix < len(words):
        last_ix = _find_end(words, word_ix, term_stems)
        if last_ix is None:
            word_ix += 1
            continue
        parts += [text[copied_to : words[word_ix][0]], "@"]
        copied_to, word_ix = words[last_ix][1], last_ix + 1
    return "".join([*parts, text[copied_to:]])


def _find_end(words: Sequence[tuple[int, int, list[str]]], word_ix: int, term_stems: Sequence[str]) -> int | None:
    """Return the index of the last word of a term that begins at a word; None where the term does not begin there."""
    if not words[word_ix][2]:
        return None
    stems: list[str] = []
    for last_ix in range(word_ix, len(words)):
        stems += words[last_ix][2]
        if stems != list(term_stems[: len(stems)]):
            return None
        if len(stems) == len(term_stems):
            return last_ix
    return None


def _find_rows(searcher: Searcher, ranking: Ranking, term: str, *, documents: Collection[int]) -> list[int]:
    """Find the passages that contain all words of a term, best first."""
    facts = searcher.passages
    rows = [candidate.row for candidate in ranking.candidates if int(facts.document_number[candidate.row]) in documents]
    rows = rows[: load_definitions().candidates]
    facts.prefetch(rows, ("text", "heading_path"))
    term_words = find_distinct_terms(term)
    texts, paths = facts.columns["text"], facts.columns["heading_path"]
    return [row for row in rows if term_words <= set(find_terms(f"{paths[row].rpartition(' > ')[2]} {texts[row]}"))]


def rate_statements(statements: Sequence[Statement], term: str) -> Iterator[Definition]:
    """Yield the statements of a passage that define a term, with the certainty of each.

    A statement defines a term by its wording, or as the first statement under a heading that names the term.

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
    names = [term, *find_abbreviations(" ".join([heading, *(statement.text for statement in statements)]), term)]
    is_below_heading = any(rules.headings.matches(mark_term(heading, name)) for name in names)
    for statement in statements:
        if statement.is_pointer or statement.is_example or statement.is_expired or statement.is_figures:
            continue
        intro_texts = [
            statement.context.lines[line_ix].text for line_ix in statement.line.intro_ixs[-1:]
        ]  # "The term means:" is a lead-in
        strength = max(_find_strength(text, name) for text in [statement.text, *intro_texts] for name in names)
        opens_section = (
            is_below_heading
            and statement.is_opening
            and any(rules.openings.matches(mark_term(statement.text, name)) for name in names)
        )
        if strength > 0 or opens_section:
            yield Definition(statement, strength + is_below_heading * rules.under_heading)


def find_abbreviations(text: str, term: str) -> list[str]:
    """Find the abbreviations that a text prints in parentheses after a term.

    Args:
        text: Text of a passage.
        term: The term.

    Returns:
        Abbreviations in the order of the text, such as "AMT" for "alternative minimum tax (AMT)".
    """
    return list(dict.fromkeys(_ABBREVIATION.findall(mark_term(text, term))))


def _find_strength(text: str, term: str) -> int:
    """Return how certainly a sentence defines a term; 0 where it does not."""
    rules, marked_text = load_definitions(), mark_term(text, term)
    if "@" not in marked_text:
        return 0
    matches = [(rule.strength, match) for rule in rules.statements if (match := rule.pattern.search(marked_text))]
    purposes = [match for _, match in matches if match.groupdict().get("purpose")]
    return max((strength for strength, _ in matches), default=0) - (rules.for_one_purpose if purposes else 0)


def _choose(definitions: Sequence[Definition], searcher: Searcher, *, max_count: int) -> list[tuple[int, Draft]]:
    """Choose the most certain definition of each document, with its row, unless it repeats a more certain one."""
    rules, min_shared = load_definitions(), load_answers().same_unit_share
    chosen: list[tuple[int, Draft]] = []
    documents: set[int] = set()
    for definition in definitions:
        document_number = int(searcher.passages.document_number[definition.statement.row])
        if (
            document_number in documents
            or definition.strength < definitions[0].strength - rules.reach
            or len(chosen) == max_count
        ):
            continue
        draft = draft_unit(definition.statement, score=float(definition.strength))
        if any(len(draft.terms & chosen_draft.terms) >= min_shared * len(draft.terms) for _, chosen_draft in chosen):
            continue
        documents.add(document_number)
        chosen.append((definition.statement.row, draft))
    return chosen
