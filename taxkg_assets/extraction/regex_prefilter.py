"""Which of many rules can match at all in which of many texts, found in one pass over all the texts.

To ask every rule about every sentence takes longer than to search for the few that can match.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, reduce
from operator import or_
from typing import Any, TypeVar

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
        self._needs = {rules: self._read_needs(rules) for rules in lists}

    def _read_needs(self, rules: RuleList[Rule]) -> tuple[int, list[tuple[Rule, int, tuple[int, ...]]]]:
        """Return the words of all rules of a list, and of each rule the rarest group of words and the others.

        Of most lists no rule can match: the first value decides that at once. A rule without words is always tried.
        """
        needs: list[tuple[Rule, int, tuple[int, ...]]] = []
        for rule in rules:
            first, *others = [self._number(group) for group in rule.literal_groups] or [-1]
            needs.append((rule, first, tuple(others)))
        return reduce(or_, (first for _, first, _ in needs), 0), needs

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
        any_words, needs = self._needs[rules]
        if not rule_words & any_words:
            return []
        usable_rules: list[Any] = []
        # The lowest bit is set in every text, for rules that need no word.
        for rule, first, others in needs:
            if rule_words & first:
                for words in others:
                    if not rule_words & words:
                        break
                else:
                    usable_rules.append(rule)
        return usable_rules

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
