"""Comparisons of two forms or years: an answer contains a statement about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from taxkg_assets.retrieval.answering.statements import Statement
from taxkg_assets.retrieval.index.document_facts import DocumentFacts
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.results import Result
from taxkg_assets.rules.forms import split_forms

COMPARISON = "comparison"
"""The intent of a question that compares two things."""


def find_compared_statements(
    statements: Sequence[Statement],
    scores: Mapping[int, float],
    *,
    route: Route,
    results: Sequence[Result],
    documents: DocumentFacts,
    facts: PassageFacts,
) -> list[int]:
    """Find the best statement for each form or each year that a question compares.

    Args:
        statements: Statements of the passages.
        scores: Score of each candidate statement by its index.
        route: Route of the question.
        results: Passages of the statements.
        documents: Columns of documents.
        facts: Columns of passages.

    Returns:
        Indices of statements; empty where the question names fewer than two forms or years.
    """
    years_by_document = {row["document_id"]: row["years"] for row in documents.documents}

    def is_about(statement: Statement, side: object) -> bool:
        if isinstance(side, int):
            return side in years_by_document.get(results[statement.passage].document, ())
        return side in split_forms(facts.forms[facts.form_number[statement.row]])

    sides: Sequence[object] = route.forms if len(route.forms) > 1 else route.years
    if len(sides) < 2:
        return []
    indices_by_side = [[ix for ix in scores if is_about(statements[ix], side)] for side in sides]
    best_indices = [max(indices, key=lambda ix: (scores[ix], -ix)) for indices in indices_by_side if indices]
    return list(dict.fromkeys(best_indices))
