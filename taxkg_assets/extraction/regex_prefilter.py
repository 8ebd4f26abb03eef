"""Which of many rules can match at all in which of many texts, found in one pass over all the texts.

To ask every rule about every sentence takes longer than to search for the few that can match.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, reduce
from operator import or_
from typing import TypeVar

import polars as pl

from taxkg_assets.rules.families import RuleList
from taxkg_assets.rules.loader import Rule

_Rule = TypeVar("_Rule", bound=Rule)

ALL_WORDS = -1
"""A text whose words were not read: any rule may match."""


class Screen:
    """Prefilter for regular expressions: finds which rules can match a text by the words they require."""

    def __init__(self, lists: Sequence[RuleList[Rule]]) -> None:
        """Read the words of the rules.

        Args:
            lists: Lists of rules, of one family or several.
        """
        words = {word for rules in lists for rule in rules for group in rule.literal_groups for word in group}
        self._bits = {word: 2 << ix for ix, word in enumerate(sorted(words))}
        self._needs = {rules: [self._needs_of(rule) for rule in rules] for rules in lists}
        # Of most lists no rule can match: that is decided at once.
        self._any = {rules: reduce(or_, (first for first, _ in needs), 0) for rules, needs in self._needs.items()}

    def _needs_of(self, rule: Rule) -> tuple[int, tuple[int, ...]]:
        """Return the rarest group of words, and the others; a rule that needs none is always tried."""
        first, *others = [self._number(group) for group in rule.literal_groups] or [-1]
        return first, tuple(others)

    def read(self, texts: Sequence[str]) -> list[int]:
        """Find which required words each text contains, in any case.

        Args:
            texts: Texts.

        Returns:
            For each text, a bit mask of the required words in it; the lowest bit is always set.
        """
        lower_texts = pl.Series([text.lower() for text in texts], dtype=pl.String)
        rule_words = lower_texts.str.extract_many(list(self._bits), overlapping=True).to_list()
        return [1 | self._number(words) for words in rule_words]

    def find_rules(self, rules: RuleList[_Rule], rule_words: int) -> list[_Rule]:
        """Return the rules of a list that can match a text with these words.

        Args:
            rules: One of the lists that the screen was made from.
            rule_words: Bit mask of the text's words, from `read`, or `ALL_WORDS`.

        Returns:
            Rules in the order of the list.
        """
        if not rule_words & self._any[rules]:
            return []
        # The lowest bit is set in every text, for rules that need no word.
        return [
            rule
            for rule, (first, others) in zip(rules, self._needs[rules], strict=True)
            if rule_words & first and (not others or all(rule_words & words for words in others))
        ]

    def _number(self, words: Iterable[str]) -> int:
        return reduce(or_, map(self._bits.__getitem__, words), 0)


@cache
def open_screen(lists: tuple[RuleList[Rule], ...]) -> Screen:
    """Build the prefilter for some lists of rules, once per process.

    Args:
        lists: Lists of rules of any families.

    Returns:
        Prefilter, which finds the rules whose words a text contains.
    """
    return Screen(lists)
