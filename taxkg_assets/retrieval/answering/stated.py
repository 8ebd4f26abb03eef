"""What tables of the graph state, with the passages that print it: such statements open an answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.index.lines import PassageContext
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.answers import load_answers


@dataclass(frozen=True, slots=True)
class Stated:
    """What the graph states of the lines or boxes in a question.

    Attributes:
        results: Passages of the question, with those of the statements first.
        units: Statements; empty for none.
        is_whole: Whether they say all that the question is for.
    """

    results: list[Result]
    units: list[Unit] = field(default_factory=list)
    is_whole: bool = False


# arguments: the question, its passages before and after, and what was found
def judge(
    question: str,
    route: Route,
    before: Sequence[Result],
    after: list[Result],
    units: list[Unit],
    *,
    is_whole: bool,
) -> Stated:
    """Judge whether a question is for its lines alone: what it says besides must be in the statements.

    A question with several other words is about something else: "where do I mail my return if line 3 has an amount".

    Args:
        question: Words of the user.
        route: Its route.
        before: Passages of the question.
        after: The same with those of the statements.
        units: Statements.
        is_whole: Whether there is one for each line of the question.

    Returns:
        The passages with the statements; without them if the question is about something else.
    """
    limits = load_answers()
    forms = " ".join([*route.forms, *route.unknown_forms, *(key.replace("_", " ") for key in route.keys)])
    years = " ".join(map(str, route.years))
    said = frozenset(find_terms(" ".join([forms, years, limits.line_frame, *(unit.text for unit in units)])))
    others = {term for term in find_terms(question) if term not in said and not any(map(str.isdigit, term))}
    if not units or len(others) > limits.most_other_words:
        return Stated(list(before))
    return Stated(after, units, is_whole and not others)


def find_newest(searcher: Searcher, forms: Collection[str]) -> frozenset[str]:
    """Find the documents of the newest final revision of some forms.

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


def find_row_of_words(searcher: Searcher, words: str, *, document_id: str, page: int) -> int | None:
    """Find the row of the index that prints some words.

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


def lead_with(
    searcher: Searcher, ranking: Ranking, rows: Sequence[int], *, results: Sequence[Result]
) -> tuple[list[Result], dict[int, int]]:
    """Put the passages of some rows before those of a question.

    Args:
        searcher: Opened search.
        ranking: Ranking of the question.
        rows: 0-based rows of the index.
        results: Passages of the question, best first.

    Returns:
        All passages, renumbered, and the rank of each row's passage.
    """
    if not rows:
        return list(results), {}
    added = searcher.show_rows(ranking, list(dict.fromkeys(rows)))
    known = {result.chunk_id for result in added}
    merged = [*added, *(result for result in results if result.chunk_id not in known)]
    numbered = [result.model_copy(update={"rank": rank}) for rank, result in enumerate(merged, 1)]
    row_of = searcher.passages.row_of_chunk
    return numbered, {row_of[result.chunk_id]: result.rank for result in numbered[: len(added)]}


def name_edition(searcher: Searcher, document_id: str) -> str:
    """Return form and revision of a document, as answers name them: 1040 2025.

    Args:
        searcher: Opened search.
        document_id: Document of its index.
    """
    document = next(own for own in searcher.facts.documents if own["document_id"] == document_id)
    return f"{document['document_form']} {document['revision']}".strip()


def read_line(words: str, context: PassageContext) -> Piece | None:
    """Quote the printed line with some words.

    Args:
        words: Words of one line, one space between them.
        context: Lines of a passage.

    Returns:
        The line; None where they are in no single one.
    """
    for line in context.lines:
        text = " ".join(line.text.split())
        if words in text:
            return Piece(role="sentence", text=text, chunk_id=context.chunk(line), node_id=context.node(line))
    return None


def put_first(stated: Sequence[Unit], units: Sequence[Unit], *, results: Sequence[Result]) -> list[Unit]:
    """Put statements before the other units of an answer.

    Units that only repeat them are left out, and those of other documents are named: the same line of another edition
    may be another one.

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
        if result.document in documents or edition in unit.text:
            return unit
        label, pieces = unit.pieces[:1], unit.pieces
        if label and label[0].role == "label":
            edition, pieces = f"{label[0].text.rstrip('. ')}, {edition}", pieces[1:]
        return unit.model_copy(update={"pieces": [Piece(role="label", text=edition), *pieces]})

    return [*stated, *(name(unit) for unit in units if any(map(adds, unit.pieces)))]


def _tidy(text: str) -> str:
    return " ".join(text.split()).rstrip(".")
