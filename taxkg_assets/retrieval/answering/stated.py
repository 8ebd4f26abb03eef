"""What opens an answer: statements of the graph, definitions and sections of instructions, with their passages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.encoding.lexical import find_distinct_terms
from taxkg_assets.retrieval.index.document_facts import IndexedDocument
from taxkg_assets.retrieval.index.passage_context import PassageContext
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.answers import load_answers

UNRANKED = 0
"""Rank of a unit whose passage is not among the results yet."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Statements of the graph about the lines, the form or the term in a question.

    Attributes:
        units: Each statement with the row of the index that prints it, still `UNRANKED`.
        is_whole: Whether everything that the question asks for has a statement.
        frame: Question words that a statement need not contain; by default those of questions about lines.
        most_other_words: Largest number of remaining question words that no statement contains.
    """

    units: list[tuple[int, Unit]] = field(default_factory=list)
    is_whole: bool = False
    frame: str = field(default_factory=lambda: load_answers().line_frame)
    most_other_words: int = field(default_factory=lambda: load_answers().most_other_words)


@dataclass(frozen=True, slots=True)
class Opening:
    """Statements of the graph that begin an answer.

    Attributes:
        results: Passages of the question, with those of the statements first.
        units: The statements.
        is_whole: Whether they cover everything that the question asks for.
    """

    results: list[Result]
    units: list[Unit]
    is_whole: bool


def open_answer(
    searcher: Searcher, question: str, ranking: Ranking, findings: Findings, *, results: Sequence[Result]
) -> Opening | None:
    """Begin an answer with statements of the graph, unless the question asks about something else.

    The statements must cover the question's words beyond its lines. A question with several uncovered words asks about
    something else: "where do I mail my return if line 3 has an amount".

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        findings: Statements.
        results: Passages of the question, best first.

    Returns:
        The statements with all passages, renumbered; None where no statement covers the question.
    """
    others = _find_other_words(question, ranking.route, findings)
    is_more_for_cell = bool(others and ranking.cell)
    if not findings.units or len(others) > findings.most_other_words or is_more_for_cell:
        return None
    added = searcher.show_rows(ranking, list(dict.fromkeys(row for row, _ in findings.units)))
    known = {result.chunk_id for result in added}
    merged = [*added, *(result for result in results if result.chunk_id not in known)]
    numbered = [result.model_copy(update={"rank": rank}) for rank, result in enumerate(merged, 1)]
    row_of = searcher.passages.row_of_chunk
    rank_of = {row_of[result.chunk_id]: result.rank for result in numbered[: len(added)]}
    units = [unit.model_copy(update={"rank": rank_of[row]}) for row, unit in findings.units]
    return Opening(numbered, units, findings.is_whole and not others)


def _find_other_words(question: str, route: Route, findings: Findings) -> frozenset[str]:
    """Find the words of a question that name no form, line or year, and are in no statement."""
    keys = [key.replace("_", " ") for key in route.keys]
    texts = [unit.text for _, unit in findings.units]
    named = [findings.frame, *route.forms, *route.unknown_forms, *keys, *texts]
    return find_plain_words(question) - find_plain_words(" ".join(named))


def find_plain_words(text: str) -> frozenset[str]:
    """Return the search terms of a text that contain no digit.

    Args:
        text: Text to read.

    Returns:
        Stemmed terms.
    """
    return frozenset(term for term in find_distinct_terms(text) if not any(map(str.isdigit, term)))


def name_line(form: str, *, part: str, key: str, column: str = "", code: str = "") -> str:
    """Format the name of a line for readers: "Form 1099-DIV, box 2a" or "Schedule D (Form 1040), Part II, line 13".

    Args:
        form: Its form.
        part: Part of the form; may be empty.
        key: Its key, e.g. `line_13`; may be empty.
        column: Letter of a column; may be empty.
        code: Code of a box; may be empty.

    Returns:
        The name for readers.
    """
    shown = form if form.startswith(("Schedule", "Pub.")) else f"Form {form}"
    places = (part and f"Part {part}", key.replace("_", " "), column and f"column ({column})", code and f"code {code}")
    return ", ".join(filter(None, (shown, *places)))


def find_newest(searcher: Searcher, forms: Collection[str]) -> frozenset[str]:
    """Find the documents of the newest final revision of each form.

    Args:
        searcher: Opened search.
        forms: Names of forms.

    Returns:
        Ids of documents that are forms, drafts excluded.
    """
    newest: dict[str, str] = {}
    faces = [own for own in searcher.facts.documents if own["doc_type"] == "form" and not own["is_draft"]]
    for own in faces:
        for form in set(split_forms(own["document_form"])) & set(forms):
            newest[form] = max(newest.get(form, ""), own["revision"])
    return frozenset(
        own["document_id"]
        for own in faces
        if any(newest.get(form) == own["revision"] for form in split_forms(own["document_form"]))
    )


def is_current(searcher: Searcher, own: IndexedDocument, route: Route, *, allowed: Collection[str]) -> bool:
    """Return whether a document applies to the question's years, or is final, current and not replaced.

    Among documents chosen explicitly by the caller none is outdated.

    Args:
        searcher: Opened search.
        own: Document of the index.
        route: Route of the question.
        allowed: Documents that filters let through; among those chosen by a caller none is too old.
    """
    if own["is_draft"] != route.wants_draft:
        return False
    if route.years:
        return not own["years"].isdisjoint(route.years)
    is_chosen = len(allowed) < len(searcher.facts.documents)
    return is_chosen or not (own["is_stale"] or searcher.facts.is_dated(own))


def find_row_of_words(searcher: Searcher, words: str, *, document_id: str, page: int) -> int | None:
    """Find the row of the index whose passage prints a text on a given page.

    Args:
        searcher: Opened search.
        words: Words of one passage, one space between them.
        document_id: Document that prints them.
        page: Page of the document, from 1.

    Returns:
        0-based row; None where the passage is not in the index.
    """
    facts = searcher.passages
    numbers = {own["document_id"]: number for number, own in enumerate(searcher.facts.documents)}
    if document_id not in numbers:
        return None
    on_page = np.flatnonzero((facts.document_number == numbers[document_id]) & (facts.pages == page)).tolist()
    facts.prefetch(on_page, ("text",))
    return next((row for row in on_page if words in " ".join(facts.columns["text"][row].split())), None)


def name_edition(searcher: Searcher, document_id: str) -> str:
    """Return form and revision of a document, as answers name them: 1040 2025.

    Args:
        searcher: Opened search.
        document_id: Document of its index.
    """
    document = next(own for own in searcher.facts.documents if own["document_id"] == document_id)
    return f"{document['document_form']} {document['revision']}".strip()


def read_line(words: str, context: PassageContext) -> Piece | None:
    """Quote the line of a passage that prints a text.

    Args:
        words: Words of one line, one space between them.
        context: Lines of a passage.

    Returns:
        The line; None where no single line contains the text.
    """
    for line in context.lines:
        text = " ".join(line.text.split())
        if words in text:
            return Piece(role="sentence", text=text, chunk_id=context.chunk(line), node_id=context.node(line))
    return None


def put_first(stated: Sequence[Unit], units: Sequence[Unit], *, results: Sequence[Result]) -> list[Unit]:
    """Prepend statements to the units of an answer and remove units that only repeat them.

    Units of other documents get their form and edition, because a line may differ between editions.

    Args:
        stated: Units that open the answer.
        units: Units of the passages.
        results: Passages of all units, by rank.

    Returns:
        All units in the order of the answer.
    """
    if not stated:
        return list(units)
    said = [_tidy(piece.text) for unit in stated for piece in unit.pieces if piece.role != "label"]
    documents = {results[unit.rank - 1].document for unit in stated}

    def adds(piece: Piece) -> bool:
        return piece.role not in ("label", "note") and not any(_tidy(piece.text) in text for text in said)

    def name(unit: Unit) -> Unit:
        result = results[unit.rank - 1]
        edition = f"{result.form} {result.revision}".strip()
        pieces = [piece for piece in unit.pieces if piece.role != "sentence" or adds(piece)]
        if result.document in documents or edition in unit.text:
            return unit.model_copy(update={"pieces": pieces})
        if pieces[0].role == "label":
            edition, pieces = f"{pieces[0].text.rstrip('. ')}, {edition}", pieces[1:]
        return unit.model_copy(update={"pieces": [Piece(role="label", text=edition), *pieces]})

    return [*stated, *(name(unit) for unit in units if any(map(adds, unit.pieces)))]


def _tidy(text: str) -> str:
    return " ".join(text.split()).rstrip(".")
