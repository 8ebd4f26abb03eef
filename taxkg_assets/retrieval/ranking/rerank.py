"""The feature ranker: features of a passage, and how much each one counts. Weights in rules/ranking.yaml."""

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
    wanted: Mapping[str, float],
    terms: Sequence[str],
    facts: PassageFacts,
) -> dict[str, Floats]:
    """Compute every ranking feature of every row.

    Args:
        signals: Signals of the index about the rows, and their cells.
        route: Route of the question.
        wanted: Inverse document frequency of each term of the question.
        terms: The same terms in the question's order.
        facts: Columns of passages.

    Returns:
        Features by name, each of shape (rows,) and within -1..1.
    """
    pairs = {f"{one} {other}" for one, other in pairwise(terms) if one != other}
    numbers = {term: float(term[0].isdigit()) for term in wanted}
    return {
        "lexical": signals.lexical,
        "vector": signals.vector,
        "fused": signals.fused,
        "coverage": _score_contained(wanted, signals.contained_or_synonym),
        "heading": _score_each(signals.headings, lambda own: score_overlap(wanted, _heading_terms(own))),
        "phrase": _score_phrases(pairs, signals.terms),
        "number": _score_contained(numbers, signals.contained),
        "section_vector": signals.section_similarity,
        "token_match": signals.token_similarity * float(not route.keys),
        "special_case": _score_special_cases(signals, route, facts=facts),
        "example": facts.is_example[signals.rows],
        "section": _share_of_group(signals.fused, facts.anchor_number[signals.rows]),
        "document": _share_of_group(signals.fused, signals.document_number),
        **{name: values[signals.document_number] for name, values in signals.document_features.items()},
        **_score_route(signals, route, facts=facts),
        "tagged": _score_each(signals.labels, lambda own: score_overlap(wanted, own)),
        "table": facts.is_table[signals.rows],
        "boilerplate": facts.is_boilerplate[signals.rows],
    }


def _score_each(values: Sequence[Value], score: Callable[[Value], float]) -> Floats:
    """Return the score of each value; many rows have the same value."""
    found = {value: score(value) for value in dict.fromkeys(values)}
    return np.array([found[value] for value in values])


def _score_contained(weights: Mapping[str, float], contained: npt.NDArray[np.bool_]) -> Floats:
    """Compute `score_overlap` for terms that rows are known to contain, shape (terms, rows)."""
    scores, total = np.zeros(contained.shape[1]), sum(weights.values())
    for weight, own in zip(weights.values(), contained, strict=True):
        scores += weight * own
    return scores / total if total else scores


def _score_phrases(pairs: set[str], terms: Sequence[str]) -> Floats:
    """Return the share of pairs that each text contains; polars takes half the time of Python for hundreds of texts."""
    if not pairs:
        return np.zeros(len(terms))
    column = pl.DataFrame({"terms": terms}, schema={"terms": pl.String})
    contained = (pl.col("terms").str.contains(pair, literal=True) for pair in pairs)
    counts: Floats = column.select(pl.sum_horizontal(*contained)).to_series().to_numpy().astype(np.float64)
    return counts / len(pairs)


def _share_of_group(scores: Floats, groups: Ints) -> Floats:
    """Return the summed scores of a row's group as a share of the best group's: nearby passages confirm a topic."""
    if not len(groups):
        return np.zeros(0)
    _, own = np.unique(groups, return_inverse=True)
    sums = np.bincount(own, weights=scores)
    shares: Floats = (sums / max(float(sums.max()), 1e-9))[own]
    return shares


@lru_cache(maxsize=100_000)
def _heading_terms(heading_path: str) -> frozenset[str]:
    """Return the terms of the headings below the title, heading by heading: many paths have the same ones."""
    headings = heading_path.split(" > ")
    return frozenset[str]().union(*(find_distinct_terms(heading) for heading in headings[1:] or headings))


def _score_special_cases(signals: Signals, route: Route, *, facts: PassageFacts) -> Floats:
    """Return 1 for rows under a heading for filers that the question names neither in words nor by form or key."""
    if route.unknown_forms or route.keys:
        return np.zeros(len(signals.rows))
    known = frozenset(route.filers)
    special = _score_each(signals.headings, lambda heading: float(not find_heading_filers(heading) <= known))
    is_of_form = score_forms(facts.forms, route)[facts.form_number[signals.rows]] > 0
    return special * ~is_of_form


def _score_route(signals: Signals, route: Route, *, facts: PassageFacts) -> dict[str, Floats]:
    """Compute the features that depend on form, key and perspective of the question."""
    short = load_ranking().short_words
    rows, keys, texts = signals.rows, signals.keys, signals.texts
    form = score_forms(facts.forms, route)[facts.form_number[rows]]
    key = _score_each(list(zip(keys, texts, strict=True)), lambda own: _score_key(*own, route))
    sides, is_table = facts.perspective_number[rows], facts.is_table[rows]
    has_both = facts.has_filer_and_recipient[facts.form_number[rows]]  # a form with one reader is for the taxpayer
    same_audience, opposite_audience = (
        np.array([route.certainty * (name == wanted) for name in facts.perspectives])[sides] * has_both
        for wanted in (route.perspective, _OTHER_SIDE.get(route.perspective))
    )
    is_general = np.array([name in ("publication", "other") for name in facts.perspectives])[sides]
    return {
        "form": form,
        "key": key,
        "other_key": _score_each(keys, lambda own: float(_is_other_key(own, route))),
        "key_opening": key * facts.opens_anchor[rows],
        "key_of_form": key * np.maximum(form, 0.0),
        "same_audience": same_audience,
        "opposite_audience": opposite_audience,
        "general": is_general * (route.certainty * (route.perspective == "filer")),
        "face": np.array([name == "face" for name in facts.perspectives])[sides] * (1.0 - is_table),
        "short": (np.asarray(facts.word_counts)[rows] <= short).astype(np.float64),
        "amount_table": is_table * float(route.wants_amount),
    }


_OTHER_SIDE = {"filer": "recipient", "recipient": "filer"}


def _score_key(own: str | None, text: str, route: Route) -> float:
    """Return 1 for the requested box, line or code; half for the rest of the box whose code is requested."""
    codes = route.codes
    if codes and (covers_key(own, codes) or not {f"code_{code}" for code in find_listed_codes(text)}.isdisjoint(codes)):
        return 1.0
    return float(covers_key(own, route.keys)) * (0.5 if codes else 1.0)


def _is_other_key(own: str | None, route: Route) -> bool:
    boxes = [key for key in route.keys if key.startswith("box_")]
    return bool(boxes) and (own or "").startswith("box") and not covers_key(own, boxes)


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


def score_overlap(wanted: Mapping[str, float], terms: frozenset[str]) -> float:
    """Return the share of the question's terms, weighted by rarity, that a passage contains.

    Args:
        wanted: Inverse document frequency of each term of the question.
        terms: Terms of the passage.

    Returns:
        Share from 0 to 1; 0 where no term is known.
    """
    if terms.isdisjoint(wanted) or not (total := sum(wanted.values())):
        return 0.0
    return sum(weight for term, weight in wanted.items() if term in terms) / total
