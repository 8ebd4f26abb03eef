"""Guardrail: relevance from 0 to 10, and the decision whether to answer, give general guidance, or abstain."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.index.document_facts import DocumentFacts
from taxkg_assets.retrieval.query.router import Catalog, Route, find_missing_keys
from taxkg_assets.retrieval.results import Candidate, Ranking, Result
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.guardrail import load_guardrail
from taxkg_assets.rules.models.ranking import load_ranking
from taxkg_assets.rules.models.router import load_router

ANSWER, GUIDANCE, ABSTENTION = "answer", "guidance", "abstention"

PASSAGES, CELL, TABLE = "passages", "cell", "table"
CHANGES, DOCUMENTS, SUMMARY = "changes", "documents", "summary"
DESTINATION, LINE, DEFINITION = "destination", "line", "definition"
STANDARD_SECTION, PURPOSE = "standard_section", "purpose"
"""Kinds of answers: made of passages; a table cell that leads the ranking, or one of another table among the passages;
changes; a list of documents; a document's summary; statements of where an amount goes or comes from;
the words printed for a line; definitions of a term; a section of instructions; the purpose of a form."""


def score_kind(kind: str, signals: Mapping[str, float]) -> float:
    """Grade how likely an answer of a given kind contains what the question asks for.

    Args:
        kind: `PASSAGES`, `CELL`, `TABLE`, `CHANGES`, `DOCUMENTS`, `SUMMARY`, `DESTINATION`, `LINE`, `DEFINITION`,
            `STANDARD_SECTION` or `PURPOSE`.
        signals: Inputs of the calibration of this kind: those of `find_signals`, or `coverage` or `fit` from 0 to 1.

    Returns:
        Relevance from 0 to 10.
    """
    fitted = load_guardrail().confidence[kind]
    logit = sum(weight * (1.0 if name == "bias" else signals[name]) for name, weight in fitted.items())
    return grade_confidence(_sigmoid(logit))


def score_relevance(evidence: Mapping[str, float], *, documents: int) -> float:
    """Grade how likely passages answer the question, from the guardrail's features.

    Args:
        evidence: Features from `compute_features`.
        documents: Number of documents that were searched.

    Returns:
        Relevance from 0 to 10.
    """
    return score_kind(PASSAGES, find_signals(evidence, documents=documents)) if evidence else 0.0


def score_confidence(evidence: Mapping[str, float], *, documents: int) -> float:
    """Compute the probability that an answer quoted from passages contains what the question asks for.

    Args:
        evidence: Features from `compute_features`.
        documents: Number of documents that were searched; among many, more are similar and wrong.

    Returns:
        Probability; 0 without evidence.
    """
    if not evidence:
        return 0.0
    return read_confidence(score_kind(PASSAGES, find_signals(evidence, documents=documents)))


def find_signals(evidence: Mapping[str, float], *, documents: int) -> dict[str, float]:
    """Compute the inputs of the calibrated probability: weighted evidence, lead of the first passage, corpus size.

    Args:
        evidence: Features from `compute_features`.
        documents: Number of documents that were searched.

    Returns:
        `evidence` in log odds; `gap` from 0 to 1, reduced where the evidence for an answer is weak; and `size`, the
        decimal logarithm of the number of documents.
    """
    total, counts = sum_evidence(evidence), load_guardrail().gap_counts
    share = (total - counts.above) / (counts.fully - counts.above)
    gap = evidence["gap"] * min(1.0, max(0.0, share))
    return {"evidence": total, "gap": gap, "size": math.log10(max(1, documents))}


def sum_evidence(evidence: Mapping[str, float]) -> float:
    """Return the weighted sum of the features, the log odds that the documents contain an answer.

    Args:
        evidence: Features from `compute_features`.
    """
    weights = load_guardrail().weights
    return float(weights["bias"] + sum(weights[name] * value for name, value in evidence.items()))


def grade_confidence(confidence: float) -> float:
    """Convert a probability to a relevance grade by the thresholds for answer and guidance.

    Grade 8 is where an answer is worth its risk, grade 7 where guidance is (rules/guardrail.yaml, `costs`).

    Args:
        confidence: Probability.

    Returns:
        Relevance from 0 to 10.
    """
    if not 0.0 < confidence < 1.0:
        return 10.0 * confidence
    slope, level = _find_scale()
    return 10.0 * _sigmoid(level + slope * _logit(confidence))


def read_confidence(relevance: float) -> float:
    """Convert a relevance grade (0 to 10) to a probability; the inverse of `grade_confidence`.

    Args:
        relevance: Grade from 0 to 10.

    Returns:
        Probability.
    """
    if not 0.0 < relevance < 10.0:
        return relevance / 10.0
    slope, level = _find_scale()
    return _sigmoid((_logit(relevance / 10.0) - level) / slope)


def _find_scale() -> tuple[float, float]:
    """Return slope and level of the line, in log odds, from probabilities to relevance."""
    points = load_guardrail().costs.values()
    (low, grade_low), (high, grade_high) = sorted((_find_bound(one["cost"]), one["relevance"] / 10) for one in points)
    slope = (_logit(grade_high) - _logit(grade_low)) / (_logit(high) - _logit(low))
    return slope, _logit(grade_high) - slope * _logit(high)


def _find_bound(cost: float) -> float:
    """Return the probability from which an answer pays, where a right one gains 1 and a wrong one costs `cost`."""
    return cost / (1.0 + cost)


def _sigmoid(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))


def _logit(probability: float) -> float:
    return math.log(probability / (1.0 - probability))


def compute_features(
    question: str,
    ranking: Ranking,
    *,
    results: Sequence[Result],
    facts: DocumentFacts,
    catalog: Catalog,
    terms: Sequence[frozenset[str]],
    rows: Sequence[Sequence[str]],
) -> dict[str, float]:
    """Compute the features of the guardrail: how well the passages fit, and which named forms the corpus lacks.

    Args:
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first.
        facts: Columns of documents.
        catalog: Forms of the corpus.
        terms: Search terms of each passage, in the order of `results`.
        rows: Search terms of the first candidates' rows, in their order and with repeats.

    Returns:
        Features by name, each from 0 to 1; empty without results.
    """
    if not results:
        return {}
    depth = load_guardrail().passages
    route, full = ranking.route, load_guardrail().full
    shown = " ".join(f"{row.heading_path} {row.text}" for row in results[: depth["mentions"]]).casefold()
    deep = ranking.candidates[: depth["mean"]][-1]
    is_table = bool(ranking.features) and ranking.features["table"][0] > 0
    return {
        "cosine": max(candidate.cosine for candidate in ranking.candidates[: depth["cosine"]]),
        "missing_key": float(bool(find_missing_keys(route, catalog))),
        "unknown_form": float(bool(route.unknown_forms)),
        "unmentioned_form": float(
            any(not _is_named(form, shown) for form in (*route.unknown_forms, *route.mentioned_forms))
        ),
        "missing_year": float(_lacks_years(route, facts, results[: depth["years"]], terms)),
        "missing_edition": float(_lacks_edition(route, facts)),
        "foreign_place": float(bool(route.places) and not set(route.places) & set(facts.jurisdictions)),
        "foreign_country": float(_is_abroad(question, frozenset(ranking.query_term_idf), rows[: depth["mentions"]])),
        "advice": float(any(rule.pattern.search(question) for rule in load_guardrail().advice)),
        "needs_private_data": float(any(rule.pattern.search(question) for rule in load_guardrail().needs_private_data)),
        "single_fact": float(_asks_fact(question) and not is_table),
        "retrievers": _score_retrievers(ranking),
        "mean_cosine": sum(row.cosine for row in ranking.candidates[: depth["mean"]]) / depth["mean"],
        "gap": min(1.0, max(0.0, ranking.candidates[0].score - deep.score) / full["gap"]),
        **_part_score(ranking),
        "max_term_overlap": _score_most_words(ranking, rows[: depth["words"]]),
        "cohesion": _score_cohesion(rows[: depth["cohesion"]], ranking),
        "document_spread": _score_document_spread(ranking.candidates[: depth["document_spread"]], facts),
        "length": min(1.0, len(question.split()) / full["length"]),
    }


def _score_most_words(ranking: Ranking, rows: Sequence[Sequence[str]]) -> float:
    """Score how many of the question's words one row contains: two of three count less than eight of twelve.

    A short question whose words occur together in a row proves little, but all that it can; words that are far apart in
    a row do not belong to one subject.
    """
    full, wanted = load_guardrail().full, frozenset(ranking.query_term_idf)
    most = max(len(wanted.intersection(row)) for row in rows)
    least = full["full_overlap"] if any(_occur_together(wanted, row) for row in rows) else 0.0
    return min(1.0, max(float(least), most / float(full["max_term_overlap"])))


def _occur_together(words: frozenset[str], row: Sequence[str]) -> bool:
    """Return whether a row contains all words, and not far from each other."""
    near = load_guardrail().full["together"] * len(words)
    last: dict[str, int] = {}
    for place, word in enumerate(row):
        if word in words:
            last[word] = place
            if len(last) == len(words) and place - min(last.values()) < near:
                return True
    return False


def _score_cohesion(rows: Sequence[Sequence[str]], ranking: Ranking) -> float:
    """Return the share of words that rows have in common, without those of the question.

    The passages around an answer are on one subject; those that only share words with the question are on many.
    """
    others = [frozenset(row) - ranking.query_term_idf.keys() for row in rows]
    shares = [len(one & other) / max(1, min(len(one), len(other))) for one, other in combinations(others, 2)]
    mean = sum(shares) / len(shares) if shares else 1.0
    return min(1.0, mean / float(load_guardrail().full["cohesion"]))


def _score_document_spread(candidates: Sequence[Candidate], facts: DocumentFacts) -> float:
    """Return 0 where the first candidates are of one document, 1 where each is of another."""
    documents = {int(facts.number_by_row[candidate.row]) for candidate in candidates}
    return (len(documents) - 1) / max(1, len(candidates) - 1)


def _is_named(form: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-])", text) is not None


def _lacks_years(
    route: Route, facts: DocumentFacts, results: Sequence[Result], terms: Sequence[frozenset[str]]
) -> bool:
    """Return whether no requested year is that of the first passages' documents, or occurs in the passages."""
    found = {result.document for result in results}
    known = set().union(*(row["years"] for row in facts.documents if row["document_id"] in found))
    printed = frozenset().union(*terms[: len(results)])
    return bool(route.years) and not any(year in known or str(year) in printed for year in route.years)


