"""A claim against a passage: how much of its words is there, whether values, keys, forms and polarity agree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from taxkg_assets.rules.verification import read_thresholds
from taxkg_assets.verification.claims import KEY_KINDS, Claim, find_keys_and_forms
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.values import Value, find_values, fold
from taxkg_assets.verification.wording import (
    Wording,
    Words,
    demands_more,
    find_contrary,
    find_words,
    match_word,
    read_wording,
    score_agreement,
)

_LEAST_CLAUSE = 1.5
_MOST_KEPT = 50_000
_ALWAYS = 3
_LIST = re.compile(r"(?i)(?:[\s,(]|and|or|through|to|-|boxe?s?|lines?|columns?|codes?|\d{1,2}[a-z]?)*")


@dataclass(frozen=True, slots=True)
class Difference:
    """One value of a claim and what the passage states in its place.

    Attributes:
        stated: Words of the claim.
        found: Words of the passage; empty where it states none.
        kind: Kind of the value, `polarity` or `contrary`.
    """

    stated: str
    found: str
    kind: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a passage agrees with a claim.

    Attributes:
        passage: The passage.
        coverage: Weighted share of the claim's words in the passage or its place, 0 to 1.
        similarity: Cosine of both embeddings, at least 0; 0 where none was computed.
        agreement: Weighted share of aligned words of the same polarity, 0 to 1.
        own_coverage: Weighted share of the claim's words in the passage itself, 0 to 1.
        clause_coverage: Smallest share of one clause of the claim in the passage or its place, 0 to 1.
        missing: Words of the claim that are not there, the rarest first.
        missing_weight: Weight of the rarest missing word; 0 for none.
        matched: Values of the claim that the passage states, with its words for each.
        differences: Values that it states otherwise, and contrary words.
        unmatched: Values of the claim that it neither states nor replaces.
        is_stronger: Whether the claim says `must` where the passage says `may`.
    """

    passage: Passage
    coverage: float
    own_coverage: float
    clause_coverage: float
    similarity: float
    agreement: float
    missing: tuple[str, ...]
    missing_weight: float
    matched: tuple[tuple[Value, str], ...]
    differences: tuple[Difference, ...]
    unmatched: tuple[Value, ...]
    is_stronger: bool = False

    @property
    def score(self) -> float:
        """Return coverage and similarity blended, 0 to 1."""
        blend = read_thresholds().blend
        return (1 - blend) * self.coverage + blend * self.similarity

    @property
    def agrees(self) -> bool:
        """Return whether every value is stated and no word is contrary."""
        return not self.differences and not self.unmatched


class PassageReader:
    """Reads the words and values of passages once."""

    def __init__(self, language: Language, forms: Mapping[str, Sequence[str]]) -> None:
        """Take the functions that read words, and the short names of each document's forms."""
        self._language = language
        self._forms = forms
        self._wordings: dict[tuple[str, str, int], tuple[Wording, Words]] = {}

    def words_of(self, passage: Passage) -> tuple[Wording, Words]:
        """Return the wording of a passage, and the words of its place.

        Args:
            passage: The passage.
        """
        key = (passage.node_id, passage.text[:40], passage.start)
        if key not in self._wordings:
            if len(self._wordings) >= _MOST_KEPT:
                self._wordings.clear()
            own = read_wording(passage.labeled, language=self._language)
            self._wordings[key] = own, find_words(passage.context, language=self._language)
        return self._wordings[key]

    def values_of(self, passage: Passage) -> list[Value]:
        """Return the values, keys and forms that a passage states itself.

        Args:
            passage: The passage.
        """
        text = passage.spoken
        named = find_keys_and_forms(text, language=self._language)
        spans = [(value.start, value.end) for value in named]
        own = [
            value
            for value in find_values(text)
            if not any(start < value.end and value.start < end for start, end in spans)
        ]
        return [*own, *named]

    def place_values_of(self, passage: Passage) -> list[Value]:
        """Return the values, keys and forms of a passage's place.

        Args:
            passage: The passage.
        """
        text = " . ".join((*passage.headings, passage.label))
        keys = [Value(key.split("_")[0], key, "", "", "", "", 0, 0) for key in sorted(passage.keys)]
        forms = [Value("form", name, "", "", "", "", 0, 0) for name in self._forms.get(passage.document_id, ())]
        return [*find_values(text), *find_keys_and_forms(text, language=self._language), *keys, *forms]


