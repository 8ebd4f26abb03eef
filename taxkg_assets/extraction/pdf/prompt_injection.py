"""Text that addresses a program that reads a page, not a person, and what is reported of text that was left out.

Whether text can be seen is decided in visibility.py; here only its words count.
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

# Letters that no font shows, made to carry plain ones unseen.
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
_STRANGE = re.compile(r"[^\x00-\x7f]")
# From here on there are letters that join what is before them.
_FIRST_JOINING = 0x300
# Words written letter by letter: that single signs follow each other is checked on all pages at once, and rarely so.
_FEW_SPACED = r"\s\S\s+\S\s+\S\s+\S\s"
_SPACED = re.compile(r"(?<!\S)(?:\w\s+){15,}\w(?!\S)")


def find_rows(found: Iterable[HiddenText]) -> list[HiddenText]:
    """Join fragments of invisible text, and drop typesetting marks and stray letters.

    Args:
        found: Invisible texts of a document.

    Returns:
        Texts to report, prompt injections first.
    """
    rules = load_hidden_text()
    marks = load_hidden_text().proof_marks
    kept = [row for row in found if not any(mark.pattern.search(row.text) for mark in marks)]
    rows: list[HiddenText] = []
    for _, group in groupby(kept, key=lambda row: (row.page, row.kind)):
        parts = list(group)
        text = " ".join(" ".join(part.text for part in parts).split())
        if parts[0].kind != PRINTED and sum(letter.isalpha() for letter in text) < rules.least_letters:
            continue
        is_order = reads_as_injection(text)
        rows.append(replace(parts[0], text=_excerpt(text), box=_around(parts), is_order=is_order))
    rows.sort(key=lambda row: not row.is_order)
    return sorted(rows[: rules.most_rows], key=lambda row: (row.page, row.kind, row.box))


def find_printed_injections(pages: Sequence[tuple[int, Sequence[Any]]]) -> list[HiddenText]:
    """Find visible text that addresses a program (prompt injections).

    Args:
        pages: Number and spans of each page.

    Returns:
        Blocks that do, or else whole pages that do.
    """
    plain = [_unmask(" ".join([span.text for span in spans])) for _, spans in pages]
    orders = load_hidden_text().orders
    screen = open_screen((orders,))
    found: list[HiddenText] = []
    spaced = _may_be_spaced(plain)
    for (page, spans), text, rule_words, may_be in zip(pages, plain, screen.read(plain), spaced, strict=True):
        if not _has_injection(text, rules=screen.find_rules(orders, rule_words), may_be_spaced=may_be):
            continue
        blocks = [list(group) for _, group in groupby(spans, key=lambda span: span.block_ix)]
        injected: list[Sequence[Any]] = [
            block for block in blocks if reads_as_injection(" ".join(span.text for span in block))
        ]
        # An order may run on from block to block.
        found += [_tell(own, page=page) for own in injected or [spans]]
    return found


def _tell(spans: Sequence[Any], *, page: int) -> HiddenText:
    parts = [HiddenText(page, PRINTED, span.text, (span.x0, span.y0, span.x1, span.y1)) for span in spans]
    return replace(parts[0], text=" ".join(part.text for part in parts), box=_around(parts))


def reads_as_injection(text: str) -> bool:
    """Return whether a text addresses a program rather than a person, even in disguise."""
    plain = _unmask(text)
    return _has_injection(plain, rules=load_hidden_text().orders.find_usable(plain), may_be_spaced=True)


def _may_be_spaced(texts: Sequence[str]) -> list[bool]:
    """Return whether each text may contain a word written letter by letter."""
    found: list[bool] = pl.Series(texts, dtype=pl.String).str.contains(_FEW_SPACED).to_list()
    return found


def _has_injection(plain: str, *, rules: Iterable[Rule], may_be_spaced: bool) -> bool:
    """Return whether an unmasked text contains a prompt injection; `rules`: those for which it has the words."""
    if any(rule.pattern.search(plain) for rule in rules):
        return True
    if not may_be_spaced:
        return False
    for run in _SPACED.finditer(plain.lower()):
        letters = "".join(run[0].split())
        if load_hidden_text().spaced_orders.matches(letters):
            return True
    return False


def _unmask(text: str) -> str:
    """Replace look-alike letters by the Latin ones that they imitate, and drop letters without width."""
    # Only the few different letters of a page that are not plain ones are inspected one by one.
    if text.isascii() or all(map(_is_itself, set(_STRANGE.findall(text)))):
        return text
    plain = text.translate(_TAGS) if any(ord(letter) in _TAGS for letter in set(text)) else text
    plain = unicodedata.normalize("NFKC", plain)
    like = _lookalikes()
    strange = {letter for letter in set(plain) if ord(letter) in like or unicodedata.category(letter) == "Cf"}
    return plain.translate({ord(letter): like.get(ord(letter)) for letter in strange}) if strange else plain


@lru_cache(maxsize=1024)
def _is_itself(letter: str) -> bool:
    """Return whether a letter is never part of another one: Latin letters, dashes and quotation marks."""
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
    most = load_hidden_text().most_characters
    found = (rule.pattern.search(text) for rule in load_hidden_text().orders)
    start = max(0, min((match.start() for match in found if match), default=0) - most // 6)
    return text[start : start + most]


def _around(rows: Sequence[HiddenText]) -> Corners:
    xs, ys, us, vs = zip(*(row.box for row in rows), strict=True)
    return min(xs), min(ys), max(us), max(vs)
