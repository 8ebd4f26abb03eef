"""A claim against a passage: how much of its words is there, whether values, keys, forms and polarity agree."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.alignment import score_softly, score_strange, score_unsaid
from taxkg_assets.verification.claims import Claim
from taxkg_assets.verification.clause_words import Wording, Words, match_word
from taxkg_assets.verification.doubts import find_failed_checks
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.exclusives import leaves_out, names_some_alone
from taxkg_assets.verification.headings import is_bare_heading, is_under_denial
from taxkg_assets.verification.passage_parts import split_passage
from taxkg_assets.verification.pointers import is_pointer, refers
from taxkg_assets.verification.polarity import (
    demands_more,
    find_contrary,
    is_excepted,
    is_reversed,
    lacks_sense,
    names_exception,
    score_agreement,
    score_turned,
)
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.shortlist import score_named
from taxkg_assets.verification.stated import Difference, compare_values
from taxkg_assets.verification.values import Value, fold

_ALWAYS, _MOST = 3, 16  # passages that are compared at least, and at most
_BY_MEANING, _PAIRED = 8, 2  # sentences nearest in meaning, and those of them whose pairs are compared, too
_POINTER_LOSS = 0.3
_RAREST = 8.0  # weight of a word (inverse document frequency) from which it counts no more
_TURNED = 0.05  # share of words only in clauses of the other polarity, where the nearest part denies more or less
_NAMED = 0.2  # what a passage gains that prints all values of a claim, where the first ones are chosen
_MANY = 3  # values that a passage states, from which more count no more


@dataclass(frozen=True, slots=True)
class Comparison:
    """A passage compared with a claim: the features of the verdict.

    Attributes:
        passage: The passage.
        coverage: Weighted share of the claim's words in the passage or its place, 0 to 1.
        similarity: Cosine of both embeddings, at least 0; 0 where none was computed.
        agreement: Weighted share of aligned words of the same polarity, 0 to 1.
        own_coverage: Weighted share of the claim's words in the passage itself, 0 to 1.
        missing: Words of the claim that are not there, the rarest first.
        absent: Words of the claim that the passage itself lacks, whatever its place says.
        missing_weight: Weight of the rarest missing word; 0 for none.
        matched: Values of the claim that the passage states, with its words for each.
        differences: Values that it states otherwise, and contrary words.
        unmatched: Values of the claim that it neither states nor replaces.
        is_stronger: Whether the claim says `must` where the passage says `may`.
        is_reversed: Whether the passage says most of a clause of the claim, with the other polarity.
        is_of_other_year: Whether the passage names years, and neither the claim's nor one that the claim names.
        lacks_sense: Whether a word of the claim that has a contrary, such as `exempt`, is missing.
        is_excepted: Whether the passage excepts what the claim is about.
        names_exception: Whether the passage excepts something that the claim is about, whatever else it states.
        is_under_denial: Whether the passage is printed under a heading that denies, and the claim denies nothing.
        is_of_others: Whether the passage or the claim names some alone, and the other does not.
        is_pointer: Whether the passage only says where to read on.
        shared_weight: Weight of the claim's words that the passage has.
        literal: The comparison of the claim in its own words; None where this is it.
        part: Part of the passage that is nearest in meaning; the whole of a short one.
        soft_coverage: Share of the claim's words, one that the passage lacks counted by its nearness squared, 0 to 1.
        answered: Weighted share of that part's words that the claim has or is near to, 0 to 1.
        turns_part: Whether the part of the passage nearest in meaning denies where the claim affirms, or the reverse.
        turns_whole: The same of the whole passage.
        denies_as_often: Whether that part denies as many things as the claim.
        turned: Weighted share of the claim's words that the passage has only in clauses of the other polarity, 0 to 1.
        found_elsewhere: Weighted share of the claim's words that this passage lacks and another near one has, 0 to 1.
        rivalry: How much nearer the nearest passage is that says otherwise, -0.5 to 0.5.
        behind: How much more similar the most similar passage is, 0 to 1.
        doubts: Why the passage may say something else although it has the claim's words.
        is_heading: Whether the passage is a heading that says nothing of its own, and the claim states a rule.
        unsaid: Weight of the rarest word of the claim that the passage and its headings say in no words; 0 for none.
        strange: Weight of the rarest thing of the claim that the passage and its headings do not name; 0 for none.
        replaced: How far a thing of the claim is from the one that the passage names in its place, 0 for none to 1.
    """

    passage: Passage
    coverage: float
    own_coverage: float
    similarity: float
    agreement: float
    missing: tuple[str, ...]
    missing_weight: float
    matched: tuple[tuple[Value, str], ...]
    differences: tuple[Difference, ...]
    unmatched: tuple[Value, ...]
    is_stronger: bool = False
    is_reversed: bool = False
    absent: frozenset[str] = frozenset()
    lacks_sense: bool = False
    is_of_other_year: bool = False
    is_excepted: bool = False
    names_exception: bool = False
    is_under_denial: bool = False
    is_of_others: bool = False
    is_pointer: bool = False
    shared_weight: float = 0.0
    literal: Comparison | None = None
    part: str = ""
    soft_coverage: float = 0.0
    answered: float = 0.0
    turns_part: bool = False
    turns_whole: bool = False
    denies_as_often: bool = True
    turned: float = 0.0
    found_elsewhere: float = 0.0
    rivalry: float = -0.5
    behind: float = 0.0
    doubts: frozenset[str] = frozenset()
    is_heading: bool = False
    unsaid: float = 0.0
    strange: float = 0.0
    replaced: float = 0.0

    @property
    def score(self) -> float:
        """Return the blend of coverage and similarity, 0 to 1."""
        blend = load_verification().thresholds.blend
        return (1 - blend) * self.coverage + blend * self.similarity

    @property
    def probability(self) -> float:
        """Return the probability that a passage without contradicting values or polarity supports the claim."""
        weights = load_verification().support
        total = (
            weights.intercept
            + weights.similarity * self.similarity
            + weights.values * min(len(self.matched), _MANY) / _MANY
            + weights.answered * self.answered
            + weights.turns_whole * self.turns_whole
            + weights.found_elsewhere * self.found_elsewhere
            + weights.rivalry * self.rivalry
            + weights.behind * self.behind
            + weights.strange * min(self.strange, _RAREST) / _RAREST
            + weights.replaced * self.replaced
        )
        return 1.0 / (1.0 + math.exp(-total))

    @property
    def own_absent(self) -> frozenset[str]:
        """Return the words of the claim, as written, that the passage lacks."""
        return (self.literal or self).absent

    @property
    def is_turned(self) -> bool:
        """Return whether the nearest part denies more or less than the claim, as written, and some of its words."""
        return not self.denies_as_often and (self.literal or self).turned >= _TURNED

    @property
    def order(self) -> float:
        """Return the sort key of passages: those that state the claim's values first, then by score."""
        total = len(self.matched) + len(self.differences) + len(self.unmatched)
        share = len(self.matched) / total if total else 0.0
        return self.score + load_verification().thresholds.value_bonus * share - _POINTER_LOSS * self.is_pointer

    @property
    def agrees(self) -> bool:
        """Return whether every value is stated and no word is an antonym."""
        return not self.differences and not self.unmatched


