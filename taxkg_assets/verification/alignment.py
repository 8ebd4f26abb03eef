"""A claim in the words of a passage: each word that the passage lacks becomes the one that says the same there.

Words are compared by the vectors that the encoder gives them in their sentence, so that `bought` is near `acquired`
where both are about the same thing. A word that the library itself uses often has to be nearer than a rare one: who
uses both `buyer` and `seller` means two things. Figures, keys and denials are not aligned; they have to agree
(`stated.py`, `polarity.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from taxkg_assets.rules.general_words import find_synonyms, is_noun
from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.claims import Claim
from taxkg_assets.verification.clause_words import Wording, Words, find_rivals, find_words, match_word, read_weights
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.language import Language, Vectors, WordVectors
from taxkg_assets.verification.substitution import score_replaced
from taxkg_assets.verification.values import fold

_MOST_KEPT = 20_000
_FAR = 0.8  # nearness of a word, over what it needs, below which a passage says nothing like it


@dataclass(frozen=True, slots=True)
class Alignment:
    """A claim aligned word by word with a passage, to accept paraphrases.

    Attributes:
        claim: The claim with its words replaced by the passage's words of the same meaning.
        nearness: Cosine of each stem that the passage lacks to its nearest word, divided by the required cosine.
        answered: Weighted share of the words in the passage's most similar part that the claim contains or paraphrases,
            0 to 1.
        replaced: Distance between an object in the claim and the one that the passage names instead, 0 for none to 1.
    """

    claim: Claim
    nearness: Mapping[str, float]
    answered: float = 1.0
    replaced: float = 0.0


class Aligner:
    """Aligns claims with passages by word embeddings; each text is encoded once."""

    def __init__(self, language: Language) -> None:
        """Take the functions that read words.

        Args:
            language: Functions that read words; without `read_vectors` nothing is aligned.
        """
        self._language = language
        self._kept: dict[str, WordVectors] = {}
        self._stems_of = lru_cache(maxsize=_MOST_KEPT)(self._read_stems)
        self._synonyms_of = lru_cache(maxsize=_MOST_KEPT)(self._read_synonyms)

    def align(self, claim: Claim, passage: Passage, *, own: Words, place: Words, part: str = "") -> Alignment:
        """Align the words of a claim with those of a passage.

        Args:
            claim: The claim.
            passage: The passage.
            own: Stems of the passage.
            place: Stems of its headings and of the sentence before.
            part: Part of the passage that is most similar to the claim.

        Returns:
            The alignment.
        """
        if self._language.read_vectors is None:
            return Alignment(claim, {})
        lacking = frozenset(stem for stem in claim.weights if not match_word(stem, own))
        answered = self._score_answered(claim, part)
        if not lacking:
            return Alignment(claim, {}, answered)
        needed = self._find_needed(lacking, things=claim.nouns)
        nearest = self._find_nearest(claim, f"{passage.label}. {passage.written_out}", lacking)
        there = {stem: word for stem, (word, cosine) in nearest.items() if cosine >= needed[stem]}
        said = {stem: find_words(word, language=self._language) - place for stem, word in there.items()}
        nearness = {stem: cosine / needed[stem] for stem, (_, cosine) in nearest.items()}
        replaced = self._score_replaced(claim, f"{passage.label}. {passage.written_out}")
        return Alignment(_rewrite(claim, said), nearness, answered, replaced)

    def _score_replaced(self, claim: Claim, text: str) -> float:
        mine, there = self._read(claim.plain), self._read(text)
        if not mine.words or not there.words:
            return 0.0
        cosines = mine.vectors @ there.vectors.T
        stems = [self._stems_of(word) for word in mine.words]
        needed = [min(self._find_needed(own, things=claim.nouns).values(), default=1.0) for own in stems]

        def near(one: int, other: int) -> float:
            if not self._synonyms_of(mine.words[one]).isdisjoint(self._stems_of(there.words[other])):
                return 1.0
            return float(cosines[one, other]) / needed[one]

        return score_replaced(mine.words, there.words, stems_of=self._stems_of, near=near)

    def _score_answered(self, claim: Claim, part: str) -> float:
        """Return the weighted share of a part's words that a claim has, or is near to; 1 for a part without words."""
        mine, there = self._read(claim.plain), self._read(part)
        if not mine.words or not there.words:
            return 1.0
        nearest = dict(zip(there.words, (there.vectors @ mine.vectors.T).max(axis=1), strict=True))
        found: dict[str, float] = {}
        for word, cosine in nearest.items():
            for stem in find_words(word, language=self._language):
                found[stem] = max(found.get(stem, 0.0), float(cosine))
        needed = self._find_needed(frozenset(found))
        weights = read_weights(found, language=self._language)
        own = claim.wording.words
        shares = {
            stem: 1.0 if match_word(stem, own) else min(max(cosine, 0.0) / needed[stem], 1.0) ** 2
            for stem, cosine in found.items()
        }
        total = sum(weights.values())
        return sum(weights[stem] * share for stem, share in shares.items()) / total if total else 1.0

    def _find_needed(self, stems: Words, *, things: Words = frozenset()) -> dict[str, float]:
        """Return the cosine from which a stem is said by another word: the less, the rarer it is in the library.

        A word for a thing needs more than one for what is done.
        """
        bounds = load_verification().thresholds
        rarity = read_weights(stems, language=self._language)
        return {
            stem: float(
                np.clip(
                    bounds.alike - bounds.rarer * weight,
                    bounds.thing if stem in things else bounds.unlike,
                    bounds.alike,
                )
            )
            for stem, weight in rarity.items()
        }

    def _find_nearest(self, claim: Claim, text: str, stems: Words) -> dict[str, tuple[str, float]]:
        """Find the nearest word of a text for some stems of a claim; a rival is none."""
        mine, there = self._read(claim.plain), self._read(text)
        if not mine.words or not there.words:
            return {}
        found: dict[str, tuple[str, float]] = {}
        taken = [self._is_said(other, claim.wording.words) for other in there.words]
        for word, row in zip(mine.words, mine.vectors @ there.vectors.T, strict=True):
            own = self._stems_of(word) & stems
            if not own:
                continue
            cosines = self._score_words(word, row, there.words)
            if is_noun(word):  # each thing of the passage matches one word of the claim
                cosines = np.where(taken, 0.0, cosines)
            nearest = int(cosines.argmax())
            for stem in own:
                if _may_say(there.words[nearest], word) and cosines[nearest] > found.get(stem, ("", 0.0))[1]:
                    found[stem] = there.words[nearest], float(cosines[nearest])
        return found

    def _score_words(self, word: str, cosines: Vectors, others: Sequence[str]) -> Vectors:
        """Return the cosines of a word with others; a synonym that is not far in its sentence says the same."""
        synonyms = self._synonyms_of(word)
        least = load_verification().thresholds.synonym
        is_same = [
            cosine >= least and bool(synonyms) and not synonyms.isdisjoint(self._stems_of(other))
            for other, cosine in zip(others, cosines, strict=True)
        ]
        return np.where(is_same, 1.0, cosines)

    def _is_said(self, word: str, stems: Words) -> bool:
        return any(match_word(stem, stems) for stem in self._stems_of(word))

    def _read_stems(self, word: str) -> Words:
        return find_words(word, language=self._language)

    def _read_synonyms(self, word: str) -> Words:
        own = [other for other in find_synonyms(word) if _may_say(other, word)]
        return find_words(" ".join(own), language=self._language)

    def _read(self, text: str) -> WordVectors:
        """Return the words of a text with their vectors, without figures and marks."""
        if text not in self._kept:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            assert self._language.read_vectors is not None
            read = self._language.read_vectors(fold(text))
            kept = [number for number, word in enumerate(read.words) if any(letter.isalpha() for letter in word)]
            self._kept[text] = WordVectors(tuple(read.words[number].casefold() for number in kept), read.vectors[kept])
        return self._kept[text]


