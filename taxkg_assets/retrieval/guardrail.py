"""Whether to answer at all: relevance from 0 to 10, and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from taxkg_assets.retrieval.rerank import DocumentFacts, score_overlap
from taxkg_assets.retrieval.router import covers_key
from taxkg_assets.retrieval.search import Ranking, Result
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.loader import load_family

ANSWER, GENERAL, SILENCE = "answer", "general", "silence"


def score_relevance(
    ranking: Ranking, results: Sequence[Result], *, facts: DocumentFacts, terms: Sequence[frozenset[str]]
) -> float:
    """Grade from 0 to 10 how likely it is that the passages answer the question.

    Args: terms: search terms of each passage, in the order of `results`.
    """
    if not results:
        return 0.0
    rules = load_family("guardrail")
    weights, depth = rules["weights"], rules["passages"]
    held = frozenset().union(*terms[: depth["coverage"]])
    unknown = sum(weight == 0.0 for weight in ranking.wanted.values())
    route = ranking.route
    features = {
        "bias": 1.0,
        "cosine": max(candidate.cosine for candidate in ranking.candidates[: depth["cosine"]]),
        "coverage": score_overlap(ranking.wanted, held),
        "key_match": float(any(covers_key(row.anchor_key, route.keys) for row in results[: depth["coverage"]])),
        "unknown_form": float(bool(route.unknown_forms)),
        "missing_year": float(_lacks_years(ranking, facts, held)),
        "missing_edition": float(_lacks_edition(ranking, facts)),
        "unknown_terms": unknown / max(1, len(ranking.wanted)),
    }
    total = sum(weights[name] * value for name, value in features.items())
    return 10.0 / (1.0 + math.exp(-total))


def _lacks_years(ranking: Ranking, facts: DocumentFacts, held: frozenset[str]) -> bool:
    """Every year asked for is unknown to the documents and to the passages found."""
    years = ranking.route.years
    known = set().union(*(row["years"] for row in facts.documents))
    return bool(years) and not any(year in known or str(year) in held for year in years)


def _lacks_edition(ranking: Ranking, facts: DocumentFacts) -> bool:
    """The form asked for comes in yearly editions here, but not in one of the years asked for."""
    route = ranking.route
    editions = [row for row in facts.documents if set(split_forms(row["document_form"])) & set(route.forms)]
    yearly = [row for row in editions if row["tax_year"] is not None]
    if not route.years or not yearly or len(yearly) < len(editions):
        return False
    return not any(row["years"] & set(route.years) for row in editions)


def find_mode(relevance: float, *, answer_at: float, guide_at: float, is_on: bool = True) -> str:
    """Answer, general guidance or silence; always an answer when the guardrail is off."""
    if not is_on or relevance >= answer_at:
        return ANSWER
    return GENERAL if relevance >= guide_at else SILENCE
