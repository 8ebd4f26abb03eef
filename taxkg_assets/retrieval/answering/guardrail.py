"""Guardrail: grade an answer from 0 to 10, and decide whether to give it, to give general guidance, or to abstain."""

from __future__ import annotations

import math
import re
import unicodedata
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
STANDARD_SECTION, PURPOSE, OUTDATED_SECTION = "standard_section", "purpose", "outdated_section"
"""Kinds of answers.

- `PASSAGES`: quotes from passages.
- `CELL`: the table cell that leads the ranking.
- `TABLE`: a cell of another table among the passages.
- `CHANGES`: changes between editions.
- `DOCUMENTS`: a list of documents.
- `SUMMARY`: the summary of a document.
- `DESTINATION`: statements of where an amount goes or comes from.
- `LINE`: the text that a form prints for a line.
- `DEFINITION`: definitions of a term.
- `STANDARD_SECTION`: a section of instructions, such as who must file.
- `PURPOSE`: the purpose of a form.
- `OUTDATED_SECTION`: a section of a form that is not its current edition, such as due dates of another year.
"""


def score_kind(kind: str, signals: Mapping[str, float]) -> float:
    """Grade how likely an answer of a kind contains what the question asks for.

    Args:
        kind: One of the kinds above, such as `PASSAGES`.
        signals: Inputs of the calibration of this kind, by name: those of `find_signals` for passages, else e.g.
            `coverage`.

    Returns:
        Relevance from 0 to 10.
    """
    weights = load_guardrail().confidence[kind]
    logit = sum(weight * (1.0 if signal == "bias" else signals[signal]) for signal, weight in weights.items())
    return grade_confidence(_sigmoid(logit), kind)


def score_relevance(evidence: Mapping[str, float], *, documents: int) -> float:
    """Grade how likely passages answer the question, from the features of the guardrail.

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
        documents: Number of documents that were searched; the more there are, the more passages are similar but wrong.

    Returns:
        Probability; 0 without evidence.
    """
    if not evidence:
        return 0.0
    return read_confidence(score_kind(PASSAGES, find_signals(evidence, documents=documents)))


def find_signals(evidence: Mapping[str, float], *, documents: int) -> dict[str, float]:
    """Compute the inputs of the calibrated probability of an answer from passages.

    Args:
        evidence: Features from `compute_features`.
        documents: Number of documents that were searched.

    Returns:
        `evidence`, the weighted sum of the features in log odds; `gap` from 0 to 1, the lead of the first passage,
        reduced where the evidence is weak; and `size`, the decimal logarithm of the number of documents.
    """
    total, gap_range = sum_evidence(evidence), load_guardrail().gap_counts
    gap_share = (total - gap_range.above) / (gap_range.fully - gap_range.above)
    gap = evidence["gap"] * min(1.0, max(0.0, gap_share))
    return {"evidence": total, "gap": gap, "size": math.log10(max(1, documents))}


def sum_evidence(evidence: Mapping[str, float]) -> float:
    """Return the weighted sum of the features, the log odds that the documents contain an answer.

    Args:
        evidence: Features from `compute_features`.
    """
    weights = load_guardrail().weights
    return float(weights["bias"] + sum(weights[name] * value for name, value in evidence.items()))


def grade_confidence(confidence: float, kind: str = PASSAGES) -> float:
    """Convert a probability to a relevance grade: 8 where an answer pays, 7 where guidance pays.

    An answer pays if the gain of a right one outweighs the cost of a wrong one (rules/guardrail.yaml, `costs`).

    Args:
        confidence: Probability.
        kind: Kind of the answer.

    Returns:
        Relevance from 0 to 10.
    """
    if not 0.0 < confidence < 1.0:
        return 10.0 * confidence
    slope, level = _find_scale(kind)
    return 10.0 * _sigmoid(level + slope * _logit(confidence))


def read_confidence(relevance: float, kind: str = PASSAGES) -> float:
    """Convert a relevance grade (0 to 10) to a probability; the inverse of `grade_confidence`.

    Args:
        relevance: Grade from 0 to 10.
        kind: Kind of the answer.

    Returns:
        Probability.
    """
    if not 0.0 < relevance < 10.0:
        return relevance / 10.0
    slope, level = _find_scale(kind)
    return _sigmoid((_logit(relevance / 10.0) - level) / slope)


