"""Index and contents pages: the words that each of their links belongs to.

An index is printed in levels: a term, indented below it its subterms, and what a line has no room for indented deeper.
Each page number is a link. Of a list of contents, each entry ends in dots and a page number.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.authored.links import Link, join_words
from taxkg_assets.extraction.pdf.model import Page, Span
from taxkg_assets.rules.models.navigation import load_navigation

_PAGE_LIST = re.compile(r"\s+(?:[A-Z]{1,3}-)?\d{1,4}(?:\s*[,–-]\s*(?:(?:[A-Z]{1,3}-)?\d{1,4})?)*\s*$")
_ENDS = re.compile(r"[:)]\s*$")
_GAP_PT = 14.0
# Lines of one column begin less far apart than this, one after the other from left to right.
_COLUMN_PT = 45.0


@dataclass(frozen=True, slots=True)
class Entry:
    """The index or contents entry that a link belongs to; `kind` is index or contents."""

    kind: str
    term: str
    subterm: str = ""


@dataclass(slots=True)
class _Printed:
    """One printed line: its spans by their order on the page, and its left end within its column."""

    first: int
    last: int
    x0: float
    x1: float
    y0: float
    y1: float
    text: str
    indent: float = 0.0


@dataclass(slots=True)
class _Level:
    """One open entry of an index."""

    indent: float
    parts: list[str]
    is_open: bool
    """Whether a deeper line continues with it: it has neither a page number nor a closing sign at its end."""


def find_entries(page: Page, links: Sequence[Link]) -> dict[int, Entry]:
    """Find the index entries to which the links of a page belong.

    Args:
        page: The page.
        links: Its links.

    Returns:
        Entries by the links' positions; a link in running text has none.
    """
    numbers = [ix for ix, link in enumerate(links) if is_page_number(link.text) and link.first_span >= 0]
    if not numbers:
        return {}
    lines = _find_lines(page.spans)
    by_span = {span: line for line in lines for span in range(line.first, line.last + 1)}
    found = {ix: entry for ix in numbers if (entry := _read_contents(links[ix], by_span, lines)) is not None}
    limits = load_navigation().index
    rest = [ix for ix in numbers if ix not in found]
    inner = sum(not link.url for link in links) - len(found)
    if len(rest) >= limits.least_links and len(rest) >= limits.least_share * inner:
        found |= _read_index(
            lines, {ix: links[ix].first_span for ix, link in enumerate(links) if ix not in found and not link.url}
        )
    return found


def is_page_number(text: str) -> bool:
    """Return whether a text is only a page number."""
    return load_navigation().page_numbers.matches(text)


def _find_lines(spans: Sequence[Span]) -> list[_Printed]:
    """Find the printed lines in the order in which they are stored, and how far each is indented in its column."""
    lines: list[_Printed] = []
    for ix, span in enumerate(spans):
        if not span.text.strip():
            continue
        last = lines[-1] if lines else None
        if last is not None and abs(span.y1 - last.y1) < 0.4 * span.size_pt and -2.0 < span.x0 - last.x1 < _GAP_PT:
            last.last, last.x1, last.text = ix, span.x1, f"{last.text} {span.text.strip()}"
        else:
            lines.append(_Printed(ix, ix, span.x0, span.x1, span.y0, span.y1, span.text.strip()))
    lefts = _find_lefts(lines)
    for line in lines:
        at = bisect_right(lefts, line.x0 + 1.0)
        line.indent = line.x0 - lefts[at - 1] if at else 0.0
    return lines


def _find_lefts(lines: Sequence[_Printed]) -> list[float]:
    """Find the left ends of a page's columns: lines begin there, and a little to the right, again and again."""
    counts = Counter(round(line.x0) for line in lines)
    lefts: list[float] = []
    last = -_COLUMN_PT
    for left in sorted(x0 for x0, count in counts.items() if count > 1):
        if left - last > _COLUMN_PT:
            lefts.append(float(left))
        last = left
    return lefts


def _read_contents(link: Link, by_span: Mapping[int, _Printed], lines: Sequence[_Printed]) -> Entry | None:
    """Read an entry of a list of contents: its words stand before the dots, or the file has them for its target."""
    line = by_span.get(link.first_span)
    leader = next((rule.pattern.search(line.text) for rule in load_navigation().leaders), None) if line else None
    if line is None or leader is None:
        return None
    words = line.text[: leader.start()].strip()
    if link.title and not is_page_number(link.title):
        return Entry("contents", link.title)
    at = lines.index(line)
    above = lines[at - 1] if at else None
    if above is not None and above.x0 < line.x0 - 2.0 and 0 < line.y0 - above.y0 < 2.0 * (line.y1 - line.y0):
        has_leader = load_navigation().leaders.matches(above.text)
        if not has_leader and not _ENDS.search(above.text):
            words = join_words([above.text, words])
    return Entry("contents", words) if words else None


def _read_index(lines: Sequence[_Printed], first_spans: Mapping[int, int]) -> dict[int, Entry]:
    """Read an index: lines in their stored order, each of them a term, a subterm or the rest of one."""
    step = float(load_navigation().index.indent_pt)
    wanted: dict[int, list[int]] = {}
    for ix, span in first_spans.items():
        wanted.setdefault(span, []).append(ix)
    levels: list[_Level] = []
    found: dict[int, Entry] = {}
    for line in lines:
        if len(line.text) == 1 and line.text.isalpha():
            levels = []
            continue
        last = levels[-1] if levels else None
        targets = [ix for span in range(line.first, line.last + 1) for ix in wanted.get(span, ())]
        is_open = not targets and not _ENDS.search(line.text)
        if last is not None and last.is_open and line.indent > last.indent + step:
            last.parts.append(line.text)
            last.is_open = is_open
        else:
            while levels and levels[-1].indent > line.indent - step:
                levels.pop()
            levels.append(_Level(line.indent, [line.text], is_open))
        words = [words for level in levels if (words := _find_term(join_words(level.parts)))] if targets else []
        if words:
            found |= dict.fromkeys(targets, Entry("index", words[0], ", ".join(words[1:])))
    return found


def _find_term(text: str) -> str:
    """Take page numbers, references to other entries and closing signs away from an entry's words."""
    for rule in load_navigation().cross_entries:
        match = rule.pattern.search(text)
        if match is not None and match.start() > 0:
            text = text[: match.start()].rstrip(" (")
    return _PAGE_LIST.sub("", text.strip()).removesuffix("(Continued)").strip(" ,:(")
