"""Reading of passages: each text is encoded once, and without an encoder nothing is similar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.shortlist import Shortlist
from taxkg_assets_tests.verification.words import LANGUAGE, passage_of


def test_a_text_is_encoded_once() -> None:
    encoded: list[str] = []

    def encode(texts: Sequence[str]) -> object:
        encoded.extend(texts)
        return np.array([[1.0, 0.0] if text == "toll" else [-1.0, 0.0] for text in texts], dtype=np.float32)

    reader = PassageReader(replace(LANGUAGE, encode=encode), {})
    assert reader.has_encoder
    assert reader.compare_meaning("toll", ["toll", "barge"]) == [1.0, 0.0]
    assert reader.compare_meaning("toll", ["barge"]) == [0.0]
    assert sorted(encoded) == ["barge", "toll"]


def test_without_an_encoder_nothing_is_similar() -> None:
    reader = PassageReader(LANGUAGE, {})
    assert not reader.has_encoder
    assert reader.compare_meaning("toll", ["toll"]) == [0.0]


def test_passages_are_found_by_their_paragraphs() -> None:
    one, other = passage_of("The toll is due.", node_id="one"), passage_of("The fee is due.", node_id="other")
    shortlist = Shortlist([one, other], language=LANGUAGE)
    assert shortlist.read_nodes(["other", "unknown", "one"]) == [other, one]


def test_a_pair_and_its_first_sentence_are_read_apart() -> None:
    reader = PassageReader(LANGUAGE, {})
    one = passage_of("The toll for boats in the harbor is due in May.")
    both = passage_of("The toll for boats in the harbor is due in May. Barges pay nothing.", kind="pair")
    assert "barg" not in reader.words_of(one)[0].words
    assert "barg" in reader.words_of(both)[0].words


def test_a_schedule_in_brackets_is_a_form() -> None:
    own = PassageReader(LANGUAGE, {}).values_of(passage_of("Net harbor gain from Schedule(s) K-1"))
    assert ("form", "Schedule K-1") in {(value.kind, value.figure) for value in own}
