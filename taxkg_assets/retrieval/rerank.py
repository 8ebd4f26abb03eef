"""The feature ranker: what speaks for a passage, and how much each signal counts. Weights in rules/ranking.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from taxkg_assets.retrieval.facts import Floats, Ints, PassageFacts
from taxkg_assets.retrieval.lexical import find_terms
from taxkg_assets.retrieval.router import Route, covers_key, find_listed_codes
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.loader import load_family


@dataclass(frozen=True, slots=True)
class Signals:
    """What the search found out about some rows: scores of the legs by row, the fused rank score, edges followed."""

    rows: Ints
    lexical: Floats
    vector: Floats
    fused: Floats
    is_linked: Floats
    by_document: Mapping[str, Floats]
    document_number: Ints
    by_section: Floats


def find_features(
    signals: Signals, route: Route, *, wanted: Mapping[str, float], terms: Sequence[str], facts: PassageFacts
) -> dict[str, Floats]:
    """Every feature of every row, each within -1..1.

    Args: wanted: weight of each term of the question by rarity. terms: the same terms in the question's order.
    """
    facts.prefetch(signals.rows)
    rows = signals.rows.tolist()
    held = [f" {facts.columns['terms'][row]} " for row in rows]
    headings = [_heading_terms(facts.columns["heading_path"][row]) for row in rows]
    pairs = {f"{one} {other}" for one, other in pairwise(terms) if one != other}
    numbers = {term: 1.0 for term in wanted if term[0].isdigit()}
    return {
        "lexical": signals.lexical,
        "vector": signals.vector,
        "fused": signals.fused,
        "coverage": _score_held(wanted, held),
        "heading": np.array([score_overlap(wanted, own) for own in headings]),
        "phrase": np.array([_score_phrases(pairs, facts.columns["terms"][row]) for row in rows]),
        "around": _score_held(wanted, [_terms_around(row, facts) for row in rows]),
        "number": _score_held(numbers, held),
        "section_vector": signals.by_section,
        "example": facts.is_example[signals.rows],
        "figure": facts.has_figure[signals.rows] * float(route.wants_amount),
        "edge": signals.is_linked,
        "section": _share_of_group(signals.fused, facts.anchor_number[signals.rows]),
        "document": _share_of_group(signals.fused, signals.document_number),
        **{name: values[signals.document_number] for name, values in signals.by_document.items()},
        **_score_route(rows, route, facts=facts),
        "tagged": np.array([score_overlap(wanted, facts.labels[row]) for row in rows]),
        "table": facts.is_table[signals.rows],
        "boilerplate": facts.is_boilerplate[signals.rows],
    }


def _score_held(wanted: Mapping[str, float], texts: Sequence[str]) -> Floats:
    """As `score_overlap`, of terms between blanks: to look for a few in a text is cheaper than to take it apart."""
    total = sum(wanted.values())
    if not total:
        return np.zeros(len(texts))
    spaced = [(f" {term} ", weight) for term, weight in wanted.items()]
    return np.array([sum(weight for term, weight in spaced if term in text) / total for text in texts])


def _terms_around(row: int, facts: PassageFacts) -> str:
    """Terms of a row and of its neighbours under the same heading, between blanks."""
    last = len(facts.columns["terms"]) - 1
    near = [
        facts.columns["terms"][other]
        for other in range(max(0, row - 1), min(last, row + 1) + 1)
        if facts.anchor_number[other] == facts.anchor_number[row]
    ]
    return f" {' '.join(near)} "


def _score_phrases(pairs: set[str], terms: str) -> float:
    return sum(pair in terms for pair in pairs) / len(pairs) if pairs else 0.0


def _share_of_group(scores: Floats, groups: Ints) -> Floats:
    """The summed scores of a row's group as a share of the best group's: passages near one another confirm a topic."""
    if not len(groups):
        return np.zeros(0)
    _, own = np.unique(groups, return_inverse=True)
    sums = np.bincount(own, weights=scores)
    shares: Floats = (sums / max(float(sums.max()), 1e-9))[own]
    return shares


@lru_cache(maxsize=100_000)
def _heading_terms(heading_path: str) -> frozenset[str]:
    return frozenset(find_terms(heading_path.split(" > ", 1)[-1]))


def _score_route(rows: Sequence[int], route: Route, *, facts: PassageFacts) -> dict[str, Floats]:
    """Features that depend on what the question says of form, key and side."""
    short = load_family("ranking")["short_words"]
    keys = [facts.columns["anchor_key"][row] for row in rows]
    sides = [str(facts.perspectives[row]) for row in rows]
    forms = {number: score_form(form, route) for number, form in enumerate(facts.forms)}
    form = np.array([forms[number] for number in facts.form_number[list(rows)].tolist()])
    key = np.array([_score_key(own, facts.columns["text"][row], route) for own, row in zip(keys, rows, strict=True)])
    return {
        "form": form,
        "key": key,
        "other_key": np.array([float(_is_other_key(own, route)) for own in keys]),
        "key_opening": key * np.array([float(facts.opens_anchor[row]) for row in rows]),
        "key_of_form": key * np.maximum(form, 0.0),
        "own_side": np.array([route.certainty * (own == route.perspective) for own in sides]),
        "other_side": np.array([route.certainty * (own == _OTHER_SIDE.get(route.perspective)) for own in sides]),
        "general": np.array(
            [route.certainty * (route.perspective == "filer" and own in ("publication", "other")) for own in sides]
        ),
        "face": np.array(
            [
                float(own == "face" and facts.columns["level"][row] != "table")
                for own, row in zip(sides, rows, strict=True)
            ]
        ),
        "short": np.array([float(facts.word_counts[row] <= short) for row in rows]),
        "amount_table": facts.is_table[list(rows)] * float(route.wants_amount),
    }


OTHER_FORM = -1.0
_OTHER_SIDE = {"filer": "recipient", "recipient": "filer"}


@lru_cache(maxsize=100_000)
def score_form(form: str, route: Route) -> float:
    """+1 for a form asked for, -1 for another one, in between for texts that are of no one form."""
    if not route.forms:
        return 0.0
    own = split_forms(form)
    if set(own) & set(route.forms):
        return 1.0
    return -0.4 if form.startswith("Pub") or not own else OTHER_FORM


def _score_key(own: str | None, text: str, route: Route) -> float:
    """1 for the box, line or code asked for; half for the rest of the box whose code is asked for."""
    codes = [key for key in route.keys if key.startswith("code_")]
    if codes and (covers_key(own, codes) or not {f"code_{code}" for code in find_listed_codes(text)}.isdisjoint(codes)):
        return 1.0
    return float(covers_key(own, route.keys)) * (0.5 if codes else 1.0)


def _is_other_key(own: str | None, route: Route) -> bool:
    asked = [key for key in route.keys if key.startswith("box_")]
    return bool(asked) and (own or "").startswith("box") and not covers_key(own, asked)


def combine_features(features: Mapping[str, Floats]) -> Floats:
    """Weighted sum of the features."""
    weights = load_family("ranking")["weights"]
    total: Floats = np.sum([weights[name] * values for name, values in features.items()], axis=0)
    return total


def score_overlap(wanted: Mapping[str, float], terms: frozenset[str]) -> float:
    """Share of the question's terms, weighted by rarity, that a passage holds."""
    total = sum(wanted.values())
    return sum(weight for term, weight in wanted.items() if term in terms) / total if total else 0.0
