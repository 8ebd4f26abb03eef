"""Links of a document: the rectangles of one link joined, the printed words that they cover, and where each leads.

A reference that runs over a line's or a column's end has one rectangle in each; all of them have one target, and
nothing is printed between them. Words are those of visible spans: invisible text is in no link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from urllib.parse import urlsplit

import numpy as np

from taxkg_assets.extraction.authored.destinations import NamedPlace
from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.model import Page, Source, Span
from taxkg_assets.extraction.pdf.navigation import LinkArea, Place
from taxkg_assets.rules.models.navigation import load_navigation

_WORD_SIGN = re.compile(r"\w")
_SCHEMES = ("http", "https", "mailto")
_HYPHENS = "-\u00ad\u2010"
# Widths of letters in parts of the type size, as in the sans-serif types that forms are set in.
_WIDTHS = dict.fromkeys("ijl.,;:'|!’‘ ftrI()[]/\\-", 0.3) | dict.fromkeys("mwMW%@—", 0.88)
_WIDTH = 0.55


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class LinkBox:
    """One rectangle of a link and the words inside it."""

    box: Corners
    text: str


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class Link:
    """One link to a place in the document or to an address.

    Attributes:
        page: 1-based page of the link.
        boxes: Rectangles of the link with the words inside each.
        text: Words of all rectangles.
        title: Title that the file gives the link; may be empty.
        name: Named destination that it leads to; empty for none.
        place: Page and position that it leads to, if it has no named destination.
        url: Address that it leads to; empty for a place in the document.
        first_span: Index of the first span of the page that it covers; −1 where it covers no words.
    """

    page: int
    boxes: tuple[LinkBox, ...]
    text: str
    title: str
    name: str
    place: Place | None
    url: str
    first_span: int


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class _Covered:
    """The words that one area covers: from a character of one span to one of the same or a later span."""

    area: LinkArea
    first: tuple[int, int]
    last: tuple[int, int]
    text: str


def find_links(source: Source, *, places: Mapping[str, NamedPlace]) -> tuple[tuple[Link, ...], tuple[str, ...]]:
    """Extract the links of a document in page order; rectangles of one link, such as on two lines, are joined.

    Args:
        source: The document, pages upright.
        places: Named destinations of the document.

    Returns:
        Links to a place in the document, a web page or a mail address; and for other links, why they were left out.
    """
    by_page: dict[int, list[LinkArea]] = {}
    reasons: dict[str, None] = {}
    for area in source.navigation.areas:
        reason = _find_fault(area, places)
        if reason:
            reasons[reason] = None
        else:
            by_page.setdefault(area.page, []).append(area)
    links: list[Link] = []
    for page in source.pages:
        if page.page in by_page:
            links += _read_page(page, by_page[page.page])
    return tuple(links), tuple(reasons)


def _find_fault(area: LinkArea, places: Mapping[str, NamedPlace]) -> str:
    """Return why an area is not a usable link; empty where it is one."""
    if area.url:
        if len(area.url) > load_navigation().limits.url_chars:
            return "Links with very long addresses were left out."
        return "" if is_address(area.url) else "Links that open something other than a web page were left out."
    if area.name and area.name not in places:
        return "Links to named destinations that the file lacks were left out."
    return "" if area.name or area.place is not None else "Links without a target were left out."


def is_address(url: str) -> bool:
    """Return whether a URL's scheme is http, https or mailto; other links are dropped.

    Args:
        url: Target of a link.
    """
    try:
        parts = urlsplit(url.strip())
        return parts.scheme.lower() in _SCHEMES and bool(parts.hostname or parts.scheme.lower() == "mailto")
    except ValueError:
        return False


def _read_page(page: Page, areas: Sequence[LinkArea]) -> Iterator[Link]:
    """Read a page's links in the order in which its words are stored."""
    covered_areas = sorted(
        _find_covered(page.spans, areas),
        key=lambda area_words: (area_words.first, area_words.last, area_words.area.y0, area_words.area.x0),
    )
    group: list[_Covered] = []
    for covered_area in covered_areas:
        if group and not _continues(group[-1], covered_area, page.spans):
            yield _join(group)
            group = []
        if not group or covered_area.first != group[-1].first:
            group.append(covered_area)
    if group:
        yield _join(group)


