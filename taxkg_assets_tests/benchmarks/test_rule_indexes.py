"""Questions about the terms of printed indexes."""

from __future__ import annotations

from benchmarks.definitions import WORDINGS
from benchmarks.rule_indexes import DIFFERENCES, TERMS, write_meanings

ENTRIES = [
    ("p9001--2031", "Straw", "for stalls", 5),
    ("p9001--2031", "Feed costs", "Defined", 6),
    ("p9001--2031", "Stall lease", "Definition", 7),
    ("p9002--2031", "Hay", None, 3),
]


def test_meanings_and_differences_are_written_for_defined_terms() -> None:
    written = list(write_meanings(ENTRIES))
    assert len(written) == 2 * len(WORDINGS) + len(DIFFERENCES)
    assert {publication for publication, _ in written} == {"p9001"}
    assert written[0][1].text == "What is feed costs?"
    assert written[0][1].places == {("p9001", 6)}
    assert written[-1][1].places == {("p9001", 6), ("p9001", 7)}


def test_few_terms_of_a_publication_are_drawn_evenly() -> None:
    entries = [("p9001--2031", f"Barn {letter * 4}", "defined", 1) for letter in "abcdefghijklm"]
    written = [own.text for _, own in write_meanings(entries) if own.text.startswith("What is ")]
    written = [text for text in written if "difference" not in text]
    assert len(written) <= TERMS
    assert written[0] == "What is barn aaaa?"
