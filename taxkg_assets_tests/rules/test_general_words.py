"""Words of general English: synonyms and parts of speech, whatever the form of the word."""

from __future__ import annotations

import pytest

from taxkg_assets.rules.general_words import find_synonyms, is_noun


@pytest.mark.parametrize(
    ("word", "other"),
    [("answered", "respond"), ("whole", "entire"), ("shrinks", "reduce"), ("tied", "bind"), ("begins", "start")],
)
def test_a_form_of_a_word_has_its_synonyms(word: str, other: str) -> None:
    assert other in find_synonyms(word)


def test_unlike_words_are_no_synonyms() -> None:
    assert "employee" not in find_synonyms("investor")
    assert "fire" not in find_synonyms("life")


def test_what_is_not_known_names_a_thing() -> None:
    assert is_noun("newspaper")
    assert is_noun("bilgewater")
    assert not is_noun("relies")
    assert not is_noun("handed")  # `hand` is one
    assert is_noun("roofing")  # a thing, though `roof` is a verb, too
    assert is_noun("towing")
    assert not find_synonyms("bilgewater")
