"""Explanations of results that tests make by hand."""

from __future__ import annotations

from taxkg_assets.retrieval.query.route_explanation import RouteExplanation
from taxkg_assets.retrieval.results import Explanation


def explanation(*chunk_ids: str) -> Explanation:
    """The explanation of a passage of some chunks that covers the whole question."""
    return Explanation(rerank_score=1.0, cosine=1.0, coverage=1.0, route=RouteExplanation(), chunk_ids=list(chunk_ids))
