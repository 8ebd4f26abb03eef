"""Words of a text by clause, with the polarity of each clause, and how the words of two texts are aligned."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from taxkg_assets.rules.loader import load_family, load_rules
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.values import fold

_SHORTEST_STEM = 5
_REACH_WORDS = 3
_NEARLY = 0.95
_MOSTLY = 0.6
_LEAST_WEIGHT = 0.1
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: its content words and whether it denies.

    Attributes:
        words: Stems of its content words; synonyms share one.
        is_negative: Whether it denies.
        heads: Words right after a denial, `deduct` of `can't deduct rent`.
        reach: The next ones, `rent`.
        opposites: Its words that have a contrary.
        force: `must`, `may`, or empty.
        has_verb: Whether it says something of its own.
    """

    words: Words
    is_negative: bool
    heads: Words = frozenset()
    reach: Words = frozenset()
    opposites: Words = frozenset()
    force: str = ""
    has_verb: bool = False


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one text, clause by clause.

    Attributes:
        clauses: Clauses in their order; those without content words are left out.
        words: All content words.
    """

    clauses: tuple[Clause, ...]
    words: Words


def read_wording(text: str, *, language: Language) -> Wording:
    """Read a text clause by clause.

    Args:
        text: A sentence, or a lead-in and its list item.
        language: Functions that read words.

    Source:
        rules/verification.yaml: `rewrites`, `no_denials`, `denials`, `clause_ends`, `alike`.
    """
    plain = fold(text)
    for rule in load_rules("verification", "rewrites"):
        plain = rule.pattern.sub(rule.extra["written"], plain)
    for rule in load_rules("verification", "no_denials"):
        plain = rule.pattern.sub(" ", plain)
    clauses = []
    for part in _split_clauses(plain):
        spoken = frozenset(_WORD.findall(part.casefold())) & _contrary().keys()
        force, has_verb = (
            _read_force(part),
            load_rules("verification", "predicates")[0].pattern.search(part) is not None,
        )
        denials = sum(len(rule.pattern.findall(part)) for rule in load_rules("verification", "denials"))
        heads, reach = _find_denied(part, language=language)
        for rule in load_rules("verification", "denials")[:1]:
            part = rule.pattern.sub(" ", part)
        words = find_words(part, language=language)
        if words:
            clauses.append(Clause(words, denials % 2 == 1, heads, reach, spoken, force, has_verb))
    every = frozenset().union(*(clause.words for clause in clauses)) if clauses else frozenset()
    return Wording(tuple(clauses), every)


def find_words(text: str, *, language: Language) -> Words:
    """Return the stems of a text's content words: no figures, no keys; synonyms share one stem.

    Args:
        text: Any text.
        language: Functions that read words.
    """
    return frozenset(_list_words(text, language=language))


def _list_words(text: str, *, language: Language) -> Iterator[str]:
    alike = _alike(language.find_terms)
    for term in language.find_terms(text):
        if term.replace("-", "").replace("'", "").isalpha():
            yield alike.get(term, term)


def find_contrary(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> tuple[str, str] | None:
    """Return a word of a statement and its contrary in the nearest clauses of a passage; None for none.

    Args:
        one: The statement.
        other: The passage.
        weights: Weight of each word of the statement.
    """
    for clause in one.clauses:
        nearest, _ = _find_nearest(clause.words, other.clauses, weights=weights)
        for word in sorted(clause.opposites):
            for contrary in sorted(_contrary()[word] - clause.opposites):
                if nearest and all(contrary in own.opposites and word not in own.opposites for own in nearest):
                    return word, contrary
    return None


def demands_more(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a statement says `must` where the nearest clauses of a passage say `may`.

    Args:
        one: The statement.
        other: The passage.
        weights: Weight of each word of the statement.
    """
    for clause in one.clauses:
        nearest, _ = _find_nearest(clause.words, other.clauses, weights=weights)
        if clause.force == "must" and not clause.is_negative and nearest and all(own.force == "may" for own in nearest):
            return True
    return False


def match_word(word: str, words: Words) -> bool:
    """Return whether a stem, or a longer or shorter form of it, is among some stems.

    Args:
        word: The stem.
        words: Stems of the other text.
    """
    if word in words:
        return True
    if len(word) < _SHORTEST_STEM:
        return False
    return any(len(other) >= _SHORTEST_STEM and (other.startswith(word) or word.startswith(other)) for other in words)


