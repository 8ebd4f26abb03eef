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
    family_by_document = {row["document_id"]: row["family"] for row in documents.documents}
    editions_by_family: dict[str, set[str]] = {}
    for _, result in quoted:
        editions_by_family.setdefault(family_by_document[result.document], set()).add(result.revision)
    has_several_forms = len({result.form for _, result in quoted}) > 1
    newest_year = {row["document_id"]: max(row["years"], default=0) for row in documents.documents}
    stale_documents = {row["document_id"] for row in documents.documents if row["is_stale"]}
    newest_year_quoted = max((newest_year[result.document] for _, result in quoted), default=0)

    def is_dated(draft: Draft, result: Result) -> bool:
        """Return whether the draft prints an amount that a newer document may have changed, and no year."""
        text = " ".join(draft.context.lines[line_ix].read_sentence(sentence_ix) for line_ix, sentence_ix in draft.refs)
        is_old = result.document in stale_documents or 0 < newest_year[result.document] < newest_year_quoted
        return is_old and "$" in text and _YEAR.search(text) is None

    def is_needed(draft: Draft, result: Result) -> bool:
        first = draft.context.lines[min(draft.refs)[0]]
        explains_key = bool(draft.context.facts.columns["anchor_key"][first.row])
        is_ambiguous = is_comparison or len(editions_by_family[family_by_document[result.document]]) > 1
        return is_ambiguous or (has_several_forms and explains_key) or is_dated(draft, result)

    return [f"{result.form} {result.revision}".strip() if is_needed(draft, result) else "" for draft, result in quoted]
