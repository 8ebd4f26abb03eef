"""Sentences end where a reader would end them."""

from __future__ import annotations

import pytest

from taxkg_assets.rules.models.sentences import load_sentences
from taxkg_assets.rules.sentences import find_sentence_parts, find_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["See Pub. 999 and Rev. Proc. 2031-1.", "You need not file Form 9999-C.", "Do so if you wish."],
        ["Report it in box 9 with code W.", "Payments by the employer are wages."],
        ["3. A fee is due, e.g. for U.S. mail.", "It is small."],
        ["It is paid in the U.S.", "The rest is abroad."],
        ["Write to John Q. Tree."],
        ["Is it so?", "Yes (it is).", "“Good.”", "The end."],
        ["Read on under Box 3. Imaginary gains for more."],
        [],
    ],
)
def test_sentences(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert [text[start:end] for start, end in find_sentences(text)] == sentences


def test_a_long_sentence_has_parts() -> None:
    text = "• It is due where: (1) it was sold; (2) it was lost; or given away."
    parts = [text[start:end] for start, end in find_sentence_parts(text)]
    assert parts == ["It is due where:", "(1) it was sold;", "(2) it was lost; or given away."]


@pytest.mark.parametrize("text", ["a boat pays the toll on line 3 and " * 2000, "pier\n" * 9000])
def test_a_text_without_full_stops_is_cut_at_blanks(text: str) -> None:
    limit = load_sentences().most_characters
    for spans in (find_sentences(text), find_sentence_parts(text)):
        pieces = [text[start:end] for start, end in spans]
        assert max(map(len, pieces)) <= limit
        assert len(pieces) <= 2 + len(text) // (limit - 10)
        assert " ".join(pieces).split() == text.split(), "no word is cut or left out"


def test_a_word_is_never_cut() -> None:
    word = "a" * (2 * load_sentences().most_characters)
    assert find_sentences(word) == [(0, len(word))]
    assert find_sentences(f"{word} pier") == [(0, len(word)), (len(word) + 1, len(word) + 5)]
