"""Rule family `matching`: when a retrieved text contains a printed quote."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Thresholds(Section):
    """Limits in words, tokens, characters, or as shares 0 to 1; see the comments in the file."""

    share_of_words: float
    stretches: int
    slack_words: int
    slack_divisor: int
    row_factor: int
    row_extra_words: int
    tokens_per_word: float
    result_tokens: int
    results_counted: int
    quote_min_chars: int
    quote_max_chars: int


class Words(RuleList[Rule]):
    """Rules of `words`."""

    word_of_a_quote: Rule


class Letters(RuleList[Rule]):
    """Rules of `letters`."""

    no_letter_of_a_quote: Rule


class Matching(Family):
    """Content of `rules/matching.yaml`, without its patterns."""

    negations: frozenset[str]
    word_edges: str
    removed: str
    replaced: dict[str, str]
    thresholds: Thresholds
    words: Words
    letters: Letters


@cache
def load_matching() -> Matching:
    """Return the rules that decide whether a retrieved text contains a printed quote."""
    return load_model("matching", Matching)
