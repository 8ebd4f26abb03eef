"""Text that instructs a program that reads a page (prompt injection), and the report of text that was left out.

visibility.py decides whether text is visible; here only its words count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import groupby
from typing import Any

import polars as pl

from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.hidden_text import PRINTED, HiddenText
from taxkg_assets.extraction.regex_prefilter import open_screen
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.models.hidden_text import load_hidden_text

# Invisible letters of Unicode that stand for plain ones.
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
_STRANGE = re.compile(r"[^\x00-\x7f]")
# From this code on, letters may combine with the letter before.
_FIRST_JOINING = 0x300
# Words written letter by letter ("i g n o r e"): a first test for single signs runs on all pages at once.
_FEW_SPACED = r"\s\S\s+\S\s+\S\s+\S\s"
_SPACED = re.compile(r"(?<!\S)(?:\w\s+){15,}\w(?!\S)")


def find_rows(hidden_texts: Iterable[HiddenText]) -> list[HiddenText]:
    """Join fragments of invisible text, and drop typesetting marks and stray letters.

    Args:
        hidden_texts: Invisible texts and prompt injections of a document, ordered by page.

    Returns:
        Texts to report, prompt injections first.
    """
    rules = load_hidden_text()
    marks = load_hidden_text().proof_marks
    reported_texts = [row for row in hidden_texts if not any(mark.pattern.search(row.text) for mark in marks)]
    rows: list[HiddenText] = []
    for _, group in groupby(reported_texts, key=lambda row: (row.page, row.kind)):
        parts = list(group)
        text = " ".join(" ".join(part.text for part in parts).split())
        if parts[0].kind != PRINTED and sum(letter.isalpha() for letter in text) < rules.least_letters:
            continue
        is_order = reads_as_injection(text)
        rows.append(replace(parts[0], text=_excerpt(text), box=_find_bounds(parts), is_order=is_order))
    rows.sort(key=lambda row: not row.is_order)
    return sorted(rows[: rules.most_rows], key=lambda row: (row.page, row.kind, row.box))


def find_printed_injections(pages: Sequence[tuple[int, Sequence[Any]]]) -> list[HiddenText]:
    """Find visible text that addresses a program (prompt injections).

    Args:
        pages: Number and spans of each page.

    Returns:
        One text per block that addresses a program; the whole page where only several blocks together do.
    """
    plain_texts = [_unmask(" ".join([span.text for span in spans])) for _, spans in pages]
    order_rules = load_hidden_text().orders
    screen = open_screen((order_rules,))
    injections: list[HiddenText] = []
    may_be_spaced = _may_be_spaced(plain_texts)
    for (page, spans), text, rule_words, is_maybe_spaced in zip(
        pages, plain_texts, screen.read(plain_texts), may_be_spaced, strict=True
    ):
        if not _has_injection(text, rules=screen.find_rules(order_rules, rule_words), may_be_spaced=is_maybe_spaced):
            continue
        blocks = [list(group) for _, group in groupby(spans, key=lambda span: span.block_ix)]
        injected_blocks: list[Sequence[Any]] = [
            block for block in blocks if reads_as_injection(" ".join(span.text for span in block))
        ]
        # An instruction may continue from block to block.
        injections += [_report_spans(injected_spans, page=page) for injected_spans in injected_blocks or [spans]]
    return injections


def _report_spans(spans: Sequence[Any], *, page: int) -> HiddenText:
    parts = [HiddenText(page, PRINTED, span.text, (span.x0, span.y0, span.x1, span.y1)) for span in spans]
    return replace(parts[0], text=" ".join(part.text for part in parts), box=_find_bounds(parts))


def reads_as_injection(text: str) -> bool:
    """Return whether a text addresses a program rather than a person.

    Args:
        text: Text, which may contain look-alike letters, or words written letter by letter.
    """
    plain_text = _unmask(text)
    return _has_injection(plain_text, rules=load_hidden_text().orders.find_usable(plain_text), may_be_spaced=True)


def _may_be_spaced(texts: Sequence[str]) -> list[bool]:
    """Return whether each text may contain a word written letter by letter."""
    may_be_spaced: list[bool] = pl.Series(texts, dtype=pl.String).str.contains(_FEW_SPACED).to_list()
    return may_be_spaced


def _has_injection(plain_text: str, *, rules: Iterable[Rule], may_be_spaced: bool) -> bool:
    """Return whether an unmasked text contains a prompt injection; only `rules` whose words it contains are given."""
    if any(rule.pattern.search(plain_text) for rule in rules):
        return True
    if not may_be_spaced:
        return False
    for run in _SPACED.finditer(plain_text.lower()):
        letters = "".join(run[0].split())
        if load_hidden_text().spaced_orders.matches(letters):
            return True
    return False


def _unmask(text: str) -> str:
    """Replace letters that look like Latin ones, such as Cyrillic "а", and drop letters without width."""
    # Only the few letters of a page that are not ASCII are inspected one by one.
    if text.isascii() or all(map(_is_plain_letter, set(_STRANGE.findall(text)))):
        return text
    plain_text = text.translate(_TAGS) if any(ord(letter) in _TAGS for letter in set(text)) else text
    plain_text = unicodedata.normalize("NFKC", plain_text)
    lookalikes = _lookalikes()
    strange_letters = {
        letter for letter in set(plain_text) if ord(letter) in lookalikes or unicodedata.category(letter) == "Cf"
    }
    return (
        plain_text.translate({ord(letter): lookalikes.get(ord(letter)) for letter in strange_letters})
        if strange_letters
        else plain_text
    )


@lru_cache(maxsize=1024)
def _is_plain_letter(letter: str) -> bool:
    """Return whether a letter needs no replacement: Latin letters, dashes and quotation marks."""
    kind = unicodedata.category(letter)
    if letter.isascii() or kind == "Cf":
        return letter.isascii()
    is_alone = ord(letter) < _FIRST_JOINING or kind in ("Pd", "Pi", "Pf", "Po", "Sm")
    return is_alone and unicodedata.normalize("NFKC", letter) == letter and ord(letter) not in _lookalikes()


@cache
def _lookalikes() -> dict[int, str]:
    pairs: dict[str, str] = load_hidden_text().lookalikes
    return {ord(foreign): latin for latin, letters in pairs.items() for foreign in letters}


def _excerpt(text: str) -> str:
    """Return the words around the injection, or the first ones."""
    max_chars = load_hidden_text().most_characters
    matches = (rule.pattern.search(text) for rule in load_hidden_text().orders)
    start = max(0, min((match.start() for match in matches if match), default=0) - max_chars // 6)
    return text[start : start + max_chars]


def _find_bounds(rows: Sequence[HiddenText]) -> Corners:
    xs, ys, us, vs = zip(*(row.box for row in rows), strict=True)
    return min(xs), min(ys), max(us), max(vs)
