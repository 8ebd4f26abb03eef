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
    """

    words: Words
    is_negative: bool
    heads: Words = frozenset()
    reach: Words = frozenset()


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one text, clause by clause.

    Attributes:
        clauses: Clauses in their order; those without content words are left out.
        words: All content words.
        opposites: Words that have a contrary, as in `opposites` of the rules.
    """

    clauses: tuple[Clause, ...]
    words: Words
    opposites: Words


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
        denials = sum(len(rule.pattern.findall(part)) for rule in load_rules("verification", "denials"))
        heads, reach = _find_denied(part, language=language)
        for rule in load_rules("verification", "denials")[:1]:
            part = rule.pattern.sub(" ", part)
        words = find_words(part, language=language)
        if words:
            clauses.append(Clause(words, denials % 2 == 1, heads, reach))
    every = frozenset().union(*(clause.words for clause in clauses)) if clauses else frozenset()
    spoken = set(_WORD.findall(plain.casefold()))
    return Wording(tuple(clauses), every, frozenset(spoken & _contrary().keys()))


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


def find_contrary(one: Wording, other: Wording) -> tuple[str, str] | None:
    """Return a word of one text and its contrary in the other, where neither has both; None for none.

    Args:
        one: The first text.
        other: The second text.
    """
    for word in sorted(one.opposites):
        for contrary in sorted(_contrary()[word]):
            if contrary in other.opposites and word not in other.opposites and contrary not in one.opposites:
                return word, contrary
    return None


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
    if agreed or opposed:
        return 1.0 if not opposed else 0.0 if not agreed else 0.5
    same = total = 0.0
    for clause in one.clauses:
        nearest, share = _find_nearest(clause.words, other.clauses, weights=weights)
        total += share
        same += share * (clause.is_negative in {there.is_negative for there in nearest})
    return same / total if total else 1.0


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
    """Return the weight of each word.

    Args:
        words: Stems.
        language: Functions that read words.
    """
    return {word: max(0.0, language.read_weight(word)) for word in words}
