"""When does a quote stand in a text? The one rule by which every retrieval figure is counted.

Gold is a quote at a place and never a chunk, so that any chunker is measured alike. Only text against text is decided
here; ranks and budgets belong to `metrics`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import Any

from taxkg_assets.rules.loader import load_family, load_rules


@dataclass(frozen=True, slots=True)
class FoldedText:
    """One text as it is compared: its letters without gaps, and its words in order."""

    letters: str
    words: tuple[str, ...]
    vocabulary: frozenset[str]


@cache
def _threshold(name: str) -> Any:
    return load_family("matching")["thresholds"][name]


@cache
def _replacements() -> dict[int, str]:
    return str.maketrans(load_family("matching")["replaced"])


@cache
def _removed() -> dict[int, None]:
    return dict.fromkeys(map(ord, load_family("matching")["removed"]))


@cache
def _negations() -> frozenset[str]:
    return frozenset(load_family("matching")["negations"])


def fold(text: str | None) -> str:
    """Decide which printed differences do not count: letter forms, curly quotes, soft hyphens, capitals."""
    return unicodedata.normalize("NFKC", text or "").translate(_replacements()).casefold()


@lru_cache(maxsize=4096)
def squash(text: str | None) -> str:
    """Keep letters, digits and the signs $, % and §: spaces, hyphenation and punctuation do not count."""
    return load_rules("matching", "letters")[0].pattern.sub("", fold(text))


def find_words(text: str | None) -> tuple[str, ...]:
    """Words of a text in order, without thousands separators, hyphens and closing full stops."""
    edges = load_family("matching")["word_edges"]
    found = load_rules("matching", "words")[0].pattern.findall(fold(text).translate(_removed()))
    return tuple(word for word in (raw.strip(edges) for raw in found) if word)


@lru_cache(maxsize=1024)
def fold_text(text: str) -> FoldedText:
    """Fold a text once, however many quotes are looked for in it."""
    words = find_words(text)
    return FoldedText(letters=squash(text), words=words, vocabulary=frozenset(words))


def is_critical(word: str) -> bool:
    """Decide whether a word carries the meaning alone: it negates, or a digit makes it a key, an amount or a date."""
    return word in _negations() or any(letter.isdigit() for letter in word)


def count_tokens(text: str) -> int:
    """Tokens that a text costs, counted as 1.3 a word so that no tokenizer has a home advantage."""
    per_word: float = _threshold("tokens_per_word")
    return max(1, round(len(text.split()) * per_word))


def cut_to_tokens(text: str, tokens: int) -> str:
    """First `tokens` tokens of a text; what lies behind them was never shown."""
    return " ".join(text.split()[: int(tokens / _threshold("tokens_per_word"))]) if tokens > 0 else ""


def is_quoted(quote: str, text: str, *, is_row: bool = False) -> bool:
    """Decide whether a text holds a quote: nine tenths of its words in order, and no critical word lost or added.

    Args:     is_row: the quote is a table row, whose words may stand apart so that cells can carry their headers.
    Source:   rules/matching.yaml.
    """
    wanted, given = fold_text(quote), fold_text(text)
    if not wanted.letters:
        return False
    if wanted.letters in given.letters:
        return True
    missing = wanted.vocabulary - given.vocabulary
    if not wanted.words or any(map(is_critical, missing)):
        return False
    if len(wanted.vocabulary) - len(missing) < _threshold("share_of_words") * len(wanted.vocabulary):
        return False
    return _stands_apart(wanted.words, given.words) if is_row else _stands_in_order(wanted.words, given.words)


def _stands_apart(row: Sequence[str], words: Sequence[str]) -> bool:
    """Whether one stretch of the text, long enough for headers between the cells, holds the row's words."""
    size = _threshold("row_factor") * len(row) + _threshold("row_extra_words")
    for start in range(0, max(1, len(words) - size + 1), max(1, size // 4)):
        stretch = frozenset(words[start : start + size])
        lost = [word for word in row if word not in stretch]
        enough = len(row) - len(lost) >= _threshold("share_of_words") * len(row)
        if enough and not any(map(is_critical, lost)):
            return True
    return False


def _stands_in_order(quote: Sequence[str], words: Sequence[str]) -> bool:
    return any(_is_same_statement(quote, stretch) for stretch in _find_stretches(quote, words))


def _find_stretches(quote: Sequence[str], words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Places of the text that could be the quote: around its longest runs of common words."""
    slack = max(_threshold("slack_words"), len(quote) // _threshold("slack_divisor"))
    runs = [run for run in SequenceMatcher(None, quote, words, autojunk=False).get_matching_blocks() if run.size]
    for run in sorted(runs, key=lambda run: -run.size)[: _threshold("stretches")]:
        first = run.b - run.a
        yield words[max(0, first - slack) : first + len(quote) + slack]


def _is_same_statement(quote: Sequence[str], stretch: Sequence[str]) -> bool:
    runs = [run for run in SequenceMatcher(None, quote, stretch, autojunk=False).get_matching_blocks() if run.size]
    said = {ix for run in runs for ix in range(run.a, run.a + run.size)}
    used = {ix for run in runs for ix in range(run.b, run.b + run.size)}
    if len(said) < _threshold("share_of_words") * len(quote):
        return False
    lost = any(is_critical(word) for ix, word in enumerate(quote) if ix not in said)
    inner = range(runs[0].b, runs[-1].b + runs[-1].size)
    added = any(is_critical(stretch[ix]) for ix in inner if ix not in used)
    return not lost and not added
