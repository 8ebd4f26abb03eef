"""A pattern that says where it is is queried only there, and answers as a search through the whole text does."""

from __future__ import annotations

import re

import pytest

from taxkg_assets.rules.anchored_search import compile_search
from taxkg_assets.rules.loader import load_family, read_rules

TEXTS = ("Box 3", " Box 3", "a Box 3.", "no.", "see no.\n", "No. 4", "x" * 90 + " no.", "a\nBox 3", "")


@pytest.mark.parametrize(
    "written",
    [
        r"^Box \d",
        r"(?:^Box \d)|(?:^No\.)",
        r"^Box \d|\d$",
        r"\bno\.$",
        r"(?<=see )no\.$",
        r"(?m)^Box",
        r"(?m:^Box)",
        "B|",
        "",
    ],
)
def test_a_search_finds_the_same_as_one_through_the_whole_text(written: str) -> None:
    pattern = re.compile(written)
    ask = compile_search(pattern)
    for text in TEXTS:
        found, expected = ask(text), pattern.search(text)
        assert (found and found.span()) == (expected and expected.span()), (written, text)


def test_a_pattern_that_is_at_an_edge_is_queried_there() -> None:
    pattern = re.compile(r"(?:^Index$)|(?:^Contents$)")
    assert compile_search(pattern) == pattern.match
    assert compile_search(re.compile(r"\bno\.$")).__name__ == "search_end"
    assert compile_search(re.compile(r"\w+\.$")).__name__ == "search"


@pytest.mark.parametrize("group", ["abbreviations", "ends_anyway", "labeled_letters"])
def test_the_rules_of_sentences_answer_the_same_either_way(group: str) -> None:
    written = [
        example for row in load_family("sentences")[group] for example in row["examples"] + row["counter_examples"]
    ]
    for rule in read_rules("sentences", group):
        for text in written:
            assert bool(rule.search(text)) == bool(rule.pattern.search(text)), (rule.id, text)
