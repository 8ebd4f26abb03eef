"""Editions in answers: which documents of other years or older editions to leave out, and how to name an edition."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from taxkg_assets.retrieval.answering.units import Draft
from taxkg_assets.retrieval.index.document_facts import DocumentFacts, IndexedDocument
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.results import Result

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def find_other_editions(results: Sequence[Result], route: Route, documents: DocumentFacts) -> frozenset[str]:
    """Find the documents among the results that another edition among the results replaces.

    Args:
        results: Passages, best first.
        route: Route of the question.
        documents: Columns of documents.

    Returns:
        Ids of replaced documents.
    """
    document_ids = {result.document for result in results}
    rows = [row for row in documents.documents if row["document_id"] in document_ids]
    return frozenset(
        row["document_id"] for row in rows if any(_replaces(other_edition, row, route) for other_edition in rows)
    )


def _replaces(other_edition: IndexedDocument, document: IndexedDocument, route: Route) -> bool:
    """Return whether another edition of a document fits the question better: by its revision or year, or as newer."""
    if other_edition["family"] != document["family"] or other_edition["document_id"] == document["document_id"]:
        return False
    if route.revisions:
        return bool(other_edition["revision"] in route.revisions and document["revision"] not in route.revisions)
    if route.years:
        return _find_distance(other_edition, route.years) < _find_distance(document, route.years)
    if route.wants_draft:
        return False
    return bool(
        document["is_stale"] and other_edition["revision"] > document["revision"] and not other_edition["is_draft"]
    )


def _find_distance(document: IndexedDocument, years: Sequence[int]) -> float:
    """Return the smallest difference between a year of a document and a requested year."""
    return min((abs(document_year - year) for document_year in document["years"] for year in years), default=math.inf)


def name_editions(
    quoted: Sequence[tuple[Draft, Result]], documents: DocumentFacts, *, is_comparison: bool
) -> list[str]:
    """Name the form and edition of each draft that would be ambiguous without this name.

    Args:
        quoted: Drafts, each with its passage.
        documents: Columns of documents.
        is_comparison: Whether the question compares forms or editions.

    Returns:
        A name for each draft; empty where no name is needed.
    """
    family_of = {row["document_id"]: row["family"] for row in documents.documents}
    newest_year_of = {row["document_id"]: max(row["years"], default=0) for row in documents.documents}
    stale_documents = {row["document_id"] for row in documents.documents if row["is_stale"]}
    quoted_results = [result for _, result in quoted]
    editions_of_family: dict[str, set[str]] = {}
    for result in quoted_results:
        editions_of_family.setdefault(family_of[result.document], set()).add(result.revision)
    has_several_forms = len({result.form for result in quoted_results}) > 1
    newest_year_quoted = max((newest_year_of[result.document] for result in quoted_results), default=0)

    def is_needed(draft: Draft, result: Result) -> bool:
        """Decide whether a draft could be read as of another form or edition."""
        has_several_editions = len(editions_of_family[family_of[result.document]]) > 1
        if is_comparison or has_several_editions or (has_several_forms and _explains_key(draft)):
            return True
        is_outdated = 0 < newest_year_of[result.document] < newest_year_quoted
        return (is_outdated or result.document in stale_documents) and _prints_undated_amount(draft)

    return [f"{result.form} {result.revision}".strip() if is_needed(draft, result) else "" for draft, result in quoted]


def _explains_key(draft: Draft) -> bool:
    """Decide whether a draft begins below the heading of a box or line, whose number another form may have, too."""
    first_line = draft.context.lines[min(draft.refs)[0]]
    return bool(draft.context.facts.columns["anchor_key"][first_line.row])


def _prints_undated_amount(draft: Draft) -> bool:
    """Decide whether a draft prints an amount that a newer document may have changed, and no year."""
    text = " ".join(draft.context.lines[line_ix].read_sentence(sentence_ix) for line_ix, sentence_ix in draft.refs)
    return "$" in text and _YEAR.search(text) is None