def score_coverage(claim: Claim, own: Words, place: Words) -> float:
    """Return the weighted share of a claim's words in a passage or its headings.

    Args:
        claim: The claim.
        own: Words of the passage.
        place: Words of its headings and of the sentence before.
    """
    context = load_verification().thresholds.context
    total = sum(claim.weights.values())
    found = 0.0
    for word, weight in claim.weights.items():
        if match_word(word, own):
            found += weight
        elif match_word(word, place):
            found += weight * context
    return found / total if total else 0.0


def compare(claim: Claim, passage: Passage, *, reader: PassageReader) -> Comparison:
    """Compare a claim with one passage.

    Args:
        claim: The claim.
        passage: The passage.
        reader: Reads its words and values.

    Returns:
        Score, and what supports or contradicts the claim.
    """
    wording, place = reader.words_of(passage)
    missing = sorted(
        (word for word in claim.weights if not match_word(word, wording.words | place)),
        key=lambda word: (-claim.weights[word], word),
    )
    matched, differences, unmatched = compare_values(claim, passage, reader=reader)
    text = passage.spoken
    contrary = find_contrary(claim.wording, wording, weights=claim.weights)
    if contrary is not None and not _addresses(text, contrary):
        differences = [*differences, Difference(*contrary, "contrary")]
    coverage = score_coverage(claim, wording.words, place)
    return Comparison(
        passage=passage,
        coverage=coverage,
        own_coverage=score_coverage(claim, wording.words, frozenset()),
        similarity=0.0,
        agreement=score_agreement(claim.wording, wording, weights=claim.weights),
        turned=score_turned(claim.wording, wording, weights=claim.weights),
        missing=tuple(missing),
        missing_weight=claim.weights[missing[0]] if missing else 0.0,
        matched=tuple(matched),
        differences=tuple(differences),
        unmatched=tuple(unmatched),
        is_reversed=is_reversed(claim.wording, wording, weights=claim.weights),
        is_stronger=demands_more(claim.wording, wording, weights=claim.weights),
        absent=frozenset(word for word in claim.weights if not match_word(word, wording.words)),
        is_of_other_year=_is_of_other_year(claim, reader.values_of(passage), text=fold(text)),
        lacks_sense=lacks_sense(claim.wording, wording.words | place, wording, language=reader.language),
        is_excepted=is_excepted(claim.wording, wording, weights=claim.weights),
        names_exception=names_exception(claim.wording, wording, weights=claim.weights),
        is_under_denial=is_under_denial(claim, passage, wording),
        is_of_others=names_some_alone(claim, text) or leaves_out(claim, text, language=reader.language),
        is_pointer=is_pointer(passage.text) and not refers(claim.text),
        is_heading=is_bare_heading(claim, passage, wording),
        shared_weight=sum(weight for word, weight in claim.weights.items() if match_word(word, wording.words)),
        doubts=_find_doubts(claim, text, wording, coverage=coverage, reader=reader),
    )