def score_coverage(claim: Claim, own: Words, place: Words) -> float:
    """Return the weighted share of a claim's words in a passage or its place.

    Args:
        claim: The claim.
        own: Words of the passage.
        place: Words of its headings and of the sentence before.
    """
    context = read_thresholds().context
    total = sum(claim.weights.values())
    found = 0.0
    for word, weight in claim.weights.items():
        if match_word(word, own):
            found += weight
        elif match_word(word, place):
            found += weight * context
    return found / total if total else 0.0


def _score_clauses(claim: Claim, words: Words) -> float:
    """Return the smallest share of a clause's words that are contained, of clauses that say something of weight."""
    shares = [1.0]
    for clause in claim.wording.clauses:
        total = sum(claim.weights.get(word, 0.0) for word in clause.words)
        if total >= _LEAST_CLAUSE:
            shares.append(sum(claim.weights.get(w, 0.0) for w in clause.words if match_word(w, words)) / total)
    return min(shares)


def compare(claim: Claim, passage: Passage, *, reader: PassageReader) -> Comparison:
    """Compare a claim with one passage.

    Args:
        claim: The claim.
        passage: The passage.
        reader: Reads its words and values.
    """
    wording, place = reader.words_of(passage)
    missing = sorted(
        (word for word in claim.weights if not match_word(word, wording.words | place)),
        key=lambda word: -claim.weights[word],
    )
    matched, differences, unmatched = _compare_values(claim, passage, reader=reader)
    contrary = find_contrary(claim.wording, wording, weights=claim.weights)
    if contrary is not None:
        differences = [*differences, Difference(*contrary, "contrary")]
    return Comparison(
        passage=passage,
        coverage=score_coverage(claim, wording.words, place),
        own_coverage=score_coverage(claim, wording.words, frozenset()),
        clause_coverage=_score_clauses(claim, wording.words | place),
        similarity=0.0,
        agreement=score_agreement(claim.wording, wording, weights=claim.weights),
        missing=tuple(missing),
        missing_weight=claim.weights[missing[0]] if missing else 0.0,
        matched=tuple(matched),
        differences=tuple(differences),
        unmatched=tuple(unmatched),
        is_stronger=demands_more(claim.wording, wording, weights=claim.weights),
    )


def compare_nearest(
    claim: Claim, passages: Sequence[Passage], *, reader: PassageReader, language: Language
) -> list[Comparison]:
    """Compare a claim with the passages that can decide on it, and with the nearest ones in any case.

    Args:
        claim: The claim.
        passages: Passages of the documents that it is about.
        reader: Reads their words and values.
        language: Functions that read words.

    Returns:
        Comparisons, best score first.
    """
    bounds = read_thresholds()
    least = (min(bounds.score, bounds.contradiction) - bounds.blend) / (1 - bounds.blend)
    rated = []
    for number, passage in enumerate(passages):
        wording, place = reader.words_of(passage)
        rated.append((-score_coverage(claim, wording.words, place), number))
    rated.sort()
    chosen = [number for place, (score, number) in enumerate(rated) if -score >= least or place < _ALWAYS]
    found = [compare(claim, passages[number], reader=reader) for number in chosen]
    return add_similarity(claim, found, language=language)


def add_similarity(claim: Claim, found: Sequence[Comparison], *, language: Language) -> list[Comparison]:
    """Return comparisons with the similarity of both embeddings, best score first.

    Args:
        claim: The claim.
        found: Comparisons.
        language: Functions that read words; without `encode`, coverage counts twice.
    """
    if not found:
        return []
    if language.encode is None:
        rated = [replace(row, similarity=row.coverage) for row in found]
    else:
        vectors = np.asarray(language.encode([claim.plain, *(_spoken(row.passage) for row in found)]))
        cosines = vectors[1:] @ vectors[0]
        rated = [
            replace(row, similarity=float(np.clip(cosine, 0.0, 1.0)))
            for row, cosine in zip(found, cosines, strict=True)
        ]
    return sorted(rated, key=lambda row: -row.score)


