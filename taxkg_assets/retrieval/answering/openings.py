"""Openings of answers: statements of the graph, definitions and sections of instructions, put before other quotes."""

from __future__ import annotations

import re
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

_WORD = re.compile(r"[a-z]+")
UNRANKED = 0
"""Rank of a unit whose passage is not among the results yet."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Statements about the lines, the form or the term in a question, with which an answer may open.

    Attributes:
        units: Row of the index and unit of each statement; the units are still `UNRANKED`.
        covers_question: Whether everything that the question asks for has a statement.
        request_words: Words of the question that only request a statement, so that no statement need contain them; by
            default those of questions about lines.
        max_other_words: Maximum number of further words of the question that no statement contains.
        years_behind: Age in years of the edition that the statements are from, where it is not current; else None.
        settles_question: Whether nothing need follow the statements where they contain all words of the question.
    """

    units: list[tuple[int, Unit]] = field(default_factory=list)
    covers_question: bool = False
    request_words: str = field(default_factory=lambda: load_answers().line_frame)
    max_other_words: int = field(default_factory=lambda: load_answers().most_other_words)
    years_behind: int | None = None
    settles_question: bool = False


def has_one_request(question: str) -> bool:
    """Decide whether a question asks for one thing only, so that nothing need follow a statement of it.

    Args:
        question: Words of the user.

    Returns:
        Whether it has at most one interrogative, and no word that asks for an explanation or a calculation.
    """
    words = _WORD.findall(question.lower())
    rules = load_answers()
    interrogatives = set(rules.interrogatives.split())
    return sum(word in interrogatives for word in words) <= 1 and set(rules.further_requests.split()).isdisjoint(words)


@dataclass(frozen=True, slots=True)
class Opening:
    """Statements with which an answer opens.

    Attributes:
        results: Passages of the question, after those of the statements.
        units: The statements.
        covers_question: Whether the statements cover everything that the question asks for.
    """

    results: list[Result]
    units: list[Unit]
    covers_question: bool


def make_opening(
    searcher: Searcher, question: str, ranking: Ranking, findings: Findings, *, results: Sequence[Result]
) -> Opening | None:
    """Make the opening of an answer from statements, unless the question asks about something else.

    A question with several words that no statement contains asks about something else, for example "where do I mail my
    return if line 3 has an amount".

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        findings: Statements about the question.
        results: Passages of the question, best first.

    Returns:
        The statements with all passages, ranked again; None where there is no statement, or the question asks about
        something else.
    """
    other_words = _find_other_words(question, ranking.route, findings)
    is_about_cell = bool(other_words and ranking.cell)
    if not findings.units or len(other_words) > findings.max_other_words or is_about_cell:
        return None
    statement_results = searcher.show_rows(ranking, list(dict.fromkeys(row for row, _ in findings.units)))
    shown_chunks = {result.chunk_id for result in statement_results}
    merged = [*statement_results, *(result for result in results if result.chunk_id not in shown_chunks)]
    ranked = [result.model_copy(update={"rank": rank}) for rank, result in enumerate(merged, 1)]
    row_of_chunk = searcher.passages.row_of_chunk
    rank_by_row = {row_of_chunk[result.chunk_id]: result.rank for result in ranked[: len(statement_results)]}
    units = [unit.model_copy(update={"rank": rank_by_row[row]}) for row, unit in findings.units]
    return Opening(ranked, units, findings.covers_question and not other_words)


def _find_other_words(question: str, route: Route, findings: Findings) -> frozenset[str]:
    """Return the words of a question that name no form, line or year and that no statement contains."""
    keys = [key.replace("_", " ") for key in route.keys]
    texts = [unit.text for _, unit in findings.units]
    covered_texts = [findings.request_words, *route.forms, *route.unknown_forms, *keys, *texts]
    return find_plain_words(question) - find_plain_words(" ".join(covered_texts))


def find_plain_words(text: str) -> frozenset[str]:
    """Return the search terms of a text that contain no digit.

    Args:
        text: Any text.

    Returns:
        Stemmed terms.
    """
    return frozenset(term for term in find_distinct_terms(text) if not any(map(str.isdigit, term)))


def name_line(form: str, *, part: str, key: str, column: str = "", code: str = "") -> str:
    """Format the name of a line for readers: "Form 1099-DIV, box 2a" or "Schedule D (Form 1040), Part II, line 13".

    Args:
        form: Form of the line.
        part: Part of the form; may be empty.
        key: Key of the line, e.g. `line_13`; may be empty.
        column: Letter of a column; may be empty.
        code: Code of a box; may be empty.

    Returns:
        The name for readers.
    """
    form_name = form if form.startswith(("Schedule", "Pub.")) else f"Form {form}"
    location = (
        part and f"Part {part}",
        key.replace("_", " "),
        column and f"column ({column})",
        code and f"code {code}",
    )
    return ", ".join(filter(None, (form_name, *location)))