def _find_scale(kind: str) -> tuple[float, float]:
    """Return slope and level of the line that converts log odds of probabilities to log odds of grades."""
    costs = load_guardrail().costs
    bounds = ((_find_bound(row.by_kind.get(kind, row.cost)), row.relevance / 10) for row in costs.values())
    (low, grade_low), (high, grade_high) = sorted(bounds)
    slope = (_logit(grade_high) - _logit(grade_low)) / (_logit(high) - _logit(low))
    return slope, _logit(grade_high) - slope * _logit(high)


def _find_bound(cost: float) -> float:
    """Return the probability from which an answer pays if a right answer gains 1 and a wrong one costs `cost`."""
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
    passage_terms: Sequence[frozenset[str]],
    candidate_terms: Sequence[Sequence[str]],
) -> dict[str, float]:
    """Compute the features of the guardrail: how well the passages fit, and what the corpus lacks.

    Args:
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first.
        facts: Columns of documents.
        catalog: Forms of the corpus.
        passage_terms: Search terms of each passage, in the order of `results`.
        candidate_terms: Search terms of each of the first candidates, in printed order and with repeats.

    Returns:
        Features by name, each from 0 to 1; empty without results.
    """
    if not results:
        return {}
    rules, route = load_guardrail(), ranking.route
    depth = rules.passages  # number of first passages that each feature is computed from
    first_texts = " ".join(f"{row.heading_path} {row.text}" for row in results[: depth["mentions"]]).casefold()
    absent_forms = (*route.unknown_forms, *route.mentioned_forms)
    question_terms = frozenset(ranking.query_term_idf)
    is_table = bool(ranking.features) and ranking.features["table"][0] > 0
    facts_of_question = {
        "missing_key": bool(find_missing_keys(route, catalog)),
        "unknown_form": bool(route.unknown_forms),
        "unmentioned_form": any(not _names_form_in(form, first_texts) for form in absent_forms),
        "missing_year": _lacks_years(route, facts, results[: depth["years"]], passage_terms),
        "missing_edition": _lacks_edition(route, facts),
        "foreign_place": bool(route.places) and set(route.places).isdisjoint(facts.jurisdictions),
        "foreign_country": _is_about_other_country(question, question_terms, candidate_terms[: depth["mentions"]]),
        "advice": any(rule.pattern.search(question) for rule in rules.advice),
        "needs_private_data": any(rule.pattern.search(question) for rule in rules.needs_private_data),
        "single_fact": _asks_for_single_fact(question) and not is_table,
    }
    return {
        "cosine": max(candidate.cosine for candidate in ranking.candidates[: depth["cosine"]]),
        **{name: float(is_so) for name, is_so in facts_of_question.items()},
        "retrievers": _score_retrievers(ranking),
        **_score_first_candidates(ranking, count=depth["mean"]),
        **_split_rank_score(ranking),
        "max_term_overlap": _score_most_words(ranking, candidate_terms[: depth["words"]]),
        "cohesion": _score_cohesion(candidate_terms[: depth["cohesion"]], ranking),
        "document_spread": _score_document_spread(ranking.candidates[: depth["document_spread"]], facts),
        "length": min(1.0, len(question.split()) / rules.full["length"]),
    }


def _score_first_candidates(ranking: Ranking, *, count: int) -> dict[str, float]:
    """Compute how near the first candidates are to the question, and how far the best one is above the last of them."""
    first = ranking.candidates[:count]
    score_gap = first[0].score - first[-1].score
    return {
        "mean_cosine": sum(candidate.cosine for candidate in first) / count,
        "gap": min(1.0, max(0.0, score_gap / load_guardrail().full["gap"])),
    }


def _score_most_words(ranking: Ranking, rows: Sequence[Sequence[str]]) -> float:
    """Score how many words of the question one row contains: eight of twelve count more than two of three.

    A row in which all words of the question are close together gets at least `full_overlap`, however short the
    question is.
    """
    full_values, question_terms = load_guardrail().full, frozenset(ranking.query_term_idf)
    max_overlap = max(len(question_terms.intersection(row)) for row in rows)
    has_all_together = any(_occur_together(question_terms, row) for row in rows)
    floor = full_values["full_overlap"] if has_all_together else 0.0
    return min(1.0, max(float(floor), max_overlap / float(full_values["max_term_overlap"])))


def _occur_together(words: frozenset[str], row: Sequence[str]) -> bool:
    """Return whether a row contains all words close together."""
    max_distance = load_guardrail().full["together"] * len(words)
    last_position: dict[str, int] = {}
    for position, word in enumerate(row):
        if word in words:
            last_position[word] = position
            if len(last_position) == len(words) and position - min(last_position.values()) < max_distance:
                return True
    return False


