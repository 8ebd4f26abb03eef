"""A pattern never matches a text without one of its needed words, and the words are worth looking for."""

from __future__ import annotations

import pytest

from taxkg_assets.rules.loader import Rule, read_rules
from taxkg_assets.rules.models.spoken import load_spoken
from taxkg_assets.rules.required_literals import find_required_literals

RULES = [
    rule
    for family, group in (
        ("relations", "cues"),
        ("polarity", "negations"),
        ("polarity", "subordinate"),
        ("polarity", "main_clause_starts"),
        ("references", "mentions"),
        ("references", "named_sections"),
        ("faces", "keys"),
        ("spoken", "spelled"),
        ("spoken", "keys"),
        ("spoken", "formulas"),
        ("spoken", "noises"),
    )
    for rule in read_rules(family, group)
    if rule.is_enabled
]
TEXTS = sorted({text for rule in RULES for text in (*rule.examples, *rule.counter_examples)})


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"(?i)\bSee\s+(?:also\s+)?@", ("see",)),
        (r"(?:report|enter)ed? in", ("enter", "report")),
        (r"[Ss]ee [Nn]o[tw]", ("see not", "see now")),
        (r"(?:do|does)n[’']t\b", ("n't", "n’t")),
        (r",?\s+(?=(?:but|yet)\b)", ("but", "yet")),
        (r",?\s+(?!but\b)", ()),
        (r"no|another|[Uu]nless", ("no", "unless")),
        (r"[^s]ee", ("ee",)),
        (r"\b(?:do|does) not\b[^@]*\bexcept(?: for)?\b", ("except",)),
        (r"(?:shall|must)\s+\d", ("must", "shall")),
        (r"(?:if)?\s*\w+", ()),
        (r"(?:if|\d+)x*", ()),
        (r"(?:when){2}", ("when",)),
    ],
)
def test_needed_words_of_a_pattern(pattern: str, words: tuple[str, ...]) -> None:
    assert find_required_literals(pattern) == words


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_what_matches_holds_a_needed_word(rule: Rule) -> None:
    assert [text for text in TEXTS if rule.pattern.search(text) and not rule.may_match(text.lower())] == []


def test_usable_rules_are_those_that_can_match_in_their_order() -> None:
    text = "Row: 3. Column: a."
    usable = load_spoken().keys.find_usable(text)
    matching = [rule for rule in load_spoken().keys if rule.pattern.search(text)]
    assert matching
    assert [rule for rule in usable if rule in matching] == matching
    assert len(usable) < len(load_spoken().keys)