def _find_covered(spans: Sequence[Span], areas: Sequence[LinkArea]) -> Iterator[_Covered]:
    """Find the words under each area: of spans at whose height its middle is, the letters between its sides."""
    boxes = np.array([(span.x0, span.y0, span.x1, span.y1) for span in spans], dtype=float).reshape(-1, 4)
    rects = np.array([(area.x0, area.y0, area.x1, area.y1) for area in areas], dtype=float)
    middle = ((rects[:, 1] + rects[:, 3]) / 2)[:, None]
    top, bottom = boxes[:, 1], boxes[:, 3]
    # A span's own middle has to lie in the area too: a line's box hangs over into its neighbors.
    span_middle = (top + bottom) / 2
    meets = (top < middle) & (middle < bottom) & (rects[:, 1, None] < span_middle) & (span_middle < rects[:, 3, None])
    meets &= (boxes[:, 0] < rects[:, 2, None] - 0.5) & (boxes[:, 2] > rects[:, 0, None] + 0.5)
    spans_by_area: list[list[int]] = [[] for _ in areas]
    for area_ix, span_ix in np.argwhere(meets).tolist():
        spans_by_area[area_ix].append(span_ix)
    for area, indices in zip(areas, spans_by_area, strict=True):
        parts = [(ix, *_find_part(spans[ix], area.x0, area.x1)) for ix in indices]
        parts = [part for part in parts if spans[part[0]].text[part[1] : part[2]].strip()]
        if not parts:
            yield _Covered(area, (-1, 0), (-1, 0), "")
            continue
        text = "".join(spans[ix].text[start:end] for ix, start, end in parts)
        yield _Covered(area, (parts[0][0], parts[0][1]), (parts[-1][0], parts[-1][2]), " ".join(text.split()))


def _find_part(span: Span, left_x: float, right_x: float) -> tuple[int, int]:
    """Find which letters of a span lie between two sides; a side that cuts a word goes to its nearer end."""
    text = span.text
    if span.x0 >= left_x - 1.0 and span.x1 <= right_x + 1.0:
        return 0, len(text)
    letter_ends = list(accumulate((_WIDTHS.get(letter, _WIDTH) for letter in text), initial=0.0))
    scale = (span.x1 - span.x0) / (letter_ends[-1] or 1.0)
    edges = [span.x0 + end * scale for end in letter_ends]
    start = 0 if span.x0 >= left_x - 1.0 else _find_edge(text, edges, left_x)
    end = len(text) if span.x1 <= right_x + 1.0 else _find_edge(text, edges, right_x)
    return start, max(start, end)


def _find_edge(text: str, edges: Sequence[float], x: float) -> int:
    """Find the word's edge nearest to a distance from the page's left."""
    cuts = [
        ix for ix in range(len(text) + 1) if not (0 < ix < len(text) and text[ix - 1].isalnum() and text[ix].isalnum())
    ]
    return min(cuts, key=lambda ix: abs(edges[ix] - x))


def _continues(previous: _Covered, current: _Covered, spans: Sequence[Span]) -> bool:
    """Decide whether one rectangle continues the link of the last: same target, and nothing is printed between."""
    if _target_of(previous.area) != _target_of(current.area) or previous.first[0] < 0 or current.first[0] < 0:
        return False
    if current.first == previous.first:
        return True
    (from_ix, start), (to_ix, end) = previous.last, current.first
    if to_ix - from_ix > 6:
        return False
    if from_ix == to_ix:
        between = spans[from_ix].text[start:end]
    else:
        inner = "".join(span.text for span in spans[from_ix + 1 : to_ix])
        between = spans[from_ix].text[start:] + inner + spans[to_ix].text[:end]
    return not _WORD_SIGN.search(between) and len(between.strip()) <= 1 and between.strip() in ("", *_HYPHENS)


def _target_of(area: LinkArea) -> tuple[str, Place | None, str]:
    return area.name, area.place, area.url


def _join(group: Sequence[_Covered]) -> Link:
    area = group[0].area
    boxes = tuple(LinkBox((piece.area.x0, piece.area.y0, piece.area.x1, piece.area.y1), piece.text) for piece in group)
    text = join_words(box.text for box in boxes)
    return Link(area.page, boxes, text, area.title, area.name, area.place, area.url.strip(), group[0].first[0])


def join_words(parts: Iterable[str]) -> str:
    """Join the words of lines, undoing hyphenation at line ends.

    Args:
        parts: Words of each line, in order.

    Returns:
        One line of text.
    """
    text = ""
    for part in filter(None, parts):
        if text.endswith(tuple(_HYPHENS)) and part[:1].islower():
            text = text[:-1] + part
        elif text.endswith(("/", "—", "-")) or not text:
            text += part
        else:
            text = f"{text} {part}"
    return text
