"""The feature ranker: compute features of each candidate row, and sum these with weights (rules/ranking.yaml)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.lexical import find_distinct_terms
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.signals import Signals
from taxkg_assets.retrieval.query.filers import find_heading_filers
from taxkg_assets.retrieval.query.form_match import score_forms
from taxkg_assets.retrieval.query.router import Route, covers_key, find_listed_codes
from taxkg_assets.rules.models.ranking import load_ranking

Value = TypeVar("Value", bound=Hashable)


def compute_features(
    signals: Signals,
    route: Route,
    *,
    term_idf: Mapping[str, float],
    question_terms: Sequence[str],
    facts: PassageFacts,
) -> dict[str, Floats]:
    """Compute every ranking feature of every row.

    Args:
        signals: Search signals of the rows, and their cells.
        route: Route of the question.
        term_idf: Inverse document frequency of each term of the question.
        question_terms: Terms of the question in order, with repeats.
        facts: Columns of passages.

    Returns:
        Features by name, each of shape (rows,) with values from -1 to 1.
    """
    phrases = {f"{first} {second}" for first, second in pairwise(question_terms) if first != second}
    number_weights = {number_term: float(number_term[0].isdigit()) for number_term in term_idf}
    return {
        "lexical": signals.lexical,
        "vector": signals.vector,
        "fused": signals.fused,
        "coverage": _score_contained(term_idf, signals.contained_or_synonym),
        "heading": _score_each(signals.headings, lambda cell: score_overlap(term_idf, _heading_terms(cell))),
        "phrase": _score_phrases(phrases, signals.terms),
        "number": _score_contained(number_weights, signals.contained),
        "section_vector": signals.section_similarity,
        "token_match": signals.token_similarity * float(not route.keys),
        "special_case": _score_special_cases(signals, route, facts=facts),
        "example": facts.is_example[signals.rows],
        "section": _share_of_group(signals.fused, facts.anchor_number[signals.rows]),
        "document": _share_of_group(signals.fused, signals.document_number),
        **{name: values[signals.document_number] for name, values in signals.document_features.items()},
        **_score_route(signals, route, facts=facts),
        "tagged": _score_each(signals.labels, lambda cell: score_overlap(term_idf, cell)),
        "table": facts.is_table[signals.rows],
        "boilerplate": facts.is_boilerplate[signals.rows],
    }


def _score_each(values: Sequence[Value], score: Callable[[Value], float]) -> Floats:
    """Return the score of each value, computing it once for equal values."""
    score_by_value = {value: score(value) for value in dict.fromkeys(values)}
    return np.array([score_by_value[value] for value in values])


def _score_contained(weights: Mapping[str, float], contained: npt.NDArray[np.bool_]) -> Floats:
    """Return the weighted share of terms that each row contains; `contained` has the shape (terms, rows)."""
    scores, total = np.zeros(contained.shape[1]), sum(weights.values())
    for weight, contains_term in zip(weights.values(), contained, strict=True):
        scores += weight * contains_term
    return scores / total if total else scores


def _score_phrases(phrases: set[str], terms: Sequence[str]) -> Floats:
    """Return the share of two-term phrases that each row contains; polars takes half the time of Python here."""
    if not phrases:
        return np.zeros(len(terms))
    column = pl.DataFrame({"terms": terms}, schema={"terms": pl.String})
    contained = (pl.col("terms").str.contains(phrase, literal=True) for phrase in phrases)
    counts: Floats = column.select(pl.sum_horizontal(*contained)).to_series().to_numpy().astype(np.float64)
    return counts / len(phrases)


def _share_of_group(scores: Floats, groups: Ints) -> Floats:
    """Return for each row the sum over its group, divided by the highest sum: nearby passages confirm a topic."""
    if not len(groups):
        return np.zeros(0)
    _, group_ixs = np.unique(groups, return_inverse=True)
    sums = np.bincount(group_ixs, weights=scores)
    shares: Floats = (sums / max(float(sums.max()), 1e-9))[group_ixs]
    return shares


@lru_cache(maxsize=100_000)
def _heading_terms(heading_path: str) -> frozenset[str]:
    """Return the terms of all headings below the title, or of the title if it is the only heading."""
    headings = heading_path.split(" > ")
    return frozenset[str]().union(*(find_distinct_terms(heading) for heading in headings[1:] or headings))


def _score_special_cases(signals: Signals, route: Route, *, facts: PassageFacts) -> Floats:
    """Return 1 for rows under a heading for special filers that the question does not name, such as farmers, else 0."""
    if route.unknown_forms or route.keys:
        return np.zeros(len(signals.rows))
    named_filers = frozenset(route.filers)
    is_special = _score_each(signals.headings, lambda heading: float(not find_heading_filers(heading) <= named_filers))
    is_requested_form = score_forms(facts.forms, route)[facts.form_number[signals.rows]] > 0
    return is_special * ~is_requested_form


def _score_route(signals: Signals, route: Route, *, facts: PassageFacts) -> dict[str, Floats]:
    """Compute the features that depend on form, key and perspective of the question."""
    short = load_ranking().short_words
    rows, keys, texts = signals.rows, signals.keys, signals.texts
    form = score_forms(facts.forms, route)[facts.form_number[rows]]
    key = other_key = np.zeros(len(rows))
    if route.keys:
        key = _score_each(list(zip(keys, texts, strict=True)), lambda key_and_text: _score_key(*key_and_text, route))
        other_key = _score_each(keys, lambda anchor_key: float(_is_other_key(anchor_key, route)))
    perspective, is_table = facts.perspective_number[rows], facts.is_table[rows]
    has_both = facts.has_filer_and_recipient[facts.form_number[rows]]  # a form with one audience is for the taxpayer
    same_audience, opposite_audience = (
        np.array([route.certainty * (name == audience) for name in facts.perspectives])[perspective] * has_both
        for audience in (route.perspective, _OPPOSITE_AUDIENCE.get(route.perspective))
    )
    is_general = np.array([name in ("publication", "other") for name in facts.perspectives])[perspective]
    return {
        "form": form,
        "key": key,
        "other_key": other_key,
        "key_opening": key * facts.opens_anchor[rows],
        "key_of_form": key * np.maximum(form, 0.0),
        "same_audience": same_audience,
        "opposite_audience": opposite_audience,
        "general": is_general * (route.certainty * (route.perspective == "filer")),
        "face": np.array([name == "face" for name in facts.perspectives])[perspective] * (1.0 - is_table),
        "short": (np.asarray(facts.word_counts)[rows] <= short).astype(np.float64),
        "amount_table": is_table * float(route.wants_amount),
    }


_OPPOSITE_AUDIENCE = {"filer": "recipient", "recipient": "filer"}


def _score_key(anchor_key: str | None, text: str, route: Route) -> float:
    """Return 1 for a requested box, line or code; 0.5 for the other text of a box if one of its codes is requested."""
    codes = route.codes
    if codes and (
        covers_key(anchor_key, codes) or not {f"code_{code}" for code in find_listed_codes(text)}.isdisjoint(codes)
    ):
        return 1.0
    return float(covers_key(anchor_key, route.keys)) * (0.5 if codes else 1.0)


def _is_other_key(anchor_key: str | None, route: Route) -> bool:
    """Return whether a key is that of a box, and not of a box that the question names."""
    boxes = [key for key in route.keys if key.startswith("box_")]
    return bool(boxes) and (anchor_key or "").startswith("box") and not covers_key(anchor_key, boxes)


def combine_features(features: Mapping[str, Floats]) -> Floats:
    """Return the weighted sum of the features.

    Args:
        features: Features by name, each of shape (rows,).

    Returns:
        Scores of shape (rows,).
    """
    weights = load_ranking().weights
    total: Floats = np.sum([weights[name] * values for name, values in features.items()], axis=0)
    return total


def score_overlap(weights: Mapping[str, float], terms: frozenset[str]) -> float:
    """Return the weighted share of some terms that a text contains.

    Args:
        weights: Weight of each term, such as its inverse document frequency.
        terms: Terms of the text.

    Returns:
        Share from 0 to 1; 0 where all weights are 0.
    """
    if terms.isdisjoint(weights) or not (total := sum(weights.values())):
        return 0.0
    return sum(weight for term, weight in weights.items() if term in terms) / total
