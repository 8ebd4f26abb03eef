"""Comparisons: an answer covers each side and names it."""

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


def find_sides(
    statements: Sequence[Statement],
    worth: Mapping[int, float],
    *,
    route: Route,
    results: Sequence[Result],
    documents: DocumentFacts,
    facts: PassageFacts,
) -> list[int]:
    """Find the best statement for each form or each year that a question compares.

    Args:
        statements: Statements of the passages.
        worth: Score of each likely statement by its place in the list.
        route: Route of the question.
        results: Passages of the statements.
        documents: Columns of documents.
        facts: Columns of passages.

    Returns:
        Indices of statements; empty where the question names fewer than two forms or years.
    """
    years_of = {row["document_id"]: row["years"] for row in documents.documents}

    def covers(own: Statement, side: object) -> bool:
        if isinstance(side, int):
            return side in years_of.get(results[own.passage].document, ())
        return side in split_forms(facts.forms[facts.form_number[own.row]])

    sides: Sequence[object] = route.forms if len(route.forms) > 1 else route.years
    if len(sides) < 2:
        return []
    found = [[place for place in worth if covers(statements[place], side)] for side in sides]
    best = [max(places, key=lambda place: (worth[place], -place)) for places in found if places]
    return list(dict.fromkeys(best))
