"""A claim in the words of a passage, with invented vectors: words of one direction say the same."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest

from taxkg_assets.verification.alignment import Aligner, score_strange
from taxkg_assets.verification.clause_words import match_word
from taxkg_assets.verification.language import WordVectors
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets_tests.verification.words import LANGUAGE, claim_of, passage_of

DIRECTIONS = {"bought": 0, "acquired": 0, "barge": 1, "before": 2, "after": 2, "inside": 3, "in": 3, "seller": 4}
DIRECTIONS |= {"buyer": 4, "each": 5, "boats": 5}


def _read(text: str) -> WordVectors:
    words = text.replace(".", " .").split()
    vectors = np.zeros((len(words), 100), np.float32)
    for place, word in enumerate(words):
        vectors[place, DIRECTIONS.get(word.casefold(), 10 + crc32(word.encode()) % 90)] = 1.0
    return WordVectors(tuple(words), vectors)


def _align(claim: str, passage: str) -> frozenset[str]:
    language = replace(LANGUAGE, read_vectors=_read)
    reader = PassageReader(language, {})
    row = passage_of(passage)
    own, place = reader.words_of(row)
    return Aligner(language).align(claim_of(claim), row, own=own.words, place=place).claim.wording.words


@pytest.mark.parametrize(
    ("claim", "passage", "there", "gone"),
    [
        ("A barge was bought for $5.", "A barge acquired for $5.", "acquir", "buy"),
        ("The seller owes $5.", "The buyer owes $5.", "seller", "buyer"),
        ("Each owes $5.", "The boats owe $5.", "each", "boat"),
    ],
)
def test_words_are_read_as_those_that_say_the_same_but_not_as_their_rivals(
    claim: str, passage: str, there: str, gone: str
) -> None:
    words = _align(claim, passage)
    assert any(word.startswith(there[:5]) for word in words)
    assert not any(word.startswith(gone[:5]) for word in words)


def _strange(claim: str, passage: str, nearness: dict[str, float]) -> float:
    row = passage_of(passage)
    own, place = PassageReader(LANGUAGE, {}).words_of(row)
    stated = claim_of(claim)
    absent = frozenset(word for word in stated.weights if not match_word(word, own.words))
    return score_strange(stated, absent, nearness, place=place)


def test_a_thing_that_the_passage_does_not_name_is_strange_but_a_verb_is_not() -> None:
    passage = "The harbor fee is due on arrival."
    [thing] = claim_of("Form 9999: the newspaper.").nouns
    assert _strange("Form 9999: the newspaper is due on arrival.", passage, {}) > 0.0
    assert _strange("Form 9999: the newspaper is due on arrival.", passage, {thing: 1.0}) == 0.0
    assert _strange("Form 9999: the fee is collected on arrival.", passage, {}) == 0.0


def test_a_synonym_says_the_same_where_it_is_not_far_in_its_sentence() -> None:
    language = replace(LANGUAGE, read_vectors=lambda text: _mix(_read(text)))
    words = {}
    for verb in ("answer", "sell"):
        claim, row = claim_of(f"Skippers {verb} a notice of $5."), passage_of("Skippers respond to a notice of $5.")
        own, place = PassageReader(language, {}).words_of(row)
        words[verb] = Aligner(language).align(claim, row, own=own.words, place=place).claim.wording.words
    assert any(word.startswith("respon") for word in words["answer"])
    assert not any(word.startswith("respon") for word in words["sell"])


def _mix(read: WordVectors) -> WordVectors:
    """Move all words of a sentence a little closer to each other."""
    vectors = read.vectors + 0.8 * np.eye(1, read.vectors.shape[1], dtype=np.float32)
    return WordVectors(read.words, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def test_a_word_that_a_word_without_content_says_is_left_out() -> None:
    words = _align("A barge inside a dock owes $5.", "A barge in a dock.")
    assert not any("inside".startswith(word[:5]) for word in words)


def test_without_vectors_a_claim_stays_as_it_is() -> None:
    claim = claim_of("A barge was bought for $5.")
    own, place = PassageReader(LANGUAGE, {}).words_of(passage_of("A barge acquired for $5."))
    found = Aligner(LANGUAGE).align(claim, passage_of("A barge acquired for $5."), own=own.words, place=place)
    assert found.claim is claim
