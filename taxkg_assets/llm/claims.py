"""Lexical entailment: whether a sentence follows from its source, as far as words show it.

A sentence must not add anything to its source, state it more strongly, or reverse it. A sentence that words cannot
decide is rejected, so that some true sentences are rejected too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from taxkg_assets.llm.direction import changes_connective, reverses_words, swaps_arguments
from taxkg_assets.llm.markers import FIRST_MARK, mark_matches, split_parts
from taxkg_assets.llm.normalization import (
    Words,
    count_negations,
    find_figures,
    find_keys,
    find_stem,
    find_stems,
    is_limited,
    is_negative,
    normalize_spelling,
    score_coverage,
    split_clauses,
)
from taxkg_assets.rules.models.claims import Marker, load_claims
from taxkg_assets.rules.models.llm import load_llm


def find_unsupported_content(claim: str, source: str) -> str:
    """Return what a sentence states beyond its source, as a key of `_CHECKS`; empty if there is nothing.

    Args:
        claim: The sentence.
        source: Sentences that it must follow from.
    """
    claim, source = normalize_spelling(claim), normalize_spelling(source)
    return next((name for name, is_unsupported in _CHECKS.items() if is_unsupported(claim, source)), "")


# ------------------------------------------------------------------------------------------------------- words


def _adds_words(claim: str, source: str) -> bool:
    """Return whether a sentence has a content word that its source lacks, apart from words like `must`, `more than`."""
    free = frozenset(find_stem(word) for word in load_claims().free)
    checked_elsewhere = (*load_claims().comparators, *load_claims().forces)
    stems = find_stems(mark_matches(claim, checked_elsewhere)[0])
    return not stems or bool(stems - find_stems(source) - free)


# ----------------------------------------------------------------------------------------- figures, conditions


def _has_other_measures(claim: str, source: str) -> bool:
    """Return whether a sentence has a date, term or amount that its source lacks or states about something else."""
    is_new = not find_measures(claim) <= find_measures(source)
    return is_new or _moves_figure(split_parts(claim), split_parts(source), find=find_measures)


def _moves_figure(
    claim_parts: Sequence[str], source_parts: Sequence[str], *, find: Callable[[str], frozenset[tuple[str, str]]]
) -> bool:
    """Return whether the words around a figure in a sentence fit the words around another figure in its source better.

    Args:
        claim_parts: Parts of the sentence.
        source_parts: Parts of its source.
        find: Extracts the figures of a part: `find_measures` or `find_keys`.
    """
    source_figures = [(find(part), find_stems(part)) for part in source_parts]
    for part in claim_parts:
        for figure in find(part):
            words = find_stems(part) - find_stems(" ".join(figure))
            with_figure = [context for figures, context in source_figures if figure in figures]
            with_others = [context for figures, context in source_figures if figures and figure not in figures]
            same_overlap = max((len(words & context) for context in with_figure), default=0)
            if any(len(words & context) > same_overlap for context in with_others):
                return True
    return False


def find_measures(text: str) -> frozenset[tuple[str, str]]:
    """Extract dates, terms, amounts and rates: each figure with its unit.

    Args:
        text: The text.

    Returns:
        Pairs of unit and figure.
    """
    rules = load_claims().measures
    return frozenset(
        (match["unit"].casefold(), match["figure"].replace(",", ""))
        for rule in rules
        for match in rule.pattern.finditer(text)
    )


def _has_other_bounds(claim: str, source: str) -> bool:
    return not _find_bounds(claim) <= _find_bounds(source)


def _find_bounds(text: str) -> frozenset[tuple[str, str]]:
    """Return each figure with the meaning of the comparator next to it: `more than $600`, `65 or older`; else empty."""
    max_distance = load_claims().bound_reach
    text, comparators = mark_matches(text, load_claims().comparators)
    figures = list(load_llm().figures.number_or_key.pattern.finditer(text))
    meaning_at: dict[int, str] = {}
    for offset, rule in comparators:
        if rule.side == "left":
            before = [figure.start() for figure in figures if 0 <= offset - figure.end() <= max_distance // 2]
            nearest = before[-1:]
        else:
            after = [figure.start() for figure in figures if 0 <= figure.start() - offset <= max_distance]
            nearest = after[:1]
        meaning_at |= dict.fromkeys(nearest, rule.meaning)
    return frozenset(
        (next(iter(find_figures(figure[0])), figure[0]), meaning_at.get(figure.start(), "")) for figure in figures
    )


def _omits_condition(claim: str, source: str) -> bool:
    """Return whether a sentence omits an `if`, `unless`, `except` or `only` of its source, or states it as the rule."""
    if (is_limited(source) and not is_limited(claim)) or _swaps_conditions(claim, source):
        return True
    claim_stems = find_stems(claim)
    least_share = load_llm().support.least_share
    for rule in load_llm().limits_of_rules:
        for match in rule.pattern.finditer(source):
            condition = find_stems(_condition_end().split(source[match.end() :])[0])
            if condition and len(condition & claim_stems) < least_share * len(condition):
                return True
    return False


@cache
def _condition_end() -> re.Pattern[str]:
    return re.compile(load_claims().condition_ends)


def _swaps_conditions(claim: str, source: str) -> bool:
    """Return whether a condition in one of two sentences is the rule in the other."""
    claim_condition, claim_rule = _separate_conditions(claim)
    source_condition, source_rule = _separate_conditions(source)
    kept_count = len(claim_condition & source_condition) + len(claim_rule & source_rule)
    swapped = len(claim_condition & source_rule) + len(claim_rule & source_condition)
    return bool(claim_condition and source_condition) and swapped > kept_count


def _separate_conditions(text: str) -> tuple[Words, Words]:
    """Return the words of a text's conditions, and those of the rest."""
    conditions = []
    for rule in load_claims().conditions:
        while match := rule.pattern.search(text):
            condition = _condition_end().split(text[match.end() :])[0]
            conditions.append(condition)
            text = f"{text[: match.start()]} {text[match.end() + len(condition) :]}"
    return find_stems(" ".join(conditions)), find_stems(text)