def score_agreement(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> float:
    """Return how far two texts agree in what they affirm and deny: 1 for the same, 0 for the opposite.

    Denied verbs decide where both texts have them. Where they do not, each clause of the statement is compared with
    the clause of the passage that shares most of its words.

    Args:
        one: The statement.
        other: The passage.
        weights: Weight of each word of the statement.
    """
    agreed, opposed = _compare_heads(one, other, weights=weights)
    if agreed and not opposed:
        opposed = any(_is_turned(clause, other, weights=weights) for clause in one.clauses)
    if agreed or opposed:
        return 1.0 if not opposed else 0.0 if not agreed else 0.5
    same = total = 0.0
    for clause in one.clauses:
        nearest, share = _find_nearest(clause.words, other.clauses, weights=weights)
        total += share
        same += share * (clause.is_negative in {there.is_negative for there in nearest})
    return same / total if total else 1.0


def _is_turned(clause: Clause, other: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether all clauses of a passage that say what a clause says are of the other polarity."""
    stated = [own for own in other.clauses if own.has_verb]
    nearest, share = _find_nearest(clause.words, stated, weights=weights)
    total = sum(_weight_of(word, weights) for word in clause.words)
    is_said = clause.has_verb and share >= _MOSTLY * total
    return is_said and all(own.is_negative != clause.is_negative for own in nearest)


def _compare_heads(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> tuple[bool, bool]:
    """Return whether what one text denies is denied by the other, too, and whether it is affirmed there."""
    agreed = opposed = False
    for text, there in ((one, other), (other, one)):
        for clause in text.clauses:
            for word in clause.heads:
                holders = [holder for holder in there.clauses if match_word(word, holder.words)]
                nearest, _ = _find_nearest(clause.words, holders, weights=weights)
                if any(holder.is_negative for holder in nearest):
                    agreed = True
                elif nearest:
                    opposed = True
    return agreed, opposed


def _find_nearest(
    words: Words, clauses: Sequence[Clause], *, weights: Mapping[str, float]
) -> tuple[list[Clause], float]:
    """Return the clauses that share most of some words, by weight, and how much that is."""
    shares = [sum(_weight_of(word, weights) for word in words if match_word(word, own.words)) for own in clauses]
    best = max(shares, default=0.0)
    return [own for share, own in zip(shares, clauses, strict=True) if share >= _NEARLY * best > 0], best


def _weight_of(word: str, weights: Mapping[str, float]) -> float:
    return weights.get(word, _LEAST_WEIGHT)


def _find_denied(part: str, *, language: Language) -> tuple[Words, Words]:
    """Find the first content word after each denial, and the next one."""
    heads: set[str] = set()
    reach: set[str] = set()
    for match in load_rules("verification", "word_denials")[0].pattern.finditer(part):
        after = list(_list_words(part[match.end() :], language=language))[:_REACH_WORDS]
        heads |= set(after[:1])
        reach |= set(after[1:])
    return frozenset(heads), frozenset(reach)


def _read_force(part: str) -> str:
    found = [rule.id for rule in load_rules("verification", "forces") if rule.pattern.search(part)]
    return found[0] if found else ""


def _split_clauses(text: str) -> list[str]:
    pattern = load_rules("verification", "clause_ends")[0].pattern
    parts, start = [], 0
    for match in pattern.finditer(text):
        parts.append(text[start : match.start()])
        start = match.start() if match[0].strip().isalpha() else match.end()
    return [*parts, text[start:]]


@cache
def _alike(find_terms: Callable[[str], Sequence[str]]) -> Mapping[str, str]:
    """Return the first stem of its group for each stem that has synonyms."""
    found: dict[str, str] = {}
    for group in load_family("verification")["alike"]:
        stems = [stem for word in group for stem in find_terms(word)]
        for stem in stems:
            found.setdefault(stem, stems[0])
    return found


@cache
def _contrary() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    pairs: Sequence[Sequence[str]] = load_family("verification")["opposites"]
    for one, other in pairs:
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}


def read_weights(words: Iterable[str], *, language: Language) -> dict[str, float]:
    """Return the weight of each word: that of its most frequent synonym; a word that no document has is the rarest.

    Args:
        words: Stems.
        language: Functions that read words.
    """
    members = _members(language.find_terms)
    weights = {}
    for word in words:
        known = [weight for own in members.get(word, (word,)) if (weight := language.read_weight(own)) > 0]
        weights[word] = min(known, default=language.unknown_weight)
    return weights


@cache
def _members(find_terms: Callable[[str], Sequence[str]]) -> Mapping[str, tuple[str, ...]]:
    """Return the stems of each group of synonyms by its first one."""
    found: dict[str, list[str]] = {}
    for stem, first in _alike(find_terms).items():
        found.setdefault(first, []).append(stem)
    return {first: tuple(stems) for first, stems in found.items()}
