"""Quotations in the text of the library: the same letters and figures, whatever the blanks, hyphens and marks."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_OMISSION = re.compile(r"\s*(?:…|\.\s?\.\s?\.|\[[^\]]{0,200}\])\s*")
_POINT = re.compile(r"\.(?!\d)|(?<!\d)\.")
_KEPT = frozenset("$%.")
_LEAST_LETTERS = 8
_MOST_BETWEEN = 4_000
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class QuotationMatch:
    """The position of quoted words in the library.

    Attributes:
        document_id: Document.
        node_id: Paragraph or heading where the words begin.
        start: First character in its text.
        end: One past the last one; its length where the words go on in the next paragraph.
    """

    document_id: str
    node_id: str
    start: int
    end: int


class _Deleted(dict[int, int | None]):
    """Translation that keeps letters, figures and a few signs; each letter is looked up once."""

    def __missing__(self, code: int) -> int | None:
        letter = chr(code)
        kept = code if letter.isalnum() or letter in _KEPT else None
        self[code] = kept
        return kept


_DELETED = _Deleted()


def reduce_text(text: str) -> str:
    """Return the letters, digits, $ and % of a text in lower case; a period is kept only inside a number.

    Args:
        text: Any text.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _POINT.sub("", text.casefold().translate(_DELETED))


class QuotationIndex:
    """An index of the letters of every document, to find quotations."""

    def __init__(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Read the text of the library.

        Args:
            rows: Document, node and text, by document in reading order.
        """
        self._letters: dict[str, str] = {}
        self._starts: dict[str, list[int]] = {}
        self._nodes: dict[str, list[tuple[str, str]]] = {}
        parts: dict[str, list[str]] = {}
        for document, node, text in rows:
            starts = self._starts.setdefault(document, [])
            own = parts.setdefault(document, [])
            starts.append(starts[-1] + len(own[-1]) if own else 0)
            own.append(reduce_text(text))
            self._nodes.setdefault(document, []).append((node, text))
        self._letters = {document: "".join(own) for document, own in parts.items()}

    def find(self, quotation: str) -> list[QuotationMatch]:
        """Find the documents that contain a quotation; parts around an omission must be in order.

        Args:
            quotation: Words without their marks.

        Returns:
            Matches, one per document.
        """
        parts = [letters for part in _OMISSION.split(quotation) if (letters := reduce_text(part))]
        if not parts or sum(map(len, parts)) < _LEAST_LETTERS:
            return []
        return [
            self._place(document, place, place + len(parts[0]))
            for document, letters in self._letters.items()
            for place in _find_parts(letters, parts)
        ]

    def _place(self, document: str, start: int, end: int) -> QuotationMatch:
        number = bisect_right(self._starts[document], start) - 1
        node, text = self._nodes[document][number]
        low = self._starts[document][number]
        first = _offset(text, start - low)
        last = _offset(text, end - low - 1) + 1 if end - low - 1 < len(reduce_text(text)) else len(text)
        return QuotationMatch(document, node, first, last)


def _find_parts(letters: str, parts: Sequence[str]) -> Iterator[int]:
    """Find the first place where all parts follow each other closely."""
    start = letters.find(parts[0])
    while start >= 0:
        end = start + len(parts[0])
        for part in parts[1:]:
            found = letters.find(part, end, end + _MOST_BETWEEN)
            if found < 0:
                break
            end = found + len(part)
        else:
            yield start
            return
        start = letters.find(parts[0], start + 1)


def _offset(text: str, letter: int) -> int:
    """Return the character that the n-th kept letter comes from, by halving: longer prefixes keep more letters."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high) // 2
        if len(reduce_text(text[: middle + 1])) > letter:
            high = middle
        else:
            low = middle + 1
    return min(low, max(0, len(text) - 1))


def compare_words(quotation: str, passage: str) -> tuple[float, list[tuple[str, str]]]:
    """Return the similarity of a quotation and the best-matching part of a passage, and the words that differ.

    Args:
        quotation: The quoted words.
        passage: Text of a passage.
    """
    own, there = _WORD.findall(quotation), _WORD.findall(passage)
    mine, other = [reduce_text(word) for word in own], [reduce_text(word) for word in there]
    matcher = SequenceMatcher(None, mine, other, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not blocks:
        return 0.0, []
    low = max(0, blocks[0].b - blocks[0].a)
    high = min(len(there), blocks[-1].b + blocks[-1].size + len(own) - blocks[-1].a - blocks[-1].size)
    matcher.set_seq2(other[low:high])
    differences = [
        (" ".join(own[a:b]), " ".join(there[low + c : low + d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]
    return matcher.ratio(), differences
