"""Structure tags of the pieces of text on a page: paragraph, heading and level, list item, table cell.

Tags nest; here every tag gets the block, list item, cell, row and table that it is in. Types are those of the PDF
standard (ISO 32000-1, 14.8.4), after the document's own role map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from taxkg_assets.extraction.pdf.tags import Tag

# Pages whose places are kept: whether the tags are trusted, tables and blocks all need them.
_KEPT_PAGES = 256

# Types inside a line; a block continues through them.
_INLINE = frozenset(
    {
        *("Span", "Link", "Reference", "Quote", "Em", "Strong", "Code", "BibEntry", "Annot", "Sub", "Formula"),
        *("Ruby", "RB", "RT", "RP", "Warichu", "WT", "WP", "NonStruct", "Private"),
    }
)
# Types that say more of what they hold than that it is a block.
_STRUCTURAL = frozenset({"LI", "Lbl", "LBody", "Table", "TR", "TD", "TH", "Figure", "Caption", "TOC", "TOCI", "Index"})
_HEADINGS = {"H": 1, "Title": 1, **{f"H{level}": level for level in range(1, 7)}}
_KIND = attrgetter("kind")


@dataclass(slots=True)
class TagPlace:
    """Position of one tag in the structure of its page; indices refer to tags, −1 for none.

    Attributes:
        block_ix: Innermost block-level tag: the tag itself or an ancestor.
        kind: Type of that block-level tag.
        level: Level of a heading, 1 to 6; 0 for other text.
        item_ix: Innermost list item.
        is_mark: Whether the text is the mark or number of the list item.
        table_ix: Outermost table.
        row_ix: Row of that table.
        cell_ix: Cell of that table.
        is_header: Whether the cell is tagged as a header.
        figure_ix: Innermost figure.
        caption_ix: Innermost caption.
        contents_ix: Innermost list of contents or index.
    """

    block_ix: int
    kind: str
    level: int = 0
    item_ix: int = -1
    is_mark: bool = False
    table_ix: int = -1
    row_ix: int = -1
    cell_ix: int = -1
    is_header: bool = False
    figure_ix: int = -1
    caption_ix: int = -1
    contents_ix: int = -1


# By identity: equal tags of two pages are rare, and comparing them takes as long as placing them.
_places_by_page: dict[int, tuple[Sequence[Tag], list[TagPlace]]] = {}


def find_places(tags: Sequence[Tag]) -> list[TagPlace]:
    """Locate each structure tag of a page: its block, list item and table cell.

    Args:
        tags: Structure tags of the page, parents before children.

    Returns:
        One position per tag, in the same order. The list is cached, so do not modify it.
    """
    cached_places = _places_by_page.get(id(tags))
    if cached_places is not None and cached_places[0] is tags:
        return cached_places[1]
    places: list[TagPlace] = []
    root_place = TagPlace(-1, "")
    for ix, tag in enumerate(tags):
        kind, parent_ix = tag.kind, tag.parent_ix
        parent_place = places[parent_ix] if parent_ix >= 0 else root_place
        places.append(
            parent_place if kind in _INLINE and parent_place.block_ix >= 0 else _place_block(ix, kind, parent_place)
        )
    if isinstance(tags, tuple):
        if len(_places_by_page) >= _KEPT_PAGES:
            _places_by_page.clear()
        _places_by_page[id(tags)] = tags, places
    return places


def has_heading_tag(tags: Sequence[Tag]) -> bool:
    """Return whether any tag of a page is a heading.

    Args:
        tags: Structure tags of the page, parents before children.
    """
    return not _HEADINGS.keys().isdisjoint(map(_KIND, tags))


def has_table_tag(tags: Sequence[Tag]) -> bool:
    """Return whether any tag of a page is a table.

    Args:
        tags: Structure tags of the page, parents before children.
    """
    return "Table" in map(_KIND, tags)


def _place_block(ix: int, kind: str, parent_place: TagPlace) -> TagPlace:
    """Place a block-level tag below the one that holds it."""
    place = TagPlace(
        ix,
        kind,
        _HEADINGS.get(kind, parent_place.level if kind in ("P", "Div") else 0),
        parent_place.item_ix,
        parent_place.is_mark,
        parent_place.table_ix,
        parent_place.row_ix,
        parent_place.cell_ix,
        parent_place.is_header,
        parent_place.figure_ix,
        parent_place.caption_ix,
        parent_place.contents_ix,
    )
    if kind not in _STRUCTURAL:
        return place
    if kind == "LI":
        place.item_ix, place.is_mark = ix, False
    elif kind in ("Lbl", "LBody"):
        place.is_mark = kind == "Lbl"
    elif kind == "Table" and place.table_ix < 0:
        place.table_ix, place.item_ix = ix, -1
    elif kind == "TR" and place.cell_ix < 0:
        place.row_ix = ix
    elif kind in ("TD", "TH") and place.cell_ix < 0:
        place.cell_ix, place.is_header = ix, kind == "TH"
    elif kind == "Figure":
        place.figure_ix = ix
    elif kind == "Caption":
        place.caption_ix = ix
    elif kind in ("TOC", "TOCI", "Index"):
        place.contents_ix = ix
    return place