def _asks_fact(question: str) -> bool:
    return any(rule.pattern.search(question) for rule in load_guardrail().single_facts)


def _part_score(ranking: Ranking) -> dict[str, float]:
    """Split the ranker's score of the first passage.

    A question that names a form, a year or a place gets passages of it, whatever else it is about; so the share of
    these features is separated from the rest.
    """
    rules = load_guardrail()
    weights, features = load_ranking().weights, ranking.features
    named = float(sum(weights[name] * features[name][0] for name in rules.filter_features if name in features))
    parts = {"rank_score_from_filters": named, "rank_score_residual": ranking.candidates[0].score - named}
    return {name: min(1.0, max(0.0, value / rules.full[name])) for name, value in parts.items()}


def _is_abroad(question: str, wanted: frozenset[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the question names another country that no row covers together with its other words."""
    for match in (match for rule in load_router().countries for match in rule.pattern.finditer(question)):
        named = frozenset(find_terms(match.group()))
        matters = [named | {word} for word in wanted - named] or [named]
        if not any(_occur_together(words, row) for row in rows for words in matters):
            return True
    return False


def _score_retrievers(ranking: Ranking) -> float:
    """Return how high both retrievers rank the first passage: 1 where it is the first of each."""
    first, unranked = ranking.candidates[0], load_ranking().retrievers.depth
    return (1 / (first.lexical_rank or unranked) + 1 / (first.vector_rank or unranked)) / 2


def _lacks_edition(route: Route, facts: DocumentFacts) -> bool:
    """Return whether the corpus has the requested form, but not of the requested years.

    Yearly forms apply to their years alone; of the others each edition applies until the next one, so only what is
    older than the first edition is missing.
    """
    editions = [row for row in facts.documents if set(split_forms(row["document_form"])) & set(route.forms)]
    if not route.years or not editions or any(row["years"] & set(route.years) for row in editions):
        return False
    if all(row["tax_year"] is not None for row in editions):
        return True
    return all(row["years"] and max(route.years) < min(row["years"]) for row in editions)


def find_outcome(relevance: float, *, answer_at: float, guide_at: float, is_on: bool = True) -> str:
    """Decide between an answer, general guidance and abstention.

    Args:
        relevance: Grade from 0 to 10.
        answer_at: Relevance from which an answer is given.
        guide_at: Relevance from which general guidance is given.
        is_on: Whether the guardrail is on; without it there is always an answer.

    Returns:
        `ANSWER`, `GUIDANCE` or `ABSTENTION`.
    """
    if not is_on or relevance >= answer_at:
        return ANSWER
    return GUIDANCE if relevance >= guide_at else ABSTENTION
