"""The publisher's own numbers of headings, paragraphs and tables, added to finished tables.

The element that begins at the point of a named destination is what the name means. The number stays the same over
editions; the whole name is the fragment of the official web page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.authored.destinations import NamedPlace
from taxkg_assets.extraction.structure.targets import Target, TargetFinder
from taxkg_assets.schemas import Anchors, Sections, Tables, validated


@dataclass(frozen=True, slots=True)
class NumberedTables:
    """The tables of a document with the publisher's numbers."""

    anchors: dy.DataFrame[Anchors]
    sections: dy.DataFrame[Sections]
    tables: dy.DataFrame[Tables]


def add_publisher_ids(
    anchors: dy.DataFrame[Anchors],
    sections: dy.DataFrame[Sections],
    *,
    tables: dy.DataFrame[Tables],
    places: Iterable[NamedPlace],
    finder: TargetFinder,
    page_url: str | None,
) -> NumberedTables:
    """Fill `publisher_id` of headings, paragraphs and tables, and `official_url` of headings.

    Args:
        anchors: Headings of the document.
        sections: Content elements of the document.
        tables: Tables of the document.
        places: Named destinations of the document.
        finder: Object that finds the element at a point of a page.
        page_url: Official web page of the document; None for none.

    Returns:
        The same rows with ids. If several destinations point to one element, one that has a title counts, else the
        nearest one.
    """
    places_by_table: dict[str, dict[str, NamedPlace]] = {"anchors": {}, "sections": {}, "tables": {}}
    ranks: dict[tuple[str, str], tuple[bool, float, str]] = {}
    for place in places:
        if not place.publisher_id:
            continue
        target = finder.find(place.place, titles=place.titles)
        if target is None or not target.is_start:
            continue
        rank = (not place.titles, abs(target.y0 - place.place.y), place.name)
        for table, key in _find_keys(target):
            if rank < ranks.get((table, key), (True, float("inf"), "")):
                ranks[table, key], places_by_table[table][key] = rank, place
    urls = {key: f"{page_url}#{place.name}" for key, place in places_by_table["anchors"].items()} if page_url else {}
    if places_by_table["anchors"]:
        with_ids = _fill_ids(anchors, "anchor_id", places_by_table["anchors"]).with_columns(
            official_url=pl.col("anchor_id").replace_strict(urls, default=None, return_dtype=pl.String)
        )
        anchors = validated(with_ids, Anchors)
    if places_by_table["sections"]:
        sections = validated(_fill_ids(sections, "element_id", places_by_table["sections"]), Sections)
    if places_by_table["tables"]:
        tables = validated(_fill_ids(tables, "table_id", places_by_table["tables"]), Tables)
    return NumberedTables(anchors, sections, tables)


def _find_keys(target: Target) -> list[tuple[str, str]]:
    """Return which rows of which tables a target is."""
    if target.is_heading and target.anchor_id is not None:
        return [("anchors", target.anchor_id)]
    keys = [("sections", target.element_id)]
    return [*keys, ("tables", target.table_id)] if target.table_id is not None else keys


def _fill_ids(frame: pl.DataFrame, key: str, places_by_key: Mapping[str, NamedPlace]) -> pl.DataFrame:
    ids = {value: place.publisher_id for value, place in places_by_key.items()}
    return frame.with_columns(publisher_id=pl.col(key).replace_strict(ids, default=None, return_dtype=pl.String))
