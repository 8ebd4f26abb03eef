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
    """The index or contents entry that a link belongs to.

    Attributes:
        kind: `index` or `contents`.
        term: Words of the entry.
        subterm: Subentries of an index entry, joined with `, `; may be empty.
    """

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
    """Find the entries of an index or a list of contents to which the links of a page belong.

    Args:
        page: The page.
        links: Links on this page.

    Returns:
        Entry by position of the link in `links`; links in running text are left out.
    """
    page_number_links = [ix for ix, link in enumerate(links) if is_page_number(link.text) and link.first_span >= 0]
    if not page_number_links:
        return {}
    lines = _find_lines(page.spans)
    by_span = {span: line for line in lines for span in range(line.first, line.last + 1)}
    entries = {
        ix: entry for ix in page_number_links if (entry := _read_contents(links[ix], by_span, lines)) is not None
    }
    limits = load_navigation().index
    other_numbers = [ix for ix in page_number_links if ix not in entries]
    other_link_count = sum(not link.url for link in links) - len(entries)
    if len(other_numbers) >= limits.least_links and len(other_numbers) >= limits.least_share * other_link_count:
        entries |= _read_index(
            lines, {ix: links[ix].first_span for ix, link in enumerate(links) if ix not in entries and not link.url}
        )
    return entries


def is_page_number(text: str) -> bool:
    """Return whether a text is only a page number.

    Args:
        text: Words of a link.
    """
    return load_navigation().page_numbers.matches(text)


def _find_lines(spans: Sequence[Span]) -> list[_Printed]:
    """Find the printed lines in the order in which they are stored, and how far each is indented in its column."""
    lines: list[_Printed] = []
    for ix, span in enumerate(spans):
        if not span.text.strip():
            continue
        last_line = lines[-1] if lines else None
        if (
            last_line is not None
            and abs(span.y1 - last_line.y1) < 0.4 * span.size_pt
            and -2.0 < span.x0 - last_line.x1 < _GAP_PT
        ):
            last_line.last, last_line.x1, last_line.text = ix, span.x1, f"{last_line.text} {span.text.strip()}"
        else:
            lines.append(_Printed(ix, ix, span.x0, span.x1, span.y0, span.y1, span.text.strip()))
    column_lefts = _find_lefts(lines)
    for line in lines:
        column_count = bisect_right(column_lefts, line.x0 + 1.0)
        line.indent = line.x0 - column_lefts[column_count - 1] if column_count else 0.0
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
    line_ix = lines.index(line)
    line_above = lines[line_ix - 1] if line_ix else None
    if (
        line_above is not None
        and line_above.x0 < line.x0 - 2.0
        and 0 < line.y0 - line_above.y0 < 2.0 * (line.y1 - line.y0)
    ):
        has_leader = load_navigation().leaders.matches(line_above.text)
        if not has_leader and not _ENDS.search(line_above.text):
            words = join_words([line_above.text, words])
    return Entry("contents", words) if words else None


def _read_index(lines: Sequence[_Printed], first_spans: Mapping[int, int]) -> dict[int, Entry]:
    """Read an index: lines in their stored order, each of them a term, a subterm or the rest of one."""
    step = float(load_navigation().index.indent_pt)
    links_by_span: dict[int, list[int]] = {}
    for ix, span in first_spans.items():
        links_by_span.setdefault(span, []).append(ix)
    levels: list[_Level] = []
    entries: dict[int, Entry] = {}
    for line in lines:
        if len(line.text) == 1 and line.text.isalpha():
            levels = []
            continue
        open_level = levels[-1] if levels else None
        targets = [ix for span in range(line.first, line.last + 1) for ix in links_by_span.get(span, ())]
        is_open = not targets and not _ENDS.search(line.text)
        if open_level is not None and open_level.is_open and line.indent > open_level.indent + step:
            open_level.parts.append(line.text)
            open_level.is_open = is_open
        else:
            while levels and levels[-1].indent > line.indent - step:
                levels.pop()
            levels.append(_Level(line.indent, [line.text], is_open))
        words = [words for level in levels if (words := _find_term(join_words(level.parts)))] if targets else []
        if words:
            entries |= dict.fromkeys(targets, Entry("index", words[0], ", ".join(words[1:])))
    return entries


def _find_term(text: str) -> str:
    """Take page numbers, references to other entries and closing signs away from an entry's words."""
    for rule in load_navigation().cross_entries:
        match = rule.pattern.search(text)
        if match is not None and match.start() > 0:
            text = text[: match.start()].rstrip(" (")
    return _PAGE_LIST.sub("", text.strip()).removesuffix("(Continued)").strip(" ,:(")
