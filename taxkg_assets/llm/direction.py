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
class _Turn:
    """A word with a direction, and the words on its two sides."""

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
    stated = [turn for clause in split_clauses(source) for turn in _find_turns(clause)]
    for turn in (turn for clause in split_clauses(claim) for turn in _find_turns(clause)):
        like = [other for other in stated if other.kind == turn.kind]
        straight = max((len(turn.left & o.left) + len(turn.right & o.right) for o in like), default=0)
        crossed = max((len(turn.left & o.right) + len(turn.right & o.left) for o in like), default=0)
        near = {other.nearest for other in like}
        if crossed > straight or (turn.nearest not in near and turn.nearest[::-1] in near - {("", "")}):
            return True
    return False


def reverses_words(claim: str, source: str) -> bool:
    """Return whether a claim reverses three words of its source without a passive: `owners sue tenants`.

    Args:
        claim: The sentence.
        source: Sentences that it must follow from.
    """
    voice = re.compile(load_claims().voice)
    if bool(voice.search(claim)) != bool(voice.search(source)):
        return False
    claimed, stated = _find_orders(claim), _find_orders(source)
    return any(three[::-1] in stated and len(set(three)) == len(three) for three in claimed - stated)


def _find_orders(text: str) -> set[tuple[str, ...]]:
    pieces = (piece for part in split_parts(text) for piece in _side_end().split(part))
    return {three for piece in pieces for three in combinations(list_stems(piece), 3)}


def changes_connective(claim: str, source: str) -> bool:
    """Return whether a claim changes a connecting word: `and` to `or`, or `paid to` to `paid by`.

    Args:
        claim: The sentence.
        source: Sentences that it must follow from.
    """
    stated = _find_joins(source)
    return any(words in stated and not kinds & stated[words] for words, kinds in _find_joins(claim).items())


def _find_joins(text: str) -> Mapping[Words, Words]:
    """Return which conjunctions or prepositions connect which words."""
    text, _ = mark_matches(text, load_claims().comparators)
    joins: dict[Words, Words] = {}
    for rule in load_claims().joins:
        for m in rule.pattern.finditer(text):
            left = _nearest(text[: m.start()].rstrip(" ,"), at=-1) if rule.joins == "both" else " "
            right = _nearest(text[m.end() :], at=0)
            if left and right:
                words = frozenset((left, right))
                joins[words] = joins.get(words, frozenset()) | {rule.id}
    return joins


def _find_turns(clause: str) -> list[_Turn]:
    clause = re.sub(load_claims().addressee, "addressee", clause)
    turns = [
        _Turn(
            rule.id,
            _last(clause[: m.start()]),
            _first(clause[m.end() :]),
            nearest=(_nearest(clause[: m.start()], at=-1), _nearest(clause[m.end() :], at=0)),
        )
        for rule in load_claims().directions
        for m in rule.pattern.finditer(clause)
    ]
    passive = re.compile(load_claims().passive)
    for rule in load_claims().acts:
        for m in rule.pattern.finditer(clause):
            before, after = clause[: m.start()], clause[m.end() :]
            left, right = _last(before), _first(after)
            if passive.search(before):
                acted, _, actor = after.partition(f" {rule.actor_after} ")
                left, right = _first(actor), left | _first(acted)
            turns.append(_Turn(f"{rule.id} {find_stem(m['verb'].casefold())}", left, right))
    return turns


@cache
def _side_end() -> re.Pattern[str]:
    return re.compile(load_claims().side_ends)


def _nearest(text: str, *, at: int) -> str:
    """Return the content word next to a direction word, before or after it; empty where there is none."""
    stems = list_stems(_side_end().split(text)[at])
    return stems[at] if stems else ""


def _last(text: str) -> Words:
    return find_stems(" ".join(_side_end().split(text)[-1].split()[-load_claims().side_words :]))


def _first(text: str) -> Words:
    return find_stems(" ".join(_side_end().split(text)[0].split()[: load_claims().side_words]))
