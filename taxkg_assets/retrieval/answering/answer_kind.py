"""The kind of answer that passages support, and the signals that its confidence is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.table_cells import find_aptness, find_quoted_states, quote_cell
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.query.router import find_level, wants_summary
from taxkg_assets.retrieval.ranking.rerank import score_overlap
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.rules.models.guardrail import load_guardrail

_LIKELY = 0.5
"""Probability from which a cell that leads the ranking is the answer, whatever else supports it."""


def state_confidence(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> float:
    """Return the probability that an answer from the ranked passages contains what the question asks for.

    Args:
        searcher: Search that ranked them.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first.
    """
    kind, signals = find_kind(searcher, question, ranking, results=results)
    return guardrail.read_confidence(guardrail.score_kind(kind, signals), kind) if signals else 0.0


def find_kind(
    searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]
) -> tuple[str, dict[str, float]]:
    """Classify the answer that passages support, and return the signals of its confidence.

    For a question that asks which documents exist, only the coverage of its words by the best document counts: several
    documents on one topic are no sign of doubt.

    Args:
        searcher: Search that ranked them.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first.

    Returns:
        Kind of the answer, and its signals; no signals without results.
    """
    if not results:
        return guardrail.PASSAGES, {}
    intent = ranking.route.intent
    if find_level(intent) == "document" and not wants_summary(intent):
        known_share = sum(weight > 0 for weight in ranking.query_term_idf.values()) / max(
            1, len(ranking.query_term_idf)
        )
        best_coverage = max(result.via.coverage for result in results)
        return guardrail.DOCUMENTS, {"coverage": known_share * best_coverage}
    evidence = find_evidence(searcher, question, ranking, results=results)
    signals = guardrail.find_signals(evidence, documents=len(searcher.facts.documents))
    signals_by_kind: dict[str, dict[str, float]] = {guardrail.PASSAGES: signals}
    if quote_cell(ranking, results[0]):
        coverage = score_overlap(ranking.query_term_idf, frozenset(find_terms(ranking.cell)))
        signals_by_kind = {guardrail.CELL: {"evidence": signals["evidence"], "coverage": coverage}}
        relevance = guardrail.score_kind(guardrail.CELL, signals_by_kind[guardrail.CELL])
        if guardrail.read_confidence(relevance, guardrail.CELL) >= _LIKELY:
            return next(iter(signals_by_kind.items()))
    if aptness := find_aptness(searcher, question, ranking):
        signals_by_kind[guardrail.TABLE] = {"aptness": aptness}
    return max(signals_by_kind.items(), key=lambda kind_and_signals: guardrail.score_kind(*kind_and_signals))


@lru_cache(maxsize=512)
def _find_distinct_terms(text: str) -> frozenset[str]:
    """Return the terms of a passage; cached, as comparisons of searches read the same passages again."""
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
    max_depth = max(load_guardrail().passages.values())
    all_terms = searcher.passages.columns["terms"]
    candidate_terms = [all_terms[found.row].split(" ") for found in ranking.candidates[:max_depth]]
    passage_terms = [_find_distinct_terms(f"{row.heading_path} {row.text}") for row in results[:max_depth]]
    evidence = guardrail.compute_features(
        question,
        ranking,
        results=results,
        facts=searcher.facts,
        catalog=searcher.catalog,
        passage_terms=passage_terms,
        candidate_terms=candidate_terms,
    )
    if evidence["foreign_place"] and _is_listed_jurisdiction(searcher, question, ranking):
        evidence["foreign_place"] = 0.0
    return evidence


def _is_listed_jurisdiction(searcher: Searcher, question: str, ranking: Ranking) -> bool:
    """Return whether a state in the question only selects a row of a table, such as a mailing address by state."""
    is_requested = bool(ranking.route.forms) or find_aptness(searcher, question, ranking) >= _LIKELY
    return is_requested and find_quoted_states(searcher, question, ranking).issuperset(ranking.route.places)
