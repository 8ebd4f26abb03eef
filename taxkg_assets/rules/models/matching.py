"""Rule family `matching`: when a retrieved text contains a printed quote."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, Section, load_model


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


class Matching(Family):
    """Content of `rules/matching.yaml`, without its patterns."""

    negations: frozenset[str]
    word_edges: str
    removed: str
    replaced: dict[str, str]
    thresholds: Thresholds


@cache
def load_matching() -> Matching:
    """Return the rules of matching, read once per process."""
    return load_model("matching", Matching)
