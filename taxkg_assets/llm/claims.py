"""Lexical entailment: whether a sentence follows from its source, as far as words show it.

A sentence must add nothing, claim nothing more strongly, and reverse nothing. What cannot be decided from words is
rejected, so that some true sentences are rejected too.
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
    """Return the content of a sentence that its source does not support; empty if there is none.

    Args:
        claim: The sentence.
        source: Sentences that it must follow from.
    """
    claim, source = normalize_spelling(claim), normalize_spelling(source)
    return next((name for name, is_broken in _BREACHES.items() if is_broken(claim, source)), "")


# ------------------------------------------------------------------------------------------------------- words


def _has_words_of_its_own(claim: str, source: str) -> bool:
    free = frozenset(find_stem(word) for word in load_claims().free)
    compared = (*load_claims().comparators, *load_claims().forces)
    stems = find_stems(mark_matches(claim, compared)[0])
    return not stems or bool(stems - find_stems(source) - free)


# ----------------------------------------------------------------------------------------- figures, conditions


def _has_other_measures(claim: str, source: str) -> bool:
    """Return whether a sentence has a date, term or amount that its source lacks, or states of something else."""
    is_new = not find_measures(claim) <= find_measures(source)
    return is_new or _is_of_something_else(split_parts(claim), split_parts(source), find=find_measures)


def _is_of_something_else(
    claimed: Sequence[str], said: Sequence[str], *, find: Callable[[str], frozenset[tuple[str, str]]]
) -> bool:
    """Return whether the words around an amount or key fit another one in the source better."""
    stated = [(find(part), find_stems(part)) for part in said]
    for part in claimed:
        for measure in find(part):
            words = find_stems(part) - find_stems(" ".join(measure))
            best_overlap = max(
                (len(words & context_words) for measures, context_words in stated if measure in measures), default=0
            )
            other = max(
                (
                    len(words & context_words)
                    for measures, context_words in stated
                    if measures and measure not in measures
                ),
                default=0,
            )
            if other > best_overlap:
                return True
    return False


def find_measures(text: str) -> frozenset[tuple[str, str]]:
    """Extract dates, terms, amounts and rates: each figure with its unit.

    Args:
        text: The text.

    Returns:
        Pairs of figure and unit.
    """
    rules = load_claims().measures
    return frozenset(
        (m["unit"].casefold(), m["figure"].replace(",", "")) for rule in rules for m in rule.pattern.finditer(text)
    )


def _has_other_bounds(claim: str, source: str) -> bool:
    stated = _find_bounds(source)
    return not _find_bounds(claim) <= stated


def _find_bounds(text: str) -> frozenset[tuple[str, str]]:
    """Return each figure with the word that bounds it: `more than $600`, `65 or older`; empty where none does."""
    reach = load_claims().bound_reach
    text, read = mark_matches(text, load_claims().comparators)
    figures = list(load_llm().figures.number_or_key.pattern.finditer(text))
    bound: dict[int, str] = {}
    for place, rule in read:
        if rule.side == "left":
            near = [m.start() for m in figures if 0 <= place - m.end() <= reach // 2]
            bound |= {near[-1]: rule.meaning} if near else {}
        else:
            near = [m.start() for m in figures if 0 <= m.start() - place <= reach]
            bound |= {near[0]: rule.meaning} if near else {}
    return frozenset((next(iter(find_figures(m[0])), m[0]), bound.get(m.start(), "")) for m in figures)


def _leaves_out_a_condition(claim: str, source: str) -> bool:
    """Return whether a sentence omits an `if`, `unless`, `except` or `only` of its source, or states it as the rule."""
    if (is_limited(source) and not is_limited(claim)) or _swaps_conditions(claim, source):
        return True
    said, least = find_stems(claim), load_llm().support.least_share
    for rule in load_llm().limits_of_rules:
        for match in rule.pattern.finditer(source):
            wanted = find_stems(_condition_end().split(source[match.end() :])[0])
            if wanted and len(wanted & said) < least * len(wanted):
                return True
    return False


@cache
def _condition_end() -> re.Pattern[str]:
    return re.compile(load_claims().condition_ends)


def _swaps_conditions(claim: str, source: str) -> bool:
    """Return whether a condition in one of two sentences is the rule in the other."""
    condition, rule = _part_conditions(claim)
    stated, stated_rule = _part_conditions(source)
    straight, crossed = (
        len(condition & stated) + len(rule & stated_rule),
        len(condition & stated_rule) + len(rule & stated),
    )
    return bool(condition and stated) and crossed > straight


def _part_conditions(text: str) -> tuple[Words, Words]:
    """Return the words of a text's conditions, and those of the rest."""
    conditions = []
    for rule in load_claims().conditions:
        while match := rule.pattern.search(text):
            inside = _condition_end().split(text[match.end() :])[0]
            conditions.append(inside)
            text = f"{text[: match.start()]} {text[match.end() + len(inside) :]}"
    return find_stems(" ".join(conditions)), find_stems(text)


