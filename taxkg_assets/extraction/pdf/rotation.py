"""Pages whose text runs upward, downward or upside down: they are rotated before they are read, and the results back.

A wide table is often printed sideways on an upright page. All stages after the reader expect text from left to right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import polars as pl

from taxkg_assets.bounding_box import CORNERS
from taxkg_assets.extraction.pdf.model import Fill, Page, Rule, Source, Span, Widget
from taxkg_assets.extraction.pdf.navigation import LinkArea, Navigation, Place
from taxkg_assets.extraction.pdf.text_direction import UPSIDE_DOWN

Placed = TypeVar("Placed", Span, Rule, Fill, Widget, LinkArea)


def derotate_pages(source: Source) -> Source:
    """Rotate each page whose text runs upward, downward or upside down so that it runs from left to right.

    Args:
        source: Pages of the document.

    Returns:
        The document with upright pages.
    """
    if not any(page.sideways for page in source.pages):
        return source
    turned_pages = {page.page: page for page in source.pages if page.sideways}
    pages = tuple(_turned(page) if page.sideways else page for page in source.pages)
    return replace(source, pages=pages, navigation=_navigation_turned(source.navigation, turned_pages))


def restore_rotation(frames: Mapping[str, pl.DataFrame], *, shown_source: Source) -> dict[str, pl.DataFrame]:
    """Rotate the rectangles of rotated pages back to the displayed pages.

    Args:
        frames: Tables of the document, by name.
        shown_source: The document before `derotate_pages`.

    Returns:
        Tables with rectangles on the displayed pages, by name.
    """
    turned_pages = {page.page: page for page in shown_source.pages if page.sideways}
    if not turned_pages:
        return dict(frames)
    return {name: _frame_back(frame, turned_pages) for name, frame in frames.items()}


def _turned(page: Page) -> Page:
    width_pt, height_pt = page.width_pt, page.height_pt
    return replace(
        page,
        width_pt=width_pt if page.sideways == UPSIDE_DOWN else height_pt,
        height_pt=height_pt if page.sideways == UPSIDE_DOWN else width_pt,
        spans=tuple(_shape_turned(span, page) for span in page.spans),
        rules=tuple(_shape_turned(rule, page) for rule in page.rules),
        fills=tuple(_shape_turned(fill, page) for fill in page.fills),
        widgets=tuple(_shape_turned(widget, page) for widget in page.widgets),
    )


def _navigation_turned(navigation: Navigation, turned_pages: Mapping[int, Page]) -> Navigation:
    """Rotate the link areas of rotated pages, and the targets on these pages of links, names and bookmarks."""

    def aimed(place: Place) -> Place:
        return _place_turned(place, turned_pages[place.page]) if place.page in turned_pages else place

    areas = (
        _shape_turned(area, turned_pages[area.page]) if area.page in turned_pages else area for area in navigation.areas
    )
    return replace(
        navigation,
        areas=tuple(replace(area, place=aimed(area.place)) if area.place else area for area in areas),
        destinations=tuple(
            replace(destination, place=aimed(destination.place)) for destination in navigation.destinations
        ),
        bookmarks=tuple(
            replace(bookmark, place=aimed(bookmark.place)) if bookmark.place else bookmark
            for bookmark in navigation.bookmarks
        ),
    )


def _place_turned(place: Place, page: Page) -> Place:
    """Rotate a point; a point without `x` gets the height 0 on the rotated page."""
    if place.x is None:
        return replace(place, y=0.0)
    if page.sideways == UPSIDE_DOWN:
        return replace(place, x=page.width_pt - place.x, y=page.height_pt - place.y)
    if page.sideways > 0:
        return replace(place, x=page.height_pt - place.y, y=place.x)
    return replace(place, x=place.y, y=page.width_pt - place.x)


def _shape_turned(shape: Placed, page: Page) -> Placed:
    width_pt, height_pt = page.width_pt, page.height_pt
    if page.sideways == UPSIDE_DOWN:
        return replace(
            shape, x0=width_pt - shape.x1, y0=height_pt - shape.y1, x1=width_pt - shape.x0, y1=height_pt - shape.y0
        )
    if page.sideways > 0:
        return replace(shape, x0=height_pt - shape.y1, y0=shape.x0, x1=height_pt - shape.y0, y1=shape.x1)
    return replace(shape, x0=shape.y0, y0=width_pt - shape.x1, x1=shape.y1, y1=width_pt - shape.x0)


def _frame_back(frame: pl.DataFrame, turned_pages: Mapping[int, Page]) -> pl.DataFrame:
    if "page" not in frame.columns or frame.filter(pl.col("page").is_in(list(turned_pages))).is_empty():
        return frame
    columns = [name for name in ("bbox", "bboxes", "cells", "pieces") if name in frame.columns]
    new_columns = [
        pl.Series(name, _values_back(frame, name, turned_pages), dtype=frame.schema[name]) for name in columns
    ]
    return frame.with_columns(new_columns)


def _values_back(frame: pl.DataFrame, name: str, turned_pages: Mapping[int, Page]) -> list[object]:
    values: list[object] = []
    for number, value in frame.select("page", name).iter_rows():
        if name == "bbox":
            values.append(_box_back(value, turned_pages.get(number)))
        elif name in ("pieces", "bboxes"):
            values.append([_box_back(piece, turned_pages.get(piece["page"])) for piece in value])
        else:
            values.append([{**cell, "bbox": _box_back(cell["bbox"], turned_pages.get(number))} for cell in value])
    return values


def _box_back(box: dict[str, float], page: Page | None) -> dict[str, float]:
    """Rotate one rectangle back; other values of the dictionary stay."""
    if page is None:
        return box
    x0, y0, x1, y1 = (box[corner] for corner in CORNERS)
    if page.sideways == UPSIDE_DOWN:
        shown_corners = (page.width_pt - x1, page.height_pt - y1, page.width_pt - x0, page.height_pt - y0)
    elif page.sideways > 0:
        shown_corners = (y0, page.height_pt - x1, y1, page.height_pt - x0)
    else:
        shown_corners = (page.width_pt - y1, x0, page.width_pt - y0, x1)
    return {**box, **dict(zip(CORNERS, shown_corners, strict=True))}