def _score_cohesion(rows: Sequence[Sequence[str]], ranking: Ranking) -> float:
    """Return the mean share of words that two rows have in common, without the words of the question.

    The first passages of an answerable question are on one subject; those that only share its words are on many.
    """
    other_words = [frozenset(row) - ranking.query_term_idf.keys() for row in rows]
    shares = [
        len(words & more_words) / max(1, min(len(words), len(more_words)))
        for words, more_words in combinations(other_words, 2)
    ]
    mean = sum(shares) / len(shares) if shares else 1.0
    return min(1.0, mean / float(load_guardrail().full["cohesion"]))


def _score_document_spread(candidates: Sequence[Candidate], facts: DocumentFacts) -> float:
    """Return how many documents the first candidates are from: 0 for one document, 1 if each is from another."""
    documents = {int(facts.number_by_row[candidate.row]) for candidate in candidates}
    return (len(documents) - 1) / max(1, len(candidates) - 1)


def _names_form_in(form: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-])", text) is not None


def _lacks_years(
    route: Route, facts: DocumentFacts, results: Sequence[Result], terms: Sequence[frozenset[str]]
) -> bool:
    """Return whether the first passages neither contain a requested year nor are from documents of such a year."""
    document_ids = {result.document for result in results}
    document_years = set().union(*(row["years"] for row in facts.documents if row["document_id"] in document_ids))
    printed_terms = frozenset().union(*terms[: len(results)])
    return bool(route.years) and not any(year in document_years or str(year) in printed_terms for year in route.years)


def _asks_for_single_fact(question: str) -> bool:
    return any(rule.pattern.search(question) for rule in load_guardrail().single_facts)


def _split_rank_score(ranking: Ranking) -> dict[str, float]:
    """Split the ranker's score of the first passage into the part of features that filter, and the rest.

    A question that names a form, a year or a state gets passages of these whatever else it is about, so that part says
    little about the fit of the passage.
    """
    rules = load_guardrail()
    weights, features = load_ranking().weights, ranking.features
    filter_score = float(sum(weights[name] * features[name][0] for name in rules.filter_features if name in features))
    score_parts = {
        "rank_score_from_filters": filter_score,
        "rank_score_residual": ranking.candidates[0].score - filter_score,
    }
    return {name: min(1.0, max(0.0, value / rules.full[name])) for name, value in score_parts.items()}


def _is_about_other_country(question: str, question_terms: frozenset[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a question names a foreign country that no row has close to another word of the question."""
    for match in (match for rule in load_router().countries for match in rule.pattern.finditer(question)):
        country_terms = frozenset(find_terms(match.group()))
        term_groups = [country_terms | {word} for word in question_terms - country_terms] or [country_terms]
        if not any(_occur_together(words, row) for row in rows for words in term_groups):
            return True
    return False


def _score_retrievers(ranking: Ranking) -> float:
    """Return the mean reciprocal rank of the first passage in both retrievers: 1 if it is first in each."""
    first, unranked = ranking.candidates[0], load_ranking().retrievers.depth
    return (1 / (first.lexical_rank or unranked) + 1 / (first.vector_rank or unranked)) / 2


def _lacks_edition(route: Route, facts: DocumentFacts) -> bool:
    """Return whether the corpus has a form of the question, but no edition for the requested years.

    An edition of a yearly form applies to its year; any other edition applies until the next one, so only years before
    the first edition are missing.
    """
    editions = [row for row in facts.documents if set(split_forms(row["document_form"])) & set(route.forms)]
    if not route.years or not editions or any(row["years"] & set(route.years) for row in editions):
        return False
    if all(row["tax_year"] is not None for row in editions):
        return True
    return all(row["years"] and max(route.years) < min(row["years"]) for row in editions)


def shares_script(question: str, texts: Sequence[str]) -> bool:
    """Return whether passages can be about a question that is mostly written in another script than the Latin one.

    Only its numbers and the names of forms match passages of another script, so that these match by chance.

    Args:
        question: The user's question.
        texts: Texts of the passages.

    Returns:
        True if most letters are Latin, or if the passages print most of the other letters.
    """
    letters = [letter for letter in question.casefold() if letter.isalpha()]
    other_letters = [letter for letter in letters if not unicodedata.name(letter, "").startswith("LATIN")]
    if 2 * len(other_letters) <= len(letters):
        return True
    printed = frozenset().union(*(text.casefold() for text in texts))
    return 2 * sum(letter in printed for letter in other_letters) > len(other_letters)


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
