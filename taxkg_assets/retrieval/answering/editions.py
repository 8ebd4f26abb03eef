"""Editions: those that an answer leaves out, of other years or older ones, and the names of those that it quotes."""

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
    """Find the documents that another edition among the results replaces for this question.

    Args:
        results: Passages, best first.
        route: Route of the question.
        documents: Columns of documents.

    Returns:
        Ids of replaced documents.
    """
    found = {result.document for result in results}
    rows = [row for row in documents.documents if row["document_id"] in found]
    return frozenset(row["document_id"] for row in rows if any(_replaces(other, row, route) for other in rows))


def _replaces(other: IndexedDocument, row: IndexedDocument, route: Route) -> bool:
    if other["family"] != row["family"] or other["document_id"] == row["document_id"]:
        return False
    if route.revisions:
        return bool(other["revision"] in route.revisions and row["revision"] not in route.revisions)
    if route.years:
        return _find_distance(other, route.years) < _find_distance(row, route.years)
    if route.wants_draft:
        return False
    return bool(row["is_stale"] and other["revision"] > row["revision"] and not other["is_draft"])


def _find_distance(document: IndexedDocument, years: Sequence[int]) -> float:
    """Return how many years a document is away from the nearest requested one."""
    return min((abs(own - year) for own in document["years"] for year in years), default=math.inf)


def name_editions(quoted: Sequence[tuple[Draft, Result]], documents: DocumentFacts, *, is_compared: bool) -> list[str]:
    """Name the form and edition of each draft that would be ambiguous without them.

    Args:
        quoted: Drafts with their passages.
        documents: Columns of documents.
        is_compared: Whether the question compares.

    Returns:
        A name for each draft; empty where none is needed.
    """
    family_of = {row["document_id"]: row["family"] for row in documents.documents}
    editions: dict[str, set[str]] = {}
    for _, result in quoted:
        editions.setdefault(family_of[result.document], set()).add(result.revision)
    has_forms = len({result.form for _, result in quoted}) > 1
    years = {row["document_id"]: max(row["years"], default=0) for row in documents.documents}
    stale = {row["document_id"] for row in documents.documents if row["is_stale"]}
    newest = max((years[result.document] for _, result in quoted), default=0)

    def is_dated(draft: Draft, result: Result) -> bool:
        """Return whether the draft prints an amount that a newer document may have changed, and no year."""
        text = " ".join(draft.context.lines[place].read_sentence(sentence) for place, sentence in draft.spots)
        is_old = result.document in stale or 0 < years[result.document] < newest
        return is_old and "$" in text and _YEAR.search(text) is None

    def is_needed(draft: Draft, result: Result) -> bool:
        first = draft.context.lines[min(draft.spots)[0]]
        is_of_key = bool(draft.context.facts.columns["anchor_key"][first.row])
        is_one_of_many = is_compared or len(editions[family_of[result.document]]) > 1
        return is_one_of_many or (has_forms and is_of_key) or is_dated(draft, result)

    return [f"{result.form} {result.revision}".strip() if is_needed(draft, result) else "" for draft, result in quoted]