def _may_say(other: str, word: str) -> bool:
    """Return whether a word can stand for another one: no rival of it, and both or none say how many, or deny."""
    counting = load_verification().quantifiers
    is_alike = (other in counting) == (word in counting) and _denies(other) == _denies(word)
    return is_alike and other not in find_rivals().get(word, ())


@lru_cache(maxsize=_MOST_KEPT)
def _denies(word: str) -> bool:
    return any(rule.pattern.search(word) for rule in load_verification().denials)


def _rewrite(claim: Claim, said: Mapping[str, Words]) -> Claim:
    """Return a claim with other stems; one that a word without content says, as `inside` by `in`, is left out."""

    def rewrite(words: Words) -> Words:
        return frozenset[str]().union(*(said.get(word, frozenset({word})) for word in words))

    clauses = tuple(
        replace(own, words=rewrite(own.words), heads=rewrite(own.heads), reach=rewrite(own.reach))
        for own in claim.wording.clauses
    )
    weights: dict[str, float] = {}
    for stem, weight in claim.weights.items():
        for other in said.get(stem, frozenset({stem})):
            weights[other] = max(weight, weights.get(other, 0.0))
    return replace(claim, wording=Wording(clauses, rewrite(claim.wording.words)), weights=weights)


def score_softly(claim: Claim, absent: Words, nearness: Mapping[str, float], *, place: Words) -> float:
    """Return the weighted share of a claim's words in a passage, counting similar words partially, 0 to 1.

    A word that the passage lacks counts by its nearest word, or as a word of its headings.

    Args:
        claim: The claim.
        absent: Words of the claim that the passage itself lacks.
        nearness: Cosine of each to its nearest word in the passage, divided by the required cosine.
        place: Words of the headings and of the sentence before.
    """
    context = load_verification().thresholds.context
    total = found = 0.0
    for word, weight in claim.weights.items():
        near = min(nearness.get(word, 0.0), 1.0) ** 2
        share = 1.0 if word not in absent else max(near, context) if match_word(word, place) else near
        total, found = total + weight, found + weight * share
    return found / total if total else 0.0


def score_strange(claim: Claim, absent: Words, nearness: Mapping[str, float], *, place: Words) -> float:
    """Return the weight of an object that the claim names and the passage does not, less its similarity; 0 for none.

    Actions have many wordings; their objects are rarely renamed.

    Args:
        claim: The claim.
        absent: Words of the claim that the passage itself lacks.
        nearness: Cosine of each to its nearest word in the passage, divided by the required cosine.
        place: Words of the headings and of the sentence before.
    """
    strange = (word for word in absent & claim.nouns if not match_word(word, place))
    return max((claim.weights[word] * (1.0 - min(nearness.get(word, 0.0), 1.0) ** 2) for word in strange), default=0.0)


def score_unsaid(claim: Claim, missing: Words, nearness: Mapping[str, float]) -> float:
    """Return the weight of the rarest word of a claim that a passage does not express; 0 for none.

    Args:
        claim: The claim.
        missing: Words of the claim that are neither in the passage nor in its headings.
        nearness: Cosine of each to its nearest word in the passage, divided by the required cosine.
    """
    return max((claim.weights[word] for word in missing if nearness.get(word, 0.0) < _FAR), default=0.0)
