"""The time of a rule's search grows with the text, not with the number of ways to divide it."""

from __future__ import annotations

import re
import time

import pytest

from taxkg_assets.rules.loader import read_rules

SECONDS = 1.0
"""Each search takes less than a thousandth of it; two ways to read each word would take years."""


@pytest.mark.parametrize(
    ("family", "group", "rule_id", "text"),
    [
        (
            "aliases",
            "remarks",
            "trailing_remark",
            "Dues of boats (" + "that lie in the harbor " * 40 + "until the fall",
        ),
        ("router", "keys", "box", "boxes 17 " + "to " * 90 + "x"),
        ("revisions", "stamps", "pages", "pages " + "3 " * 90 + "x"),
        ("relations", "objects", "direct_object", " " + "a " * 90 + "x"),
        (
            "references",
            "mentions",
            "code_section_in_words",
            f"sections {'six hundred ninety-nine(a)(1), ' * 40}and six of the law",
        ),
    ],
)
def test_a_long_text_without_a_match_is_searched_fast(family: str, group: str, rule_id: str, text: str) -> None:
    (rule,) = (rule for rule in read_rules(family, group) if rule.id == rule_id)
    pattern = re.compile(rule.source_pattern)
    start = time.perf_counter()
    assert pattern.fullmatch(text) is None
    pattern.search(text)
    assert time.perf_counter() - start < SECONDS
