"""Documents among the passages that an answer does not speak from: of other years than asked for, older editions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from taxkg_assets.retrieval.facts import DocumentFacts
from taxkg_assets.retrieval.results import Result
from taxkg_assets.retrieval.router import Route


def find_other_editions(results: Sequence[Result], route: Route, documents: DocumentFacts) -> frozenset[str]:
    """The documents of some passages that another edition among them speaks for.

    With years asked for, that is any edition of these years; without, a newer one, and any product of a recent year
    for one of a year long past. Where none speaks for it, a document is kept: a rule of another year is better than
    none.
    """
    found = {result.document for result in results}
    held = [row for row in documents.documents if row["document_id"] in found]
    dated = {row["document_id"] for row in held if documents.is_dated(row) and not route.years}
    others = {row["document_id"] for row in held if any(_speaks_for(other, row, route) for other in held)}
    return frozenset(others | dated if dated != found else others)


def _speaks_for(other: Mapping[str, Any], row: Mapping[str, Any], route: Route) -> bool:
    if other["family"] != row["family"] or other["document_id"] == row["document_id"]:
        return False
    if route.revisions:
        return bool(other["revision"] in route.revisions and row["revision"] not in route.revisions)
    if route.years:
        asked = set(route.years)
        return bool(other["years"] & asked and not row["years"] & asked)
    if route.wants_draft:
        return False
    return bool(row["is_stale"] and other["revision"] > row["revision"] and not other["is_draft"])
