"""The passages of a document by their words and paragraphs, so that a claim meets only those that may mention it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.abbreviations import NONE
from taxkg_assets.verification.cells import find_ranges, is_within
from taxkg_assets.verification.claims import Claim
from taxkg_assets.verification.clause_words import find_words, match_word
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.language import Language

_KEY_BONUS, _VALUE_BONUS = 0.15, 0.2


class Shortlist:
    """The passages of one document with their words, to preselect those for a claim."""

    def __init__(self, passages: Sequence[Passage], *, language: Language) -> None:
        """Read the words of all passages.

        Args:
            passages: Passages of the document.
            language: Functions that read words.
        """
        self.passages = tuple(passages)
        self.abbreviations = self.passages[0].abbreviations if self.passages else NONE
        self._own: dict[str, list[int]] = {}
        self._place: dict[str, list[int]] = {}
        self._by_key: dict[str, list[int]] = {}
        self._by_node: dict[str, list[Passage]] = {}
        # Many passages have the same headings; most sentences are also the one before another.
        read = cache(lambda text: find_words(self.abbreviations.write_both(text), language=language))
        for number, passage in enumerate(self.passages):
            words = find_words(passage.labeled, language=language)
            for word in words:
                self._own.setdefault(word, []).append(number)
            for word in (read(" . ".join(passage.headings)) | read(passage.before)) - words:
                self._place.setdefault(word, []).append(number)
            for key in passage.keys:
                self._by_key.setdefault(key, []).append(number)
            self._by_node.setdefault(passage.node_id, []).append(passage)

    def find(self, claim: Claim) -> list[Passage]:
        """Return the passages that share most words, values and keys with a claim.

        Args:
            claim: The claim.
        """
        bounds = load_verification().thresholds
        total = sum(claim.weights.values()) or 1.0
        scores: dict[int, float] = {}
        for word, weight in claim.weights.items():
            factors: dict[int, float] = {}
            for factor, postings in ((bounds.context, self._place), (1.0, self._own)):
                for other in _forms_of(word, postings):
                    for number in postings[other]:
                        factors[number] = max(factor, factors.get(number, 0.0))
            for number, factor in factors.items():
                scores[number] = scores.get(number, 0.0) + factor * weight / total
        for value in claim.keys:
            for number in self._by_key.get(value.figure, ()):
                scores[number] = scores.get(number, 0.0) + _KEY_BONUS
        for number in scores if claim.values else ():
            scores[number] += _VALUE_BONUS * score_named(claim, self.passages[number])
        best = sorted(scores, key=lambda number: (-scores[number], number))
        return [self.passages[number] for number in best[: bounds.shortlist]]

    def read_nodes(self, node_ids: Iterable[str]) -> list[Passage]:
        """Return the passages of some paragraphs, headings and tables, in document order.

        Args:
            node_ids: Nodes of the document.
        """
        return [passage for node_id in node_ids for passage in self._by_node.get(node_id, ())]


def score_named(claim: Claim, passage: Passage) -> float:
    """Return the share of a claim's values that a passage prints, or is printed under, as the claim writes them.

    Args:
        claim: The claim.
        passage: The passage.
    """
    if not claim.values:
        return 0.0
    text = passage.spoken.casefold()
    ranges = find_ranges(passage.headers)
    named = sum(
        value.text.strip("$,. ").casefold() in text
        or value.figure in passage.keys
        or value.figure in passage.headers
        or is_within(value.figure, ranges)
        for value in claim.values
    )
    return named / len(claim.values)


def _forms_of(word: str, postings: dict[str, list[int]]) -> list[str]:
    """Return the words of a vocabulary that match a word."""
    return [other for other in postings if other[:4] == word[:4] and match_word(word, frozenset({other}))]