# ---------------------------------------------------------------------------------------- force and contrast


@dataclass(frozen=True, slots=True)
class _ClausePart:
    """The words of a part of a clause, the meanings of the markers that apply to it, by family, and its negations."""

    words: Words
    markers: Mapping[str, Words]
    negation_count: int


_KEPT_FAMILIES = ("force", "extent", "failing", "share", "time")
"""Families of markers that a sentence may not leave out: `may`, `should`, `some`, `fails to`, `half`, `before`."""


def find_contrast_terms(text: str) -> Words:
    """Return the contrasting terms in a text, e.g. `taxable` or `exempt` (rules/claims.yaml, `contrasts`).

    Args:
        text: The text.
    """
    return frozenset(rule.meaning for _, rule in mark_matches(text, load_claims().contrasts)[1])


def _has_another_force(claim: str, source: str) -> bool:
    """Return whether a part says `must`, `taxable` or `add` where the most similar part of its source does not."""
    source_parts = _read_parts(source)
    return any(not _is_as_stated(part, source_parts) for part in _read_parts(claim) if part.words)


def _is_as_stated(part: _ClausePart, source_parts: Sequence[_ClausePart]) -> bool:
    """Return whether a part has the markers and negations of a most similar part of its source."""
    shares = [score_coverage(part.words, source_part.words) for source_part in source_parts]
    best_share = max(shares, default=0.0)
    nearest = [source_part for share, source_part in zip(shares, source_parts, strict=True) if share == best_share > 0]
    return not nearest or any(_agrees(part, source_part) for source_part in nearest)


def _agrees(part: _ClausePart, source_part: _ClausePart) -> bool:
    """Return whether a part adds no marker to that of its source, omits none it must keep, and negates as often."""
    optional = {rule.id for rule in _list_markers() if rule.can_be_left_out}
    for family in {rule.family for rule in _list_markers()}:
        claimed = part.markers.get(family, frozenset())
        stated = source_part.markers.get(family, frozenset())
        if not claimed <= stated or (family in _KEPT_FAMILIES and not stated - claimed <= optional):
            return False
    return part.negation_count == source_part.negation_count


@cache
def _list_markers() -> tuple[Marker, ...]:
    """Return the rules of all markers, in order of precedence."""
    rules = load_claims()
    return (*rules.comparators, *rules.forces, *rules.contrasts, *rules.conditions)


