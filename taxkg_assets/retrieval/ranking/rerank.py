"""The feature ranker: features of a passage, and how much each one counts. Weights in rules/ranking.yaml."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.lexical import LexicalRetriever, find_terms
from taxkg_assets.retrieval.index.facts import RANKED, PassageFacts
from taxkg_assets.retrieval.query.router import Route, covers_key, find_listed_codes
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.ranking import load_ranking

Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals of the search about some rows.

    Attributes:
        rows: Row numbers.
        lexical: BM25 as a share of the best, 0 to 1.
        vector: Rescaled cosine, 0 to 1.
        fused: Fused rank score as a share of the best, 0 to 1.
        by_document: Features of each document by name.
        document_number: Document of each row.
        by_section: Similarity of each row's section, 0 to 1.
        by_token: Nearness of the question's tokens to those of each row, 0 to 1.
    """

    rows: Ints
    lexical: Floats
    vector: Floats
    fused: Floats
    by_document: Mapping[str, Floats]
    document_number: Ints
    by_section: Floats
    by_token: Floats


def find_features(
    signals: Signals,
    route: Route,
    *,
    wanted: Mapping[str, float],
    terms: Sequence[str],
    printed: Mapping[str, frozenset[str]],
    facts: PassageFacts,
    lexical: LexicalRetriever,
) -> dict[str, Floats]:
    """Compute every feature of every row.

    Args:
        signals: What the search found out about the rows.
        route: Route of the question.
        wanted: Inverse document frequency of each term of the question.
        terms: The same terms in the question's order.
        printed: Terms of documents for everyday terms of the question.
        facts: Columns of passages.
        lexical: Postings of the index.

    Returns:
        Features by name, each of shape (rows,) and within -1..1.
    """
    facts.prefetch(signals.rows.tolist(), (*RANKED, *(("text",) if _find_codes(route) else ())))
    rows = signals.rows.tolist()
    contained = lexical.hold_terms(list(wanted), signals.rows)
    headings = [facts.columns["heading_path"][row] for row in rows]
    pairs = {f"{one} {other}" for one, other in pairwise(terms) if one != other}
    numbers = {term: float(term[0].isdigit()) for term in wanted}
    return {
        "lexical": signals.lexical,
        "vector": signals.vector,
        "fused": signals.fused,
        "coverage": _score_contained(wanted, _contain_printed(contained, signals.rows, wanted, printed, lexical)),
        "heading": _score_each(headings, lambda own: score_overlap(wanted, _heading_terms(own))),
        "phrase": np.array([_score_phrases(pairs, facts.columns["terms"][row]) for row in rows]),
        "number": _score_contained(numbers, contained),
        "section_vector": signals.by_section,
        "token_match": signals.by_token * float(not route.keys),
        "example": facts.is_example[signals.rows],
        "section": _share_of_group(signals.fused, facts.anchor_number[signals.rows]),
        "document": _share_of_group(signals.fused, signals.document_number),
        **{name: values[signals.document_number] for name, values in signals.by_document.items()},
        **_score_route(signals.rows, route, facts=facts),
        "tagged": _score_each(facts.read_labels(signals.rows), lambda own: score_overlap(wanted, own)),
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


def _contain_printed(
    contained: npt.NDArray[np.bool_],
    rows: Ints,
    wanted: Mapping[str, float],
    printed: Mapping[str, frozenset[str]],
    lexical: LexicalRetriever,
) -> npt.NDArray[np.bool_]:
    """Return which terms rows contain, themselves or as a term that documents print for them; shape (terms, rows)."""
    found = contained.copy()
    for place, term in enumerate(wanted):
        if term in printed:
            found[place] |= lexical.hold_terms(sorted(printed[term]), rows).any(axis=0)
    return found


def _score_phrases(pairs: set[str], terms: str) -> float:
    return sum(pair in terms for pair in pairs) / len(pairs) if pairs else 0.0


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
    return frozenset(find_terms(heading_path.split(" > ", 1)[-1]))


def _score_route(rows: Ints, route: Route, *, facts: PassageFacts) -> dict[str, Floats]:
    """Compute the features that depend on form, key and perspective of the question."""
    short = load_ranking().short_words
    keys = [facts.columns["anchor_key"][row] for row in rows.tolist()]
    texts = [facts.columns["text"][row] for row in rows.tolist()] if _find_codes(route) else [""] * len(keys)
    form = np.array([score_form(own, route) for own in facts.forms])[facts.form_number[rows]]
    key = _score_each(list(zip(keys, texts, strict=True)), lambda own: _score_key(*own, route))
    sides, is_table = facts.side_number[rows], facts.is_table[rows]
    has_both = facts.has_both_sides[facts.form_number[rows]]  # a form with one reader is for the taxpayer
    same_audience, opposite_audience = (
        np.array([route.certainty * (name == wanted) for name in facts.sides])[sides] * has_both
        for wanted in (route.perspective, _OTHER_SIDE.get(route.perspective))
    )
    is_general = np.array([name in ("publication", "other") for name in facts.sides])[sides]
    return {
        "form": form,
        "key": key,
        "other_key": _score_each(keys, lambda own: float(_is_other_key(own, route))),
        "key_opening": key * facts.opens_anchor[rows],
        "key_of_form": key * np.maximum(form, 0.0),
        "same_audience": same_audience,
        "opposite_audience": opposite_audience,
        "general": is_general * (route.certainty * (route.perspective == "filer")),
        "face": (sides == facts.find_side("face")) * (1.0 - is_table),
        "short": (np.asarray(facts.word_counts)[rows] <= short).astype(np.float64),
        "amount_table": is_table * float(route.wants_amount),
    }


OTHER_FORM = -1.0
_OTHER_SIDE = {"filer": "recipient", "recipient": "filer"}


@lru_cache(maxsize=100_000)
def score_form(form: str, route: Route) -> float:
    """Score the form of a passage against those of the question.

    Args:
        form: Form of a passage; may be empty.
        route: Route of the question.

    Returns:
        1 for a requested form, -1 for another one, -0.4 for a publication or a text without a form, 0 where the
        question names none.
    """
    if not route.forms:
        return 0.0
    own = split_forms(form)
    if set(own) & set(route.forms):
        return 1.0
    return -0.4 if form.startswith("Pub") or not own else OTHER_FORM


def _find_codes(route: Route) -> list[str]:
    return [key for key in route.keys if key.startswith("code_")]


def _score_key(own: str | None, text: str, route: Route) -> float:
    """Return 1 for the requested box, line or code; half for the rest of the box whose code is requested."""
    codes = _find_codes(route)
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
    total = sum(wanted.values())
    return sum(weight for term, weight in wanted.items() if term in terms) / total if total else 0.0
