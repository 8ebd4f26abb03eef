"""Questions about the terms of printed indexes."""

from __future__ import annotations

from collections import Counter

from benchmarks.rule_indexes import OF_DIFFERENCES, OF_MEANING, OF_THINGS, TERMS, write_meanings, write_things

ENTRIES = [
    ("p9001--2031", "Barn rent", None, 4),
    ("p9002--2031", "Barn rent", None, 9),
    ("p9001--2031", "Straw", "for stalls", 5),
    ("p9001--2031", "Feed costs", "Defined", 6),
    ("p9001--2031", "Stall lease", "Definition", 7),
    ("p17--2031", "Hay", None, 3),
]


def test_each_term_without_subterms_is_put_into_each_wording_with_all_its_places() -> None:
    asked = list(write_things(ENTRIES))
    assert {own.term for _, own in asked} == {"Barn rent"}, "no subterms, and no publication that is held out"
    assert Counter(family for family, _ in asked) == {"p9001": len(OF_THINGS), "p9002": len(OF_THINGS)}
    assert all(own.places == {("p9001", 4), ("p9002", 9)} for _, own in asked)
    assert asked[0][1].text == "Can I deduct barn rent?"


def test_meanings_and_differences_are_asked_of_defined_terms() -> None:
    asked = list(write_meanings(ENTRIES))
    assert len(asked) == 2 * len(OF_MEANING) + len(OF_DIFFERENCES)
    (first, *_), last = asked, asked[-1]
    assert first[1].text == "What is feed costs?"
    assert last == ("p9001", last[1])
    assert last[1].places == {("p9001", 6), ("p9001", 7)}


def test_few_terms_of_a_publication_are_drawn_evenly() -> None:
    entries = [("p9001--2031", f"Barn {letter * 4}", None, 1) for letter in "abcdefghijklm"]
    asked = [own.term for _, own in write_things(entries)][:: len(OF_THINGS)]
    assert len(asked) <= TERMS
    assert asked[0] == "Barn aaaa"