def _read_parts(text: str) -> list[_ClausePart]:
    """Return the parts of each clause; a part without a marker has that of the nearest part.

    The force of a verb extends to what follows it; a statement on taxation extends back to its subject.
    """
    joint = load_claims().joints.ends_a_piece.pattern
    clause_parts = []
    for clause in split_clauses(text):
        marked = _separate_marked_conditions(mark_matches(clause, _list_markers())[0])
        parts = [part for part in joint.split(marked) if part.strip()]
        rules_by_part = [
            [rule for number, rule in enumerate(_list_markers()) if chr(FIRST_MARK + number) in part] for part in parts
        ]
        families = {rule.family for rules in rules_by_part for rule in rules}
        for ix, part in enumerate(parts):
            markers = {family: _find_nearest_marker(rules_by_part, family, part_ix=ix) for family in families}
            clause_parts.append(_ClausePart(find_stems(part), markers, count_negations(part)))
    return clause_parts


def _separate_marked_conditions(marked: str) -> str:
    """Return a marked clause with a comma before each condition, so that conditions and rule are separate parts."""
    for number, rule in enumerate(_list_markers()):
        if rule.family == "condition":
            marked = marked.replace(chr(FIRST_MARK + number), f", {chr(FIRST_MARK + number)}")
    return marked


def _find_nearest_marker(rules_by_part: Sequence[Sequence[Marker]], family: str, *, part_ix: int) -> Words:
    """Return the meanings of a family's markers in a part of a clause, or else in the nearest part that has some.

    Args:
        rules_by_part: Rules of the markers in each part.
        family: Family of the markers; one of the parts has a marker of it.
        part_ix: Index of the part.
    """
    before, after = rules_by_part[part_ix::-1], rules_by_part[part_ix:]
    order = [*before, *after] if family in _KEPT_FAMILIES else [*after, *before]
    meanings = ([rule.meaning for rule in rules if rule.family == family] for rules in order)
    return frozenset(next(found for found in meanings if found))


def has_same_polarity(claim: str, source: str) -> bool:
    """Return whether a sentence negates and affirms the same things as its source, clause by clause.

    The most similar clause of the source must agree, and no word may be taken over that the source uses only in the
    opposite sense.

    Args:
        claim: The sentence.
        source: Sentences that it must follow from.
    """
    source_clauses = [(find_stems(clause), is_negative(clause)) for clause in split_clauses(source)]
    for clause in split_clauses(claim):
        words = find_stems(clause)
        is_clause_negative = is_negative(clause)
        shares = [score_coverage(words, source_words) for source_words, _ in source_clauses]
        nearest_polarities = {
            is_source_negative
            for share, (_, is_source_negative) in zip(shares, source_clauses, strict=True)
            if share == max(shares)
        }
        same_words: set[str] = set()
        opposite_words: set[str] = set()
        for source_words, is_source_negative in source_clauses:
            (same_words if is_source_negative == is_clause_negative else opposite_words).update(source_words)
        if is_clause_negative not in nearest_polarities or words & (opposite_words - same_words):
            return False
    return bool(source_clauses) and _negates_same_figures(claim, source)


def _negates_same_figures(claim: str, source: str) -> bool:
    """Return whether a sentence preserves `in box 4, not in box 3` of its source."""
    source_figures = [(find_figures(part), is_negative(part)) for part in split_parts(source) if find_figures(part)]
    if len({is_negated for _, is_negated in source_figures}) < 2:
        return True
    claim_figures = [(figure, is_negative(part)) for part in split_parts(claim) for figure in find_figures(part)]
    return all(
        any(figure in figures and is_negated == is_source_negated for figures, is_source_negated in source_figures)
        for figure, is_negated in claim_figures
    )


_CHECKS: Mapping[str, Callable[[str, str], bool]] = {
    "words of its own": _adds_words,
    "other figures": lambda claim, source: not find_figures(claim) <= find_figures(source),
    "other keys": lambda claim, source: not find_keys(claim) <= find_keys(source),
    "other measures": _has_other_measures,
    "a key of something else": lambda claim, source: _moves_figure(
        split_clauses(claim), split_clauses(source), find=find_keys
    ),
    "other bounds": _has_other_bounds,
    "a condition left out": _omits_condition,
    "another denial": lambda claim, source: not has_same_polarity(claim, source),
    "another force": _has_another_force,
    "turned round": swaps_arguments,
    "in reverse": reverses_words,
    "joined otherwise": changes_connective,
}
