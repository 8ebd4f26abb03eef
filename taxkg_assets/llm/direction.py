"""Direction: whether a sentence keeps who acts on what, and what is contained in what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from taxkg_assets.llm.markers import mark_matches, split_parts
from taxkg_assets.llm.normalization import Words, find_stem, find_stems, list_stems, split_clauses
from taxkg_assets.rules.models.claims import load_claims


@dataclass(frozen=True, slots=True)
class _DirectedWord:
    """A word with a direction (`in`, `paid to`), the words on its two sides, and the nearest word on each side."""

    kind: str
    left: Words
    right: Words
    nearest: tuple[str, str] = ("", "")


def swaps_arguments(claim: str, source: str) -> bool:
    """Return whether a claim swaps two things of its source: `rent in a deposit` became `a deposit in rent`.

    Args:
        claim: The sentence.
        source: Sentences that it must follow from.
    """
    source_words = [word for clause in split_clauses(source) for word in _find_directed_words(clause)]
    claim_words = [word for clause in split_clauses(claim) for word in _find_directed_words(clause)]
    for word in claim_words:
        same_kind = [other for other in source_words if other.kind == word.kind]
        kept_count = max(
            (len(word.left & other.left) + len(word.right & other.right) for other in same_kind), default=0
        )
        swapped = max((len(word.left & other.right) + len(word.right & other.left) for other in same_kind), default=0)
        nearest = {other.nearest for other in same_kind}
        swaps_nearest = word.nearest not in nearest and word.nearest[::-1] in nearest - {("", "")}
        if swapped > kept_count or swaps_nearest:
            return True
    return False


def reverses_words(claim: str, source: str) -> bool:
    """Return whether a claim reverses three words of its source, as in `owners sue tenants`.

    A change between active and passive reverses words without changing what they mean.

    Args:
        claim: The sentence.
        source: Sentences that it must follow from.
    """
    voice = re.compile(load_claims().voice)
    if bool(voice.search(claim)) != bool(voice.search(source)):
        return False
    claim_triples, source_triples = _find_triples(claim), _find_triples(source)
    return any(
        triple[::-1] in source_triples and len(set(triple)) == len(triple) for triple in claim_triples - source_triples
    )


def _find_triples(text: str) -> set[tuple[str, ...]]:
    """Return all combinations of three stems of each part of a text, in the order of the text."""
    sides = (side for part in split_parts(text) for side in _side_end().split(part))
    return {triple for side in sides for triple in combinations(list_stems(side), 3)}


def changes_connective(claim: str, source: str) -> bool:
    """Return whether a claim changes a connecting word: `and` to `or`, or `paid to` to `paid by`.

    Args:
        claim: The sentence.
        source: Sentences that it must follow from.
    """
    source_connectives = _find_connectives(source)
    return any(
        words in source_connectives and not rule_ids & source_connectives[words]
        for words, rule_ids in _find_connectives(claim).items()
    )


def _find_connectives(text: str) -> Mapping[Words, Words]:
    """Return the rule ids of the conjunctions or prepositions that connect two words, by these words."""
    text, _ = mark_matches(text, load_claims().comparators)
    connectives: dict[Words, Words] = {}
    for rule in load_claims().joins:
        for match in rule.pattern.finditer(text):
            # A rule that joins only the word after it has a blank on its left.
            left = _read_nearest(text[: match.start()].rstrip(" ,"), at=-1) if rule.joins == "both" else " "
            right = _read_nearest(text[match.end() :], at=0)
            if left and right:
                words = frozenset((left, right))
                connectives[words] = connectives.get(words, frozenset()) | {rule.id}
    return connectives


def _find_directed_words(clause: str) -> list[_DirectedWord]:
    """Return the words of a clause that have a direction; the actor of a verb is on its left, also of a passive one."""
    clause = re.sub(load_claims().addressee, "addressee", clause)
    directed_words = [
        _DirectedWord(
            rule.id,
            _read_left(clause[: match.start()]),
            _read_right(clause[match.end() :]),
            nearest=(_read_nearest(clause[: match.start()], at=-1), _read_nearest(clause[match.end() :], at=0)),
        )
        for rule in load_claims().directions
        for match in rule.pattern.finditer(clause)
    ]
    passive = re.compile(load_claims().passive)
    for rule in load_claims().acts:
        for match in rule.pattern.finditer(clause):
            before, after = clause[: match.start()], clause[match.end() :]
            left, right = _read_left(before), _read_right(after)
            if passive.search(before):
                affected, _, actor = after.partition(f" {rule.actor_after} ")
                left, right = _read_right(actor), left | _read_right(affected)
            directed_words.append(_DirectedWord(f"{rule.id} {find_stem(match['verb'].casefold())}", left, right))
    return directed_words


@cache
def _side_end() -> re.Pattern[str]:
    return re.compile(load_claims().side_ends)


def _read_nearest(text: str, *, at: int) -> str:
    """Return the content word next to a direction word; empty where there is none.

    Args:
        text: Text before or after the direction word.
        at: -1 for a text before it, 0 for one after it.
    """
    stems = list_stems(_side_end().split(text)[at])
    return stems[at] if stems else ""


def _read_left(text: str) -> Words:
    """Return the last words of a text before a direction word."""
    return find_stems(" ".join(_side_end().split(text)[-1].split()[-load_claims().side_words :]))


def _read_right(text: str) -> Words:
    """Return the first words of a text after a direction word."""
    return find_stems(" ".join(_side_end().split(text)[0].split()[: load_claims().side_words]))
