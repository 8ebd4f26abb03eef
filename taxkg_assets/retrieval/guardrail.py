"""Whether to answer at all: relevance from 0 to 10, and what follows from it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from taxkg_assets.retrieval.facts import DocumentFacts
from taxkg_assets.retrieval.lexical import find_terms
from taxkg_assets.retrieval.results import Candidate, Ranking, Result
from taxkg_assets.retrieval.router import Catalog, Route, find_missing_keys
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.loader import load_family, load_rules

ANSWER, GENERAL, SILENCE = "answer", "general", "silence"


def score_relevance(evidence: Mapping[str, float], *, documents: int) -> float:
    """Grade from 0 to 10 how likely it is that the passages answer the question, from what speaks for and against."""
    return grade_confidence(score_confidence(evidence, documents=documents))


def score_confidence(evidence: Mapping[str, float], *, documents: int) -> float:
    """Probability that the answer contains what is needed; 0 without evidence.

    Args: documents: number of documents that were searched; of many, more are near and wrong.
    """
    if not evidence:
        return 0.0
    fitted = load_family("guardrail")["confidence"]
    signals = find_signals(evidence, documents=documents)
    return _sigmoid(fitted["bias"] + sum(fitted[name] * value for name, value in signals.items()))


def find_signals(evidence: Mapping[str, float], *, documents: int) -> dict[str, float]:
    """What the probability is computed from: the sum of the evidence, the lead of the first passage, and the size."""
    return {"evidence": sum_evidence(evidence), "gap": evidence["gap"], "size": math.log10(max(1, documents))}


def sum_evidence(evidence: Mapping[str, float]) -> float:
    """The weighted sum of what speaks for and against an answer, as log odds that the documents have one."""
    weights = load_family("guardrail")["weights"]
    return float(weights["bias"] + sum(weights[name] * value for name, value in evidence.items()))


def grade_confidence(confidence: float) -> float:
    """The relevance of a probability: 8 where an answer begins to pay, 7 where guidance does (`costs`)."""
    if not 0.0 < confidence < 1.0:
        return 10.0 * confidence
    slope, level = _find_scale()
    return 10.0 * _sigmoid(level + slope * _logit(confidence))


def read_confidence(relevance: float) -> float:
    """The probability of a relevance: the inverse of `grade_confidence`."""
    if not 0.0 < relevance < 10.0:
        return relevance / 10.0
    slope, level = _find_scale()
    return _sigmoid((_logit(relevance / 10.0) - level) / slope)


def _find_scale() -> tuple[float, float]:
    """Slope and level of the line, in log odds, from probabilities to relevance."""
    points = load_family("guardrail")["costs"].values()
    (low, grade_low), (high, grade_high) = sorted((_find_bound(one["cost"]), one["relevance"] / 10) for one in points)
    slope = (_logit(grade_high) - _logit(grade_low)) / (_logit(high) - _logit(low))
    return slope, _logit(grade_high) - slope * _logit(high)


def _find_bound(cost: float) -> float:
    """The probability from which it pays to speak, a right answer being worth 1 and a wrong one costing `cost`."""
    return cost / (1.0 + cost)


def _sigmoid(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))


def _logit(probability: float) -> float:
    return math.log(probability / (1.0 - probability))


def find_evidence(
    question: str,
    ranking: Ranking,
    *,
    results: Sequence[Result],
    facts: DocumentFacts,
    catalog: Catalog,
    terms: Sequence[frozenset[str]],
    rows: Sequence[Sequence[str]],
) -> dict[str, float]:
    """What speaks for and against an answer: fit of the passages, and what the question names that is not here.

    Args:    terms: search terms of each passage, in the order of `results`. rows: those of the rows of the first
             candidates, in their order, as they follow each other.
    Returns: features by name, each within 0..1; none where nothing was found.
    """
    if not results:
        return {}
    depth = load_family("guardrail")["passages"]
    route, full = ranking.route, load_family("guardrail")["full"]
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
        "foreign_place": float(bool(route.places) and not set(route.places) & set(facts.places)),
        "foreign_country": float(_is_abroad(question, frozenset(ranking.wanted), rows[: depth["mentions"]])),
        "advice": float(any(rule.pattern.search(question) for rule in load_rules("guardrail", "advice"))),
        "own_papers": float(any(rule.pattern.search(question) for rule in load_rules("guardrail", "own_papers"))),
        "single_fact": float(_asks_fact(question) and not is_table),
        "retrievers": _score_retrievers(ranking),
        "mean_cosine": sum(row.cosine for row in ranking.candidates[: depth["mean"]]) / depth["mean"],
        "gap": min(1.0, max(0.0, ranking.candidates[0].score - deep.score) / full["gap"]),
        **_part_score(ranking),
        "held_words": _score_held(ranking, rows[: depth["words"]]),
        "likeness": _score_likeness(rows[: depth["likeness"]], ranking),
        "scattered": _score_scattered(ranking.candidates[: depth["scattered"]], facts),
        "length": min(1.0, len(question.split()) / full["length"]),
    }


def _score_held(ranking: Ranking, rows: Sequence[Sequence[str]]) -> float:
    """How many of the question's words one row holds: two of three say less than eight of twelve.

    A short question whose words stand together in a row says little, but all that it can; words that a row holds far
    apart are not one matter.
    """
    full, wanted = load_family("guardrail")["full"], frozenset(ranking.wanted)
    most = max(len(wanted.intersection(row)) for row in rows)
    least = full["held_whole"] if any(_stand_together(wanted, row) for row in rows) else 0.0
    return min(1.0, max(float(least), most / float(full["held_words"])))


def _stand_together(words: frozenset[str], row: Sequence[str]) -> bool:
    """Whether a row holds all words, and not far from each other."""
    near = load_family("guardrail")["full"]["together"] * len(words)
    last: dict[str, int] = {}
    for place, word in enumerate(row):
        if word in words:
            last[word] = place
            if len(last) == len(words) and place - min(last.values()) < near:
                return True
    return False


def _score_likeness(rows: Sequence[Sequence[str]], ranking: Ranking) -> float:
    """Share of its words that a row has in common with another one, the question's own left out.

    What answers a question stands among passages of one subject; what only shares words with it, among many.
    """
    others = [frozenset(row) - ranking.wanted.keys() for row in rows]
    shares = [len(one & other) / max(1, min(len(one), len(other))) for one, other in combinations(others, 2)]
    mean = sum(shares) / len(shares) if shares else 1.0
    return min(1.0, mean / float(load_family("guardrail")["full"]["likeness"]))


def _score_scattered(candidates: Sequence[Candidate], facts: DocumentFacts) -> float:
    """0 where the first candidates are of one document, 1 where each is of another."""
    documents = {int(facts.number_of[candidate.row]) for candidate in candidates}
    return (len(documents) - 1) / max(1, len(candidates) - 1)


def _is_named(form: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-])", text) is not None


def _lacks_years(
    route: Route, facts: DocumentFacts, results: Sequence[Result], terms: Sequence[frozenset[str]]
) -> bool:
    """No year asked for is one of the first passages' documents, or stands in the passages."""
    found = {result.document for result in results}
    known = set().union(*(row["years"] for row in facts.documents if row["document_id"] in found))
    held = frozenset().union(*terms[: len(results)])
    return bool(route.years) and not any(year in known or str(year) in held for year in route.years)


