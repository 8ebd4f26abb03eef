"""A thing of a claim in the place of another thing of a passage: `insurance of a boat`, `insurance of a barge`.

Both texts have the same words around it. What is done may be said by another verb there; another thing is another rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from taxkg_assets.rules.general_words import is_noun
from taxkg_assets.verification.clause_words import Words, match_word

_ARTICLES = frozenset({"a", "an", "the", "your", "their", "his", "her", "its", "any", "each"})
Near = Callable[[int, int], float]
"""Nearness of a word of the claim to one of the passage, by their numbers; 1 for the same."""


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive words that the other text lacks, with the words around them.

    Attributes:
        words: Numbers of the words.
        before: Word before them, articles left out; empty at the start.
        after: Word after them.
    """

    words: tuple[int, ...]
    before: str
    after: str


def score_replaced(
    claim: Sequence[str], passage: Sequence[str], *, stems_of: Callable[[str], Words], near: Near
) -> float:
    """Score how far a claim replaces an object of the passage by a different one, 0 for none to 1.

    Args:
        claim: Words of the claim.
        passage: Words of the passage.
        stems_of: Stems of a word; none for a word without content.
        near: Function that returns the similarity of two words.

    Returns:
        The score.
    """
    mine, theirs = (frozenset[str]().union(*(stems_of(word) for word in text)) for text in (claim, passage))
    worst = 0.0
    for own in _find_runs(claim, theirs, stems_of=stems_of):
        for other in _find_runs(passage, mine, stems_of=stems_of):
            if not _is_same_place(own, other, stems_of=stems_of):
                continue
            things = [number for number in own.words if is_noun(claim[number])]
            others = [number for number in other.words if is_noun(passage[number])]
            if things and others:
                nearest = max(near(one, two) for one in things for two in others)
                worst = max(worst, 1.0 - min(max(nearest, 0.0), 1.0))
    return worst


def _find_runs(text: Sequence[str], known: Words, *, stems_of: Callable[[str], Words]) -> list[Run]:
    """Find the words in a row, articles left out, that another text lacks."""
    kept = [number for number, word in enumerate(text) if word not in _ARTICLES]
    lacking = [bool(stems_of(text[n])) and not any(match_word(own, known) for own in stems_of(text[n])) for n in kept]
    runs, start = [], 0
    while start < len(kept):
        end = start
        while end < len(kept) and lacking[end]:
            end += 1
        if end > start:
            before = text[kept[start - 1]] if start else ""
            after = text[kept[end]] if end < len(kept) else ""
            runs.append(Run(tuple(kept[start:end]), before, after))
        start = end + 1
    return runs


def _is_same_place(one: Run, other: Run, *, stems_of: Callable[[str], Words]) -> bool:
    """Return whether two runs stand after the same word, or before the same word of content."""
    is_after = one.before != "" and (one.before == other.before or bool(stems_of(one.before) & stems_of(other.before)))
    return is_after or bool(stems_of(one.after) & stems_of(other.after))
