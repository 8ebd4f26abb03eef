"""Decide whether a text contains a gold quote, for all retrieval metrics.

Gold is a quote and not a chunk, so that different chunkers can be compared. Ranks and budgets are in `metrics`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache

from taxkg_assets.rules.models.matching import load_matching


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text normalized for matching: its letters without gaps, and its words in order."""

    letters: str
    words: tuple[str, ...]
    vocabulary: frozenset[str]


@cache
def _replacements() -> dict[int, str]:
    return str.maketrans(load_matching().replaced)


@cache
def _removed() -> dict[int, None]:
    return dict.fromkeys(map(ord, load_matching().removed))


@cache
def _negations() -> frozenset[str]:
    return frozenset(load_matching().negations)


def fold(text: str | None) -> str:
    """Normalize letter forms, quotation marks, soft hyphens and case.

    Args:
        text: Text; None counts as empty.

    Returns:
        Normalized text.
    """
    return unicodedata.normalize("NFKC", text or "").translate(_replacements()).casefold()


@lru_cache(maxsize=4096)
def squash(text: str | None) -> str:
    """Remove everything except letters, digits and the signs $, % and §.

    Args:
        text: Text; None counts as empty.

    Returns:
        Normalized characters without gaps.
    """
    return load_matching().letters.no_letter_of_a_quote.pattern.sub("", fold(text))


def find_words(text: str | None) -> tuple[str, ...]:
    """Split a text into words, without thousands separators, hyphens and final full stops.

    Args:
        text: Text; None counts as empty.

    Returns:
        Normalized words in order.
    """
    edges = load_matching().word_edges
    words = load_matching().words.word_of_a_quote.pattern.findall(fold(text).translate(_removed()))
    return tuple(word for word in (raw.strip(edges) for raw in words) if word)


@lru_cache(maxsize=1024)
def fold_text(text: str) -> FoldedText:
    """Normalize a text once for matching with many quotes.

    Args:
        text: Any text.

    Returns:
        Case-folded letters and digits without gaps (`squash`), normalized words in order, and their vocabulary.
    """
    words = find_words(text)
    return FoldedText(letters=squash(text), words=words, vocabulary=frozenset(words))


def is_critical(word: str) -> bool:
    """Return whether a word is critical to the meaning: a negation, or a word with a digit.

    Args:
        word: Normalized word.
    """
    return word in _negations() or any(letter.isdigit() for letter in word)


def count_tokens(text: str) -> int:
    """Estimate the number of tokens as 1.3 per word, whatever the tokenizer.

    Args:
        text: Any text.

    Returns:
        Number of tokens, at least 1.
    """
    per_word: float = load_matching().thresholds.tokens_per_word
    return max(1, round(len(text.split()) * per_word))


def cut_to_tokens(text: str, tokens: int) -> str:
    """Truncate a text to a number of tokens.

    Args:
        text: Any text.
        tokens: Largest number of tokens, counted as in `count_tokens`.

    Returns:
        Words of the beginning, separated by blanks; empty where nothing fits.
    """
    return " ".join(text.split()[: int(tokens / load_matching().thresholds.tokens_per_word)]) if tokens > 0 else ""


def is_quoted(quote: str, text: str, *, is_row: bool = False) -> bool:
    """Return whether a text contains a gold quote: nine tenths of its words in order, and all its critical words.

    Args:
        quote: Gold quote.
        text: Text of a result.
        is_row: Whether the quote is a table row; then the text may have headers between its words.

    Source:
        rules/matching.yaml.
    """
    folded_quote, folded_text = fold_text(quote), fold_text(text)
    if not folded_quote.letters:
        return False
    if folded_quote.letters in folded_text.letters:
        return True
    missing_words = folded_quote.vocabulary - folded_text.vocabulary
    if not folded_quote.words or any(map(is_critical, missing_words)):
        return False
    if len(folded_quote.vocabulary) - len(missing_words) < load_matching().thresholds.share_of_words * len(
        folded_quote.vocabulary
    ):
        return False
    return (
        _contains_row(folded_quote.words, folded_text.words)
        if is_row
        else _is_in_order(folded_quote.words, folded_text.words)
    )


def _contains_row(row: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether one window of the text, long enough for headers between the cells, contains the words of a row."""
    size = load_matching().thresholds.row_factor * len(row) + load_matching().thresholds.row_extra_words
    for start in range(0, max(1, len(words) - size + 1), max(1, size // 4)):
        window = frozenset(words[start : start + size])
        missing_words = [word for word in row if word not in window]
        has_enough = len(row) - len(missing_words) >= load_matching().thresholds.share_of_words * len(row)
        if has_enough and not any(map(is_critical, missing_words)):
            return True
    return False


def _is_in_order(quote: Sequence[str], words: Sequence[str]) -> bool:
    return any(_is_same_statement(quote, window) for window in _find_windows(quote, words))


def _find_windows(quote: Sequence[str], words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the windows of the text around its longest runs of words that the quote has, too."""
    slack = max(load_matching().thresholds.slack_words, len(quote) // load_matching().thresholds.slack_divisor)
    runs = [run for run in SequenceMatcher(None, quote, words, autojunk=False).get_matching_blocks() if run.size]
    for run in sorted(runs, key=lambda run: -run.size)[: load_matching().thresholds.stretches]:
        start = run.b - run.a
        yield words[max(0, start - slack) : start + len(quote) + slack]


def _is_same_statement(quote: Sequence[str], window: Sequence[str]) -> bool:
    """Return whether a window has most words of a quote in order, and no critical word is missing or added."""
    runs = [run for run in SequenceMatcher(None, quote, window, autojunk=False).get_matching_blocks() if run.size]
    matched_ixs = {ix for run in runs for ix in range(run.a, run.a + run.size)}
    used_ixs = {ix for run in runs for ix in range(run.b, run.b + run.size)}
    if len(matched_ixs) < load_matching().thresholds.share_of_words * len(quote):
        return False
    misses_critical = any(is_critical(word) for ix, word in enumerate(quote) if ix not in matched_ixs)
    quote_range = range(runs[0].b, runs[-1].b + runs[-1].size)
    adds_critical = any(is_critical(window[ix]) for ix in quote_range if ix not in used_ixs)
    return not misses_critical and not adds_critical