def _addresses(text: str, contrary: tuple[str, str]) -> bool:
    """Return whether a passage calls a word of a claim `you`: `your employer` addresses the employee."""
    return re.search(rf"(?i)\byour {re.escape(contrary[1])}\b", text) is not None


def _find_doubts(
    claim: Claim, text: str, wording: Wording, *, coverage: float, reader: PassageReader
) -> frozenset[str]:
    """Find the doubts about a passage that has enough words of a claim to support it."""
    if coverage < load_verification().thresholds.doubted:
        return frozenset()
    return find_failed_checks(claim, text, wording, language=reader.language)


def _is_of_other_year(claim: Claim, values: Sequence[Value], *, text: str) -> bool:
    """Return whether a passage names other years, not that of a return, than a claim that names one outside them."""
    claim_year = claim.subject.year
    if claim_year is None:
        return False
    year_of_form = load_verification().placements.year_of_form.pattern
    years = {value.figure for value in values if value.kind == "year" and not year_of_form.search(text[value.end :])}
    claimed_years = {value.figure for value in claim.values if value.kind == "year"} | {str(claim_year)}
    if not years or years & claimed_years:
        return False
    is_between = min(years) < str(claim_year) < max(years)
    return not is_between


def compare_nearest(
    claim: Claim,
    passages: Sequence[Passage],
    *,
    reader: PassageReader,
    near: Sequence[Passage] = (),
    is_aligned: bool = True,
) -> list[Comparison]:
    """Compare a claim with the passages of its documents that share its words, and with the most similar ones.

    Args:
        claim: The claim.
        passages: Passages of the documents that it is about, which share words with it.
        reader: Reads their words and values.
        near: Passages of the paragraphs that the search returned, whatever their words.
        is_aligned: Whether to accept paraphrases; otherwise only passages that may support the claim by its own words
            are returned.

    Returns:
        Comparisons, best score first.
    """
    bounds = load_verification().thresholds
    coverages = [score_coverage(claim, *_words_of(passage, reader)) for passage in passages]
    rates = [
        coverage + _NAMED * score_named(claim, passage) for coverage, passage in zip(coverages, passages, strict=True)
    ]
    best_ixs = sorted(range(len(passages)), key=lambda ix: -rates[ix])[:_MOST]
    if not is_aligned:
        # With less coverage, not even full similarity reaches the score of a verdict.
        least_score = min(bounds.score, bounds.contradiction)
        least_coverage = (least_score - bounds.blend) / (1 - bounds.blend)
        chosen_ixs = [ix for rank, ix in enumerate(best_ixs) if rank < _ALWAYS or coverages[ix] >= least_coverage]
        rows = [compare(claim, passages[ix], reader=reader) for ix in chosen_ixs]
        return add_similarity(claim, [row for row in rows if row.agrees], reader=reader)
    by_words = [passages[ix] for ix in best_ixs[: bounds.aligned_passages]]
    by_meaning = _find_nearest_meaning(claim, near, reader=reader)
    rows = [compare(claim, passage, reader=reader) for passage in _take_once([*by_words, *by_meaning])]
    rows = add_similarity(claim, rows, reader=reader)
    return sorted((_align(claim, row, reader=reader) for row in rows), key=lambda row: -row.order)