# ---------------------------------------------------------------------------------------- force and contrast


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a clause with the markers that apply to it, by family, and its number of negations."""

    words: Words
    markers: Mapping[str, Words]
    denials: int


_KEPT_FAMILIES = ("force", "extent", "failing", "share", "time")
"""What a sentence may not leave out: `may`, `should`, `need not`, `some`, `fails to`, `half`, `before`."""


def find_contrast_terms(text: str) -> Words:
    """Return the contrasting terms in a text, e.g. `taxable` or `exempt` (rules/claims.yaml, `contrasts`).

    Args:
        text: The text.
    """
    return frozenset(rule.meaning for _, rule in mark_matches(text, load_claims().contrasts)[1])


def _has_another_force(claim: str, source: str) -> bool:
    """Return whether a part says `must`, `taxable` or `add` where the most similar part of its source does not."""
    stated = _read_pieces(source)
    return any(not _is_as_said(piece, stated) for piece in _read_pieces(claim) if piece.words)


def _is_as_said(piece: _Piece, stated: Sequence[_Piece]) -> bool:
    shares = [score_coverage(piece.words, other.words) for other in stated]
    best = max(shares, default=0.0)
    nearest = [other for share, other in zip(shares, stated, strict=True) if share == best > 0]
    return not nearest or any(_agrees(piece, other) for other in nearest)


def _agrees(piece: _Piece, other: _Piece) -> bool:
    left_out = {rule.id for rule in _markers() if rule.can_be_left_out}
    for family in {rule.family for rule in _markers()}:
        claimed, stated = piece.markers.get(family, frozenset()), other.markers.get(family, frozenset())
        if not claimed <= stated or (family in _KEPT_FAMILIES and not stated - claimed <= left_out):
            return False
    return piece.denials == other.denials


@cache
def _markers() -> tuple[Marker, ...]:
    rules = load_claims()
    return (*rules.comparators, *rules.forces, *rules.contrasts, *rules.conditions)


def _read_pieces(text: str) -> list[_Piece]:
    """Return the parts of each clause; a part without a marker has that of the nearest part.

    The force of a verb extends to what follows it; a statement on taxation extends back to its subject.
    """
    joint = load_claims().joints.ends_a_piece.pattern
    pieces = []
    for clause in split_clauses(text):
        parts = [part for part in joint.split(_part_at_conditions(mark_matches(clause, _markers())[0])) if part.strip()]
        rules_of_piece = [[rule for n, rule in enumerate(_markers()) if chr(FIRST_MARK + n) in part] for part in parts]
        families = {rule.family for rules in rules_of_piece for rule in rules}
        for n, part in enumerate(parts):
            markers = {family: _find_marker(rules_of_piece, family, at=n) for family in families}
            pieces.append(_Piece(words=find_stems(part), markers=markers, denials=count_negations(part)))
    return pieces


def _part_at_conditions(signed: str) -> str:
    """Return a clause with a comma before each condition, so that conditions and rule are separate parts."""
    for number, rule in enumerate(_markers()):
        if rule.family == "condition":
            signed = signed.replace(chr(FIRST_MARK + number), f", {chr(FIRST_MARK + number)}")
    return signed


def _find_marker(found: Sequence[Sequence[Marker]], family: str, *, at: int) -> Words:
    """Return the markers of a family that apply to one part of a clause."""
    before, after = found[at::-1], found[at:]
    order = [*before, *after] if family in _KEPT_FAMILIES else [*after, *before]
    meanings = ([rule.meaning for rule in rules if rule.family == family] for rules in order)
    return frozenset(next(ids for ids in meanings if ids))


def has_same_polarity(claim: str, source: str) -> bool:
    """Return whether a sentence negates and affirms the same things as its source, clause by clause.

    The most similar clause of the source must agree, and no word may be taken over that the source uses only in the
    opposite sense.

    Args:
        claim: The sentence.
        source: Sentences that it must follow from.
    """
    clauses = [(find_stems(clause), is_negative(clause)) for clause in split_clauses(source)]
    for clause in split_clauses(claim):
        wanted = find_stems(clause)
        shares = [score_coverage(wanted, stated) for stated, _ in clauses]
        nearest = {denied for share, (_, denied) in zip(shares, clauses, strict=True) if share == max(shares)}
        denies = is_negative(clause)
        alike = frozenset().union(*(stated for stated, denied in clauses if denied == denies))
        contrary = frozenset().union(*(stated for stated, denied in clauses if denied != denies))
        if denies not in nearest or wanted & (contrary - alike):
            return False
    return bool(clauses) and _denies_the_same_figures(claim, source)


def _denies_the_same_figures(claim: str, source: str) -> bool:
    """Return whether a sentence preserves `in box 4, not in box 3` of its source."""
    denied = [(find_figures(part), is_negative(part)) for part in split_parts(source) if find_figures(part)]
    if len({is_denied for _, is_denied in denied}) < 2:
        return True
    claimed = [(figure, is_negative(part)) for part in split_parts(claim) for figure in find_figures(part)]
    return all(
        any(figure in figures and denies == source_figures for figures, source_figures in denied)
        for figure, denies in claimed
    )


_BREACHES: Mapping[str, Callable[[str, str], bool]] = {
    "words of its own": _has_words_of_its_own,
    "other figures": lambda claim, source: not find_figures(claim) <= find_figures(source),
    "other keys": lambda claim, source: not find_keys(claim) <= find_keys(source),
    "other measures": _has_other_measures,
    "a key of something else": lambda claim, source: _is_of_something_else(
        split_clauses(claim), split_clauses(source), find=find_keys
    ),
    "other bounds": _has_other_bounds,
    "a condition left out": _leaves_out_a_condition,
    "another denial": lambda claim, source: not has_same_polarity(claim, source),
    "another force": _has_another_force,
    "turned round": swaps_arguments,
    "in reverse": reverses_words,
    "joined otherwise": changes_connective,
}
