"""The table `links`: what the publisher made a link of, and what each leads to.

Rectangles and words come from the authored layer; here they get their place in the element's text, and their target the
heading and element that begin at its point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.authored.destinations import NamedPlace
from taxkg_assets.extraction.authored.index_entries import Entry, find_entries
from taxkg_assets.extraction.authored.links import Link, join_words
from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.extraction.pdf.navigation import Place
from taxkg_assets.extraction.structure.targets import PrintedLine, Target, TargetFinder, fold_words
from taxkg_assets.rules.addresses import find_product
from taxkg_assets.schemas import Links, dtypes, empty, validated

_HYPHENS = "-\u00ad\u2010"


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class _TextRange:
    """Where one rectangle of a link is: its element, and the range of its words there, −1 where it has none."""

    element_id: str
    start: int = -1
    end: int = -1


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class _Row:
    """One link in the making: `spot` is where its words begin and end."""

    link: Link
    boxes: tuple[tuple[int, Corners], ...]
    text: str
    text_range: _TextRange | None
    entry: Entry | None


def build_links(
    links: Sequence[Link],
    *,
    pages: Sequence[Page],
    places: Mapping[str, NamedPlace],
    finder: TargetFinder,
    document_id: str,
) -> dy.DataFrame[Links]:
    """Build one row per link of a document.

    A link that crosses a page break is one row. Its target is null if no element begins at its point, or if several do
    and no words distinguish them.

    Args:
        links: Links of the document.
        pages: Pages of the document, upright.
        places: Named destinations of the document by name.
        finder: Object that finds the element at a point of a page.
        document_id: Id of the document.

    Returns:
        Rows by page and order.
    """
    if not links:
        return empty(Links)
    text_ranges = [_find_text_ranges(link, finder) for link in links]
    entries = _find_entries(links, pages)
    rows = [
        _Row(link, tuple((link.page, box.box) for box in link.boxes), link.text, _join_ranges(ranges_of_link), entry)
        for link, ranges_of_link, entry in zip(links, text_ranges, entries, strict=True)
    ]
    return _build_frame(list(_join_rows(rows, finder.texts)), places=places, finder=finder, document_id=document_id)


def _find_entries(links: Sequence[Link], pages: Sequence[Page]) -> list[Entry | None]:
    by_page: dict[int, list[int]] = {}
    for ix, link in enumerate(links):
        by_page.setdefault(link.page, []).append(ix)
    entries_by_link: list[Entry | None] = [None] * len(links)
    for page in pages:
        indices = by_page.get(page.page, [])
        for ix, entry in find_entries(page, [links[ix] for ix in indices]).items() if indices else ():
            entries_by_link[indices[ix]] = entry
    return entries_by_link


def _find_text_ranges(link: Link, finder: TargetFinder) -> list[_TextRange]:
    """Find for each rectangle of a link the element that prints it, and where in its text."""
    text_ranges = []
    for box in link.boxes:
        x0, y0, x1, y1 = box.box
        candidates = [
            _find_words(line, box.text, left=x0, text=finder.texts.get(line.element_id, ""))
            for line in finder.find_lines_at(link.page, (x0 + x1) / 2, (y0 + y1) / 2)
        ]
        best_range = next(
            (text_range for text_range in candidates if text_range.start >= 0), next(iter(candidates), None)
        )
        if best_range is not None:
            text_ranges.append(best_range)
    return text_ranges


def _find_words(line: PrintedLine, words: str, *, left: float, text: str) -> _TextRange:
    """Find the words of a rectangle in the line that prints them, the ones nearest to its place."""
    if line.end < 0 or not words:
        return _TextRange(line.element_id)
    printed = text[line.start : line.end]
    expected_start = len(printed) * (left - line.x0) / ((line.x1 - line.x0) or 1.0)
    for wording in (words, words.rstrip(_HYPHENS), words.replace("\u00a0", " ")):
        starts = list(_find_all(printed, wording)) if wording else []
        if starts:
            start = line.start + min(starts, key=lambda found_start: abs(found_start - expected_start))
            return _TextRange(line.element_id, start, start + len(wording))
    return _TextRange(line.element_id)


def _find_all(text: str, words: str) -> Iterator[int]:
    start = text.find(words)
    while start >= 0:
        yield start
        start = text.find(words, start + 1)


def _join_ranges(text_ranges: Sequence[_TextRange]) -> _TextRange | None:
    """Join the places of a link's rectangles to one, in the element where it begins."""
    if not text_ranges:
        return None
    first = text_ranges[0]
    inside = [text_range for text_range in text_ranges if text_range.element_id == first.element_id]
    if any(text_range.start < 0 for text_range in inside):
        return _TextRange(first.element_id)
    start, end = min(text_range.start for text_range in inside), max(text_range.end for text_range in inside)
    return _TextRange(first.element_id, start, end)


def _join_rows(rows: Sequence[_Row], texts: Mapping[str, str]) -> Iterator[_Row]:
    """Join a link that an element's text carries on over a column's or a page's end."""
    open_row: _Row | None = None
    for row in rows:
        if open_row is not None and _continues(open_row, row, texts):
            assert open_row.text_range is not None
            assert row.text_range is not None
            text_range = _TextRange(open_row.text_range.element_id, open_row.text_range.start, row.text_range.end)
            text = join_words([open_row.text, row.text])
            open_row = replace(open_row, boxes=(*open_row.boxes, *row.boxes), text=text, text_range=text_range)
            continue
        if open_row is not None:
            yield open_row
        open_row = row
    if open_row is not None:
        yield open_row


