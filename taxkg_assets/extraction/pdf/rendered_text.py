"""Differences between the text that a PDF states and the glyphs that it prints.

A parser receives all text of a page, even clipped text, and may receive a text that the file states in place of glyphs
(`ActualText`). People see the glyphs. Both readings are compared letter by letter, unless a quick test shows that they
are equal.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.hidden_text import CLIPPED, REPLACED
from taxkg_assets.extraction.pdf.tags import flatten_tags

# Unicode categories of glyphs for which a font states no letter: the text of the file is used for these.
_UNKNOWN = ("Co", "Cn", "Cs", "Cc")


@dataclass(frozen=True, slots=True)
class GlyphMismatch:
    """A span whose rendered glyphs differ from its text.

    Attributes:
        printed: Text of the glyphs.
        unseen: Text that is not printed.
        kind: Why: `CLIPPED` or `REPLACED`.
    """

    printed: str
    unseen: str
    kind: str


class _Letters:
    """The letters of one reading of a page, with their centers."""

    def __init__(self, spans: Sequence[Sequence[dict[str, Any]]]) -> None:
        chars = [char for span in spans for char in span]
        boxes = np.array([char["bbox"] for char in chars], dtype=float).reshape(-1, 4)
        self._texts = [char["c"] for char in chars]
        self._x, self._y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
        self._are_untaken = np.ones(len(chars), dtype=bool)

    def find_within(self, box: Corners) -> Any:
        """Return the indices of letters whose center is in a rectangle, in file order."""
        x0, y0, x1, y1 = box
        return np.flatnonzero((x0 <= self._x) & (self._x <= x1) & (y0 <= self._y) & (self._y <= y1))

    def read(self, letter_ixs: Any) -> str:
        """Return the letters at these indices."""
        return "".join(self._texts[ix] for ix in letter_ixs)

    def take(self, letter_ixs: Any) -> str:
        """Return the letters at these indices that no other span has taken: each glyph is printed once."""
        untaken_ixs = letter_ixs[self._are_untaken[letter_ixs]]
        self._are_untaken[untaken_ixs] = False
        return self.read(untaken_ixs)


def are_printed(raw_spans: Sequence[dict[str, Any]], are_on_page: Sequence[bool], *, rendered_text: str) -> bool:
    """Return whether the rendered letters of a page are those of its spans, in any position.

    Args:
        raw_spans: Spans of the page as parsed.
        are_on_page: Whether each span is on the page. Spans outside are never printed, but both readings of some files
            contain them.
        rendered_text: Letters of the rendered page.
    """
    page_text, outside_text = (
        "".join(raw_span["text"] for raw_span, is_on in zip(raw_spans, are_on_page, strict=True) if is_on is is_wanted)
        for is_wanted in (True, False)
    )
    return are_same_letters(page_text, rendered_text) or any(
        _count(rendered_text) == _count(text) for text in (page_text, page_text + outside_text)
    )


def find_mismatches(
    raw_spans: Sequence[dict[str, Any]], are_on_page: Sequence[bool], *, text_page: Any, printed_page: Any
) -> dict[int, GlyphMismatch]:
    """Find the spans of a page whose rendered glyphs differ from their text.

    Args:
        raw_spans: Spans of the page as parsed.
        are_on_page: Whether each span is on the page.
        text_page: Text page of all text in the file.
        printed_page: Text page of the glyphs within their clips.

    Returns:
        Mismatches by index in `raw_spans`.
    """
    if are_printed(raw_spans, are_on_page, rendered_text=printed_page.extractText()):
        return {}
    spans = _spans(text_page.extractRAWDICT())
    stated_letters, printed_letters = _Letters(spans), _Letters(_spans(printed_page.extractRAWDICT()))
    mismatches: dict[int, GlyphMismatch] = {}
    for ix, (raw_span, chars, is_on) in enumerate(zip(raw_spans, spans, are_on_page, strict=True)):
        if is_on and (
            mismatch := _compare(raw_span, chars, stated_letters=stated_letters, printed_letters=printed_letters)
        ):
            mismatches[ix] = mismatch
    return mismatches


def _compare(
    raw_span: dict[str, Any], chars: Sequence[dict[str, Any]], *, stated_letters: _Letters, printed_letters: _Letters
) -> GlyphMismatch | None:
    letter_ixs = printed_letters.find_within(raw_span["bbox"])
    printed_text = printed_letters.read(letter_ixs)
    stated_counts, printed_counts = (
        _count(stated_letters.read(stated_letters.find_within(raw_span["bbox"]))),
        _count(printed_text),
    )
    if stated_counts == printed_counts or any(
        letter == "\ufffd" or unicodedata.category(letter) in _UNKNOWN for letter in printed_text
    ):
        return None
    taken_text = printed_letters.take(letter_ixs)
    if not printed_counts <= stated_counts:
        return GlyphMismatch(taken_text, raw_span["text"], REPLACED)
    counts_left = Counter(printed_text)
    unseen_letters = []
    for char in chars:
        counts_left[char["c"]] -= 1
        if counts_left[char["c"]] < 0:
            unseen_letters.append(char["c"])
    return GlyphMismatch(taken_text, "".join(unseen_letters), CLIPPED)


def are_same_letters(first_text: str, second_text: str) -> bool:
    """Return whether two texts are equal except for blanks.

    Args:
        first_text: One text.
        second_text: The other text.
    """
    return _squeeze(first_text) == _squeeze(second_text)


def _squeeze(text: str) -> str:
    return "".join(text.split())


def _count(text: str) -> Counter[str]:
    """Count letters and digits of a text: a ligature counts as its letters; other signs and blanks do not count."""
    plain_text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return Counter(filter(str.isalnum, plain_text))


def _spans(content: dict[str, Any]) -> list[list[dict[str, Any]]]:
    flat = flatten_tags(content["blocks"])
    blocks = flat[0] if flat is not None else ()
    return [span["chars"] for block in blocks for line in block["lines"] for span in line["spans"]]
