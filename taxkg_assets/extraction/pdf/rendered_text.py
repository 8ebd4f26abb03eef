"""What the glyphs of a page print, where the file says something else: behind a clip, or in the place of its glyphs.

A reader of PDFs receives all text of a page, also where it is clipped away, and a text of its own where a mark says so
(`ActualText`). People see glyphs. Both readings are compared letter by letter; pages where they agree cost no more.
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

# Glyphs that a font gives no letter for: there what the file says is all that there is.
_UNKNOWN = ("Co", "Cn", "Cs", "Cc")


@dataclass(frozen=True, slots=True)
class GlyphMismatch:
    """A span whose rendered glyphs differ from its text: both texts, and why the difference is invisible."""

    printed: str
    unseen: str
    kind: str


class _Letters:
    """The letters of a reading of a page, with their middles."""

    def __init__(self, spans: Sequence[Sequence[dict[str, Any]]]) -> None:
        chars = [char for span in spans for char in span]
        boxes = np.array([char["bbox"] for char in chars], dtype=float).reshape(-1, 4)
        self._texts = [char["c"] for char in chars]
        self._x, self._y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
        self._is_left = np.ones(len(chars), dtype=bool)

    def find_within(self, box: Corners) -> Any:
        """Return the indices of letters whose center is in a rectangle, in file order."""
        x0, y0, x1, y1 = box
        return np.flatnonzero((x0 <= self._x) & (self._x <= x1) & (y0 <= self._y) & (self._y <= y1))

    def read(self, places: Any) -> str:
        """Return the letters at these indices."""
        return "".join(self._texts[ix] for ix in places)

    def take(self, places: Any) -> str:
        """Return the letters at these indices that no other span has claimed, as one glyph is printed once."""
        left = places[self._is_left[places]]
        self._is_left[left] = False
        return self.read(left)


def are_printed(raws: Sequence[dict[str, Any]], on_page: Sequence[bool], *, seen: str) -> bool:
    """Return whether the rendered letters of a page are those of its spans, in any position.

    Args:
        raws: Spans of the page as parsed.
        on_page: Whether each span is on the page; what is next to it is never printed, though both readings of some
            files have it.
        seen: Letters of the rendered page.
    """
    stated, adjacent = (
        "".join(raw["text"] for raw, is_on in zip(raws, on_page, strict=True) if is_on is kept)
        for kept in (True, False)
    )
    return are_same_letters(stated, seen) or any(_count(seen) == _count(text) for text in (stated, stated + adjacent))


def find_mismatches(
    raws: Sequence[dict[str, Any]], on_page: Sequence[bool], *, text_page: Any, printed: Any
) -> dict[int, GlyphMismatch]:
    """Find the spans of a page whose rendered glyphs differ from their text.

    Args:
        raws: Spans as parsed.
        on_page: Whether each span is on the page.
        text_page: Text page of all text in the file.
        printed: Text page of the glyphs within their clips.

    Returns:
        Mismatches by index in `raws`.
    """
    if are_printed(raws, on_page, seen=printed.extractText()):
        return {}
    spans = _spans(text_page.extractRAWDICT())
    own, shown = _Letters(spans), _Letters(_spans(printed.extractRAWDICT()))
    found: dict[int, GlyphMismatch] = {}
    for ix, (raw, chars, is_on) in enumerate(zip(raws, spans, on_page, strict=True)):
        if is_on and (mismatch := _compare(raw, chars, text=own, glyphs=shown)):
            found[ix] = mismatch
    return found


def _compare(
    raw: dict[str, Any], chars: Sequence[dict[str, Any]], *, text: _Letters, glyphs: _Letters
) -> GlyphMismatch | None:
    places = glyphs.find_within(raw["bbox"])
    shown = glyphs.read(places)
    before, after = _count(text.read(text.find_within(raw["bbox"]))), _count(shown)
    if before == after or any(letter == "\ufffd" or unicodedata.category(letter) in _UNKNOWN for letter in shown):
        return None
    printed = glyphs.take(places)
    if not after <= before:
        return GlyphMismatch(printed, raw["text"], REPLACED)
    left = Counter(shown)
    unseen = []
    for char in chars:
        left[char["c"]] -= 1
        if left[char["c"]] < 0:
            unseen.append(char["c"])
    return GlyphMismatch(printed, "".join(unseen), CLIPPED)


def are_same_letters(one: str, other: str) -> bool:
    """Return whether two texts are equal except for blanks.

    Args:
        one: One text.
        other: The other text.
    """
    return _squeeze(one) == _squeeze(other)


def _squeeze(text: str) -> str:
    return "".join(text.split())


def _count(text: str) -> Counter[str]:
    """Count letters and digits of a text: a ligature counts as its letters, marks and blanks do not count."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return Counter(filter(str.isalnum, plain))


def _spans(content: dict[str, Any]) -> list[list[dict[str, Any]]]:
    flat = flatten_tags(content["blocks"])
    blocks = flat[0] if flat is not None else ()
    return [span["chars"] for block in blocks for line in block["lines"] for span in line["spans"]]