def _spoken(passage: Passage) -> str:
    return f"{passage.headings[-1] if passage.headings else ''}. {passage.spoken}"


def _compare_values(
    claim: Claim, passage: Passage, *, reader: PassageReader
) -> tuple[list[tuple[Value, str]], list[Difference], list[Value]]:
    own = reader.values_of(passage)
    place: list[Value] | None = None
    has_code = any(value.kind == "code" for value in claim.values)
    matched: list[tuple[Value, str]] = []
    differences: list[Difference] = []
    unmatched: list[Value] = []
    placed: dict[Value, Value] = {}
    for value in claim.values:
        same = next((other for other in own if value.equals(other)), None)
        if same is None:
            place = reader.place_values_of(passage) if place is None else place
            same = next((other for other in place if value.equals(other)), None)
        elif same.end:
            placed[value] = same
        if same is not None and value.opposes(same):
            differences.append(Difference(value.text, same.text, value.kind))
        elif same is not None or (value.kind == "box" and has_code):
            matched.append((value, (same.text or same.figure) if same is not None else ""))
        else:
            rivals = [other for other in (*own, *_rival_keys(value, passage)) if value.competes(other)]
            rivals = [other for other in rivals if not any(other.equals(mine) for mine in claim.values)]
            if rivals:
                differences.append(Difference(value.text, rivals[0].text or rivals[0].figure, value.kind))
            else:
                unmatched.append(value)
    differences += _find_swapped(placed, own, text=fold(passage.spoken))
    return matched, differences, unmatched


def _find_swapped(placed: Mapping[Value, Value], own: Sequence[Value], *, text: str) -> list[Difference]:
    """Find values that the passage pairs otherwise than the claim: `line 2 (box B), line 3 (box C)`."""
    found = []
    for value in placed:
        rivals = [other for other in own if value.competes(other)]
        for partner, near in placed.items():
            others = [other for other in own if partner.competes(other)]
            if min(len(rivals), len(others)) < 2 or value.competes(partner):
                continue
            nearest = min(rivals, key=lambda other: max(other.start - near.end, near.start - other.end))
            if not any(nearest.equals(mine) for mine in placed):
                found.append(Difference(value.text, nearest.text, value.kind))
    return [*dict.fromkeys(found), *_find_mispaired(placed, own, text=text)]


def _find_mispaired(placed: Mapping[Value, Value], own: Sequence[Value], *, text: str) -> list[Difference]:
    """Find keys that the passage relates to another key of the same kind: `box 1a in box 2e, box 2a in box 2f`."""
    found = []
    for value, there in placed.items():
        if value.kind not in KEY_KINDS:
            continue
        others = [key for key in own if key.kind == value.kind and not _is_same_list(key, there, text=text)]
        partners = [
            key for key, near in placed.items() if key.kind == value.kind and not _is_same_list(near, there, text=text)
        ]
        if not partners or not others:
            continue
        nearest = min(others, key=lambda key: max(key.start - there.end, there.start - key.end))
        if not any(nearest.equals(mine) for mine in placed):
            found.append(Difference(partners[0].text, nearest.text, value.kind))
    return list(dict.fromkeys(found))


def _is_same_list(one: Value, other: Value, *, text: str) -> bool:
    """Return whether two keys belong to one list, as in `boxes 1, 3, and 5`."""
    between = text[min(one.end, other.end) : max(one.start, other.start)]
    return _LIST.fullmatch(between) is not None


def _rival_keys(value: Value, passage: Passage) -> list[Value]:
    """Return the keys of a label that prints another key than the claim names."""
    if value.kind not in KEY_KINDS or passage.kind != "label":
        return []
    kind = value.kind
    return [
        Value(kind, key, "", "", "", key.replace("_", " "), 0, 0)
        for key in sorted(passage.keys)
        if key.startswith(kind)
    ]