def find_newest(searcher: Searcher, forms: Collection[str]) -> frozenset[str]:
    """Find the documents with the newest final revision of each form.

    Args:
        searcher: Opened search.
        forms: Names of forms.

    Returns:
        Ids of forms, without drafts and without documents about forms, such as instructions.
    """
    newest_revision: dict[str, str] = {}
    final_forms = [
        document for document in searcher.facts.documents if document["doc_type"] == "form" and not document["is_draft"]
    ]
    for document in final_forms:
        for form in set(split_forms(document["document_form"])) & set(forms):
            newest_revision[form] = max(newest_revision.get(form, ""), document["revision"])
    return frozenset(
        document["document_id"]
        for document in final_forms
        if any(newest_revision.get(form) == document["revision"] for form in split_forms(document["document_form"]))
    )


def is_current(
    searcher: Searcher, document: IndexedDocument, route: Route, *, allowed_documents: Collection[str]
) -> bool:
    """Return whether a document applies to the years of a question; without years, whether it is up to date.

    A draft only applies to a question that asks for drafts. If the caller filtered documents, each of them counts as
    up to date.

    Args:
        searcher: Opened search.
        document: Document of the index.
        route: Route of the question.
        allowed_documents: Ids of the documents that pass the caller's filters.
    """
    if document["is_draft"] != route.wants_draft:
        return False
    if route.years:
        return not document["years"].isdisjoint(route.years)
    is_filtered = len(allowed_documents) < len(searcher.facts.documents)
    return is_filtered or not (document["is_stale"] or searcher.facts.is_dated(document))


def find_row_of_words(searcher: Searcher, text: str, *, document_id: str, page: int) -> int | None:
    """Find the row of the index whose passage contains a text on a given page.

    Args:
        searcher: Opened search.
        text: Text of one passage, with one space between words.
        document_id: Id of the document.
        page: Page of the document, from 1.

    Returns:
        0-based row; None where the passage is not in the index.
    """
    facts = searcher.passages
    number_by_id = {
        document["document_id"]: document_number for document_number, document in enumerate(searcher.facts.documents)
    }
    if document_id not in number_by_id:
        return None
    page_rows = np.flatnonzero((facts.document_number == number_by_id[document_id]) & (facts.pages == page)).tolist()
    facts.prefetch(page_rows, ("text",))
    return next((row for row in page_rows if text in " ".join(facts.columns["text"][row].split())), None)


def name_edition(searcher: Searcher, document_id: str) -> str:
    """Return the form and revision of a document, as answers name them, such as "1040 2025".

    Args:
        searcher: Opened search.
        document_id: Id of the document.
    """
    document = next(row for row in searcher.facts.documents if row["document_id"] == document_id)
    return f"{document['document_form']} {document['revision']}".strip()


def quote_line(text: str, context: PassageContext) -> Piece | None:
    """Quote the printed line of a passage that contains a text.

    Args:
        text: Text of one line, with one space between words.
        context: Lines of a passage.

    Returns:
        The whole line; None where no single line contains the text.
    """
    for line in context.lines:
        line_text = " ".join(line.text.split())
        if text in line_text:
            return Piece(role="sentence", text=line_text, chunk_id=context.chunk(line), node_id=context.node(line))
    return None


def prepend_opening(opening_units: Sequence[Unit], units: Sequence[Unit], *, results: Sequence[Result]) -> list[Unit]:
    """Put the opening before the other units of an answer, and remove sentences that repeat the opening.

    The labels of units from other documents get form and edition, because a line may differ between editions.

    Args:
        opening_units: Units of the opening.
        units: Units of the passages.
        results: Passages of all units, by rank.

    Returns:
        All units in the order of the answer, without those that add nothing to the opening.
    """
    if not opening_units:
        return list(units)
    opening_texts = [_normalize(piece.text) for unit in opening_units for piece in unit.pieces if piece.role != "label"]
    opening_documents = {results[unit.rank - 1].document for unit in opening_units}

    def is_new(piece: Piece) -> bool:
        text = _normalize(piece.text)
        return piece.role not in ("label", "note") and not any(text in opening_text for opening_text in opening_texts)

    def shorten(unit: Unit) -> Unit:
        result = results[unit.rank - 1]
        edition = f"{result.form} {result.revision}".strip()
        pieces = [piece for piece in unit.pieces if piece.role != "sentence" or is_new(piece)]
        if result.document in opening_documents or edition in unit.text:
            return unit.model_copy(update={"pieces": pieces})
        label = edition
        if pieces[0].role == "label":
            label, pieces = f"{pieces[0].text.rstrip('. ')}, {edition}", pieces[1:]
        return unit.model_copy(update={"pieces": [Piece(role="label", text=label), *pieces]})

    return [*opening_units, *(shorten(unit) for unit in units if any(map(is_new, unit.pieces)))]


def _normalize(text: str) -> str:
    return " ".join(text.split()).rstrip(".")
