"""Documents that an answer does not quote: of other years than the question names, or older editions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from taxkg_assets.retrieval.index.facts import DocumentFacts
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.results import Result


def find_other_editions(results: Sequence[Result], route: Route, documents: DocumentFacts) -> frozenset[str]:
    """Find the documents that another edition among the results replaces.

    If the question names years, an edition of those years replaces the others. If it names none, a newer edition
    replaces an older one. A document that nothing replaces is kept: a rule of another year is better than none.

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


def _replaces(other: Mapping[str, Any], row: Mapping[str, Any], route: Route) -> bool:
    if other["family"] != row["family"] or other["document_id"] == row["document_id"]:
        return False
    if route.revisions:
        return bool(other["revision"] in route.revisions and row["revision"] not in route.revisions)
    if route.years:
        years = set(route.years)
        return bool(other["years"] & years and not row["years"] & years)
    if route.wants_draft:
        return False
    return bool(row["is_stale"] and other["revision"] > row["revision"] and not other["is_draft"])
