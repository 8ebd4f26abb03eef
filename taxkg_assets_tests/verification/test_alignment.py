"""A claim in the words of a passage, with invented vectors: words of one direction say the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taxkg_assets.verification.alignment import Aligner
from taxkg_assets.verification.language import WordVectors
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets_tests.verification.words import LANGUAGE, claim_of, passage_of

DIRECTIONS = {"bought": 0, "acquired": 0, "barge": 1, "before": 2, "after": 2, "inside": 3, "in": 3, "seller": 4}
DIRECTIONS |= {"buyer": 4, "each": 5, "boats": 5}


def _read(text: str) -> WordVectors:
    words = text.replace(".", " .").split()
    vectors = np.zeros((len(words), 100), np.float32)
    for place, word in enumerate(words):
        vectors[place, DIRECTIONS.get(word.casefold(), 10 + hash(word) % 90)] = 1.0
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


def test_a_word_that_a_word_without_content_says_is_left_out() -> None:
    words = _align("A barge inside a dock owes $5.", "A barge in a dock.")
    assert not any("inside".startswith(word[:5]) for word in words)


def test_without_vectors_a_claim_stays_as_it_is() -> None:
    claim = claim_of("A barge was bought for $5.")
    own, place = PassageReader(LANGUAGE, {}).words_of(passage_of("A barge acquired for $5."))
    found = Aligner(LANGUAGE).align(claim, passage_of("A barge acquired for $5."), own=own.words, place=place)
    assert found.claim is claim