def _find_nearest_meaning(claim: Claim, near: Sequence[Passage], *, reader: PassageReader) -> list[Passage]:
    """Find the sentences nearest in meaning to a claim, and the pairs that the first ones belong to."""
    single = [passage for passage in near if passage.kind != "pair"]
    similarities = reader.compare_meaning(claim.plain, [_spoken(passage) for passage in single])
    nearest_ixs = sorted(range(len(single)), key=lambda ix: -similarities[ix])[:_BY_MEANING]
    nearest = [single[ix] for ix in nearest_ixs]

    def holds_nearest(pair: Passage) -> bool:
        """Return whether one of the first sentences is part of a pair."""
        return any(
            sentence.node_id == pair.node_id and pair.start <= sentence.start < pair.end
            for sentence in nearest[:_PAIRED]
        )

    return [*nearest, *(passage for passage in near if passage.kind == "pair" and holds_nearest(passage))]


def _take_once(passages: Iterable[Passage]) -> list[Passage]:
    """Return passages without repeats, in their order."""
    return list({(own.node_id, own.kind, own.start, own.text): own for own in passages}.values())


def _words_of(passage: Passage, reader: PassageReader) -> tuple[Words, Words]:
    """Return the words of a passage, and those of its headings and of the sentence before."""
    wording, place = reader.words_of(passage)
    return wording.words, place


def _align(claim: Claim, row: Comparison, *, reader: PassageReader) -> Comparison:
    """Return the comparison of a claim in the words of the passage.

    It is the same one where no encoder reads words, and where other words would change nothing: the passage states
    too few of the claim's values, or says where to read on.
    """
    if reader.language.read_vectors is None or row.unmatched or row.is_pointer:
        return row
    wording, place = reader.words_of(row.passage)
    aligned = reader.aligner.align(claim, row.passage, own=wording.words, place=place, part=row.part)
    if aligned.claim is claim:
        return replace(row, answered=aligned.answered)
    found = compare(aligned.claim, row.passage, reader=reader)
    return replace(
        found,
        similarity=row.similarity,
        part=row.part,
        answered=aligned.answered,
        turns_part=row.turns_part,
        turns_whole=row.turns_whole,
        denies_as_often=row.denies_as_often,
        soft_coverage=score_softly(claim, row.absent, aligned.nearness, place=place),
        unsaid=score_unsaid(claim, frozenset(row.missing), aligned.nearness),
        replaced=aligned.replaced,
        strange=score_strange(claim, row.absent, aligned.nearness, place=place),
        literal=row,
    )


def add_similarity(claim: Claim, found: Sequence[Comparison], *, reader: PassageReader) -> list[Comparison]:
    """Add the similarity of meaning to comparisons, and sort them by score.

    Of a long passage, the most similar clause counts.

    Args:
        claim: The claim.
        found: Comparisons.
        reader: Reads the meaning of passages; without an encoder, coverage counts twice.
    """
    parts_of = [[_spoken(row.passage), *split_passage(row.passage.written_out)] for row in found]
    # All parts are encoded at once; their cosines are in the same order.
    cosines = iter(reader.compare_meaning(claim.plain, [part for parts in parts_of for part in parts]))
    claim_denials = _count_denials(claim.plain, reader)
    rated = []
    for row, parts in zip(found, parts_of, strict=True):
        cosine_of_part = [next(cosines) for _ in parts]
        similarity = max(cosine_of_part)
        part = parts[cosine_of_part.index(similarity)]
        denials = _count_denials(part, reader)
        rated.append(
            replace(
                row,
                similarity=similarity if reader.has_encoder else row.coverage,
                soft_coverage=row.own_coverage,
                answered=row.own_coverage,
                part=part,
                denies_as_often=denials.all == claim_denials.all,
                turns_part=_is_turned(denials, claim_denials),
                turns_whole=_is_turned(_count_denials(row.passage.spoken, reader), claim_denials),
            )
        )
    return sorted(rated, key=lambda row: -row.order)


class _Denials(NamedTuple):
    """Number of the clauses of a text that deny.

    Attributes:
        all: All of them.
        main: Those that are no condition or exception.
    """

    all: int
    main: int


def _count_denials(text: str, reader: PassageReader) -> _Denials:
    """Count the clauses of a text that deny."""
    denying = [clause for clause in reader.wording_of(text).clauses if clause.is_negative]
    return _Denials(len(denying), sum(not clause.is_aside for clause in denying))


def _is_turned(passage: _Denials, claim: _Denials) -> bool:
    """Return whether one of two texts denies what the other affirms, with their conditions and without.

    Two denials cancel each other: an odd number of them denies, an even number affirms.
    """
    return passage.all % 2 != claim.all % 2 and passage.main % 2 != claim.main % 2


def _spoken(passage: Passage) -> str:
    """Return the words of a passage after its nearest heading, for comparison of meaning."""
    heading = passage.abbreviations.write_out(passage.headings[-1]) if passage.headings else ""
    return f"{heading}. {passage.written_out}"
