"""A thing of a claim in the place of another thing of a passage: `insurance of a boat`, `insurance of a barge`.

Both texts have the same words around it. What is done may be said by another verb there; another thing is another rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

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

    `Report the boat` replaces `dues` in `Report the dues`: the nearer both words are in meaning, the lower the score.

    Args:
        claim: Words of the claim.
        passage: Words of the passage.
        stems_of: Stems of a word; none for a word without content.
        near: Function that returns the similarity of two words.

    Returns:
        The score.
    """
    claim_stems = frozenset[str]().union(*map(stems_of, claim))
    passage_stems = frozenset[str]().union(*map(stems_of, passage))
    claim_runs = _find_runs(claim, passage_stems, stems_of=stems_of)
    passage_runs = _find_runs(passage, claim_stems, stems_of=stems_of)
    score = 0.0
    for claim_run in claim_runs:
        for passage_run in passage_runs:
            if not _is_same_place(claim_run, passage_run, stems_of=stems_of):
                continue
            claim_nouns = [number for number in claim_run.words if is_noun(claim[number])]
            passage_nouns = [number for number in passage_run.words if is_noun(passage[number])]
            if claim_nouns and passage_nouns:
                nearest = max(near(in_claim, in_passage) for in_claim in claim_nouns for in_passage in passage_nouns)
                score = max(score, 1.0 - min(max(nearest, 0.0), 1.0))
    return score


def _find_runs(text: Sequence[str], known: Words, *, stems_of: Callable[[str], Words]) -> list[Run]:
    """Find the words in a row, articles left out, that another text lacks.

    Args:
        text: Words of the text.
        known: Stems of the other text.
        stems_of: Stems of a word.
    """

    def is_lacking(number: int) -> bool:
        """Return whether the other text lacks a word with content."""
        stems = stems_of(text[number])
        return bool(stems) and not any(match_word(stem, known) for stem in stems)

    numbers = [number for number, word in enumerate(text) if word not in _ARTICLES]
    runs = []
    position = 0
    for lacking, group in groupby(numbers, key=is_lacking):
        run = tuple(group)
        end = position + len(run)
        if lacking:
            before = text[numbers[position - 1]] if position else ""
            after = text[numbers[end]] if end < len(numbers) else ""
            runs.append(Run(run, before, after))
        position = end
    return runs


def _is_same_place(one: Run, other: Run, *, stems_of: Callable[[str], Words]) -> bool:
    """Return whether two runs stand after the same word, or before the same word of content."""
    is_after = one.before != "" and (one.before == other.before or bool(stems_of(one.before) & stems_of(other.before)))
    return is_after or bool(stems_of(one.after) & stems_of(other.after))
