"""The kind of answer that passages lead to, and the signals that its confidence is read from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.table_cells import find_aptness, find_listed_places, quote_cell
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.query.router import find_level, wants_summary
from taxkg_assets.retrieval.ranking.rerank import score_overlap
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.rules.models.guardrail import load_guardrail

_LIKELY = 0.5
"""Probability from which nothing else need support a cell that leads the ranking."""


def score_results(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> float:
    """Grade how likely the ranked passages answer the question.

    Args:
        searcher: Search that ranked them.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first.

    Returns:
        Relevance from 0 to 10.
    """
    kind, signals = find_kind(searcher, question, ranking, results=results)
    return guardrail.score_kind(kind, signals) if signals else 0.0


def find_kind(
    searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]
) -> tuple[str, dict[str, float]]:
    """Classify the answer that passages support, and return the signals of its confidence.

    For a question that asks which documents exist, one document that covers the words of the topic suffices: several
    documents on the topic are no sign of ambiguity.

    Args:
        searcher: Search that ranked them.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first.

    Returns:
        Kind and signals; no signals without results.
    """
    if not results:
        return guardrail.PASSAGES, {}
    intent = ranking.route.intent
    if find_level(intent) == "document" and not wants_summary(intent):
        known = sum(weight > 0 for weight in ranking.query_term_idf.values()) / max(1, len(ranking.query_term_idf))
        most = max(result.via.coverage for result in results)
        return guardrail.DOCUMENTS, {"coverage": known * most}
    evidence = find_evidence(searcher, question, ranking, results=results)
    signals = guardrail.find_signals(evidence, documents=len(searcher.facts.documents))
    kinds: dict[str, dict[str, float]] = {guardrail.PASSAGES: signals}
    if quote_cell(ranking, results[0]):
        coverage = score_overlap(ranking.query_term_idf, frozenset(find_terms(ranking.cell)))
        kinds = {guardrail.CELL: {"evidence": signals["evidence"], "coverage": coverage}}
        if guardrail.read_confidence(guardrail.score_kind(guardrail.CELL, kinds[guardrail.CELL])) >= _LIKELY:
            return next(iter(kinds.items()))
    if aptness := find_aptness(searcher, question, ranking):
        kinds[guardrail.TABLE] = {"aptness": aptness}
    return max(kinds.items(), key=lambda own: guardrail.score_kind(*own))


@lru_cache(maxsize=512)
def _find_distinct_terms(text: str) -> frozenset[str]:
    """Return the terms of a passage; cached, as systems that are compared read the same passages."""
    return frozenset(find_terms(text))


def find_evidence(
    searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]
) -> dict[str, float]:
    """Compute the features from which the guardrail estimates whether the passages answer the question.

    Args:
        searcher: Search that ranked them.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first.

    Returns:
        Features by name, each from 0 to 1; empty without results.
    """
    deepest = max(load_guardrail().passages.values())
    all_terms = searcher.passages.columns["terms"]
    rows = [all_terms[found.row].split(" ") for found in ranking.candidates[:deepest]]
    terms = [_find_distinct_terms(f"{row.heading_path} {row.text}") for row in results[:deepest]]
    evidence = guardrail.compute_features(
        question, ranking, results=results, facts=searcher.facts, catalog=searcher.catalog, terms=terms, rows=rows
    )
    if evidence["foreign_place"] and _is_listed(searcher, question, ranking):
        evidence["foreign_place"] = 0.0
    return evidence


def _is_listed(searcher: Searcher, question: str, ranking: Ranking) -> bool:
    """Return whether a state only chooses the row of a table, as that of the address to which a form is mailed."""
    is_requested = bool(ranking.route.forms) or find_aptness(searcher, question, ranking) >= _LIKELY
    return is_requested and find_listed_places(searcher, question, ranking).issuperset(ranking.route.places)
