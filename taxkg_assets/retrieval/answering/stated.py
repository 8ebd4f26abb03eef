"""What tables of the graph state, with the passages that print it: such statements open an answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.index.lines import PassageContext
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result


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
        return piece.role not in ("label", "note") and not any(text.endswith(_tidy(piece.text)) for text in said)

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
