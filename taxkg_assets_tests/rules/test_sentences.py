"""Sentences end where a reader would end them."""

from __future__ import annotations

import pytest

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