def _continues(last: _Row, row: _Row, texts: Mapping[str, str]) -> bool:
    last_range, next_range = last.text_range, row.text_range
    if (
        last_range is None
        or next_range is None
        or last_range.start < 0
        or next_range.start < last_range.end
        or last_range.element_id != next_range.element_id
    ):
        return False
    if (last.link.name, last.link.place, last.link.url) != (row.link.name, row.link.place, row.link.url):
        return False
    return texts[last_range.element_id][last_range.end : next_range.start].strip() in ("", *_HYPHENS)


def _build_frame(
    rows: Sequence[_Row], *, places: Mapping[str, NamedPlace], finder: TargetFinder, document_id: str
) -> dy.DataFrame[Links]:
    """Build the table from the links of a document, each with its number on the page and its target.

    Args:
        rows: Links in their order, with the text that they cover.
        places: Named places of the document.
        finder: Finds the heading, element or table at a place.
        document_id: Document.
    """
    numbers_on_page: Counter[int] = Counter()
    records = []
    for row in rows:
        link, place = row.link, _find_place(row.link, places)
        records.append(
            {
                "document_id": document_id,
                "page": link.page,
                "link_ix": numbers_on_page[link.page],
                **_describe_text(row),
                **_describe_target(row, place, _find_target(row, place, places, finder)),
                "target_publisher_id": _find_publisher_id(link, places),
                "target_irs_name": find_product(link.url) if link.url else None,
                "url": link.url or None,
            }
        )
        numbers_on_page[link.page] += 1
    schema = dtypes(Links)
    without_boxes = {name: dtype for name, dtype in schema.items() if name != "bboxes"}
    frame = pl.DataFrame(records, schema=without_boxes).with_columns(bboxes=_nest_boxes(rows)).select(list(schema))
    return validated(frame.sort("document_id", "page", "link_ix"), Links)


def _describe_text(row: _Row) -> dict[str, Any]:
    """Return the columns on the text that a link covers, and on the entry of an index that it belongs to."""
    text_range = row.text_range
    is_located = text_range is not None and text_range.start >= 0
    return {
        "element_id": text_range.element_id if text_range else None,
        "start": text_range.start if text_range and is_located else None,
        "end": text_range.end if text_range and is_located else None,
        "text": row.text,
        "term": row.entry.term if row.entry else None,
        "subterm": row.entry.subterm if row.entry else None,
    }


def _describe_target(row: _Row, place: Place | None, target: Target | None) -> dict[str, Any]:
    """Return the columns on where a link goes: its place on a page, and the heading, element or table there."""
    is_table = target is not None and _is_table(target)
    return {
        "kind": _name_kind(row, target),
        "target_page": place.page if place else None,
        "target_y_pt": place.shown_y if place else None,
        "target_anchor_id": target.anchor_id if target and not is_table else None,
        "target_element_id": target.element_id if target else None,
        "target_table_id": target.table_id if target and is_table else None,
    }


def _find_publisher_id(link: Link, places: Mapping[str, NamedPlace]) -> str | None:
    """Return the publisher's id of the named place that a link goes to; None for another link, or a place without."""
    named_place = places.get(link.name)
    return (named_place.publisher_id or None) if named_place else None


def _nest_boxes(rows: Sequence[_Row]) -> pl.Series:
    """Build the nested column of rectangles from flat ones: far cheaper than from dictionaries."""
    flat = [(ix, page, *box) for ix, row in enumerate(rows) for page, box in row.boxes]
    corners = dict.fromkeys(("x0_pt", "y0_pt", "x1_pt", "y1_pt"), pl.Float64)
    frame = pl.DataFrame(flat, schema={"row": pl.Int64, "page": pl.Int32, **corners}, orient="row")
    return frame.group_by("row", maintain_order=True).agg(pl.struct("page", *corners).alias("bboxes"))["bboxes"]


def _find_place(link: Link, places: Mapping[str, NamedPlace]) -> Place | None:
    """Return the place in the document that a link goes to; None for a link to the web."""
    if link.url:
        return None
    return places[link.name].place if link.name in places else link.place


def _find_target(
    row: _Row, place: Place | None, places: Mapping[str, NamedPlace], finder: TargetFinder
) -> Target | None:
    """Find what a link leads to; a page number is called by the words of its entry."""
    if place is None:
        return None
    captioned_target = finder.find_captioned(place.page, row.text) if row.entry is None else None
    if captioned_target is not None:
        return captioned_target
    named_place = places.get(row.link.name)
    titles = named_place.titles if named_place is not None else ()
    if row.entry is None:
        return _find_linked(row.text, place, titles, finder)
    if row.entry.kind == "contents":
        return finder.find(place, titles=(*titles, row.entry.term))
    return finder.find(place, hints=f"{row.entry.term} {row.entry.subterm}")


def _find_linked(words: str, place: Place, titles: Sequence[str], finder: TargetFinder) -> Target | None:
    """Find what linked words of a text lead to; a heading near the point with the same words is meant by it."""
    chapter = finder.find_chapter(place, words)
    if chapter is not None:
        return chapter
    if titles:
        target = finder.find(place, titles=titles)
    else:
        # The words of a link are no title for sure: what begins at its point comes first.
        target = finder.find(place, hints=words) or finder.find(place, titles=(words,))
    if target is not None and fold_words(target.words).startswith(fold_words(words)):
        return target
    return finder.find_namesake(place, words, is_taken=target is not None) or target


def _name_kind(row: _Row, target: Target | None) -> str:
    """Return the kind of a link: a product or a page of the web, an entry of an index, a table or a section."""
    if row.link.url:
        return "document" if find_product(row.link.url) else "url"
    if row.entry is not None:
        return row.entry.kind
    return "table" if target is not None and _is_table(target) else "section"


def _is_table(target: Target) -> bool:
    """Decide whether a target is a table: the heading before it is not what its point names."""
    return target.is_start and target.table_id is not None