def _asks_fact(question: str) -> bool:
    return any(rule.pattern.search(question) for rule in load_rules("guardrail", "single_facts"))


def _part_score(ranking: Ranking) -> dict[str, float]:
    """The ranker's score of the first passage, taken apart.

    Whoever names a form, a year or a place gets passages of it, whatever else he asks; so what these add to the score
    is told apart from the rest.
    """
    own = load_family("guardrail")
    weights, features = load_family("ranking")["weights"], ranking.features
    named = float(sum(weights[name] * features[name][0] for name in own["named"] if name in features))
    parts = {"named": named, "fit": ranking.candidates[0].score - named}
    return {name: min(1.0, max(0.0, value / own["full"][name])) for name, value in parts.items()}


def _is_abroad(question: str, wanted: frozenset[str], rows: Sequence[Sequence[str]]) -> bool:
    """The question names another country, and no row speaks of it together with anything else that is asked."""
    for match in (match for rule in load_rules("router", "countries") for match in rule.pattern.finditer(question)):
        named = frozenset(find_terms(match.group()))
        matters = [named | {word} for word in wanted - named] or [named]
        if not any(_stand_together(words, row) for row in rows for words in matters):
            return True
    return False


def _score_retrievers(ranking: Ranking) -> float:
    """How high both retrievers rank the first passage: 1 where it is the first of each."""
    first, unranked = ranking.candidates[0], load_family("ranking")["retrievers"]["depth"]
    return (1 / (first.lexical_rank or unranked) + 1 / (first.vector_rank or unranked)) / 2


def _lacks_edition(route: Route, facts: DocumentFacts) -> bool:
    """The form asked for is here, but not of the years asked for.

    Forms that come yearly are for their years alone; of the others each edition holds until the next one, so only what
    is older than the first one here is missing.
    """
    editions = [row for row in facts.documents if set(split_forms(row["document_form"])) & set(route.forms)]
    if not route.years or not editions or any(row["years"] & set(route.years) for row in editions):
        return False
    if all(row["tax_year"] is not None for row in editions):
        return True
    return all(row["years"] and max(route.years) < min(row["years"]) for row in editions)


def find_mode(relevance: float, *, answer_at: float, guide_at: float, is_on: bool = True) -> str:
    """Answer, general guidance or silence; always an answer when the guardrail is off."""
    if not is_on or relevance >= answer_at:
        return ANSWER
    return GENERAL if relevance >= guide_at else SILENCE
