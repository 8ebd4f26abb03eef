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
_TELLING = frozenset({"LI", "Lbl", "LBody", "Table", "TR", "TD", "TH", "Figure", "Caption", "TOC", "TOCI", "Index"})
_HEADINGS = {"H": 1, "Title": 1, **{f"H{level}": level for level in range(1, 7)}}
_KIND = attrgetter("kind")


@dataclass(slots=True)
class TagPlace:
    """Position of one tag in the structure of its page; indices refer to tags, −1 for none.

    Attributes:
        block_ix: Innermost block-level tag: the tag itself or an ancestor.
        kind: Type of that block.
        level: Level of a heading, 1 to 6; 0 for other text.
        item_ix: Innermost list item.
        is_mark: Whether the text is the item's mark or number.
        table_ix: Outermost table.
        row_ix: Row of that table.
        cell_ix: Cell of that table.
        is_header: Whether the cell is tagged as a header.
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
_known: dict[int, tuple[Sequence[Tag], list[TagPlace]]] = {}


def find_places(tags: Sequence[Tag]) -> list[TagPlace]:
    """Locate each structure tag of a page: its block, list item and table cell.

    Args:
        tags: `Page.tags`, parents before children.

    Returns:
        One place per tag, in the same order. The result is cached, so do not modify it.
    """
    known = _known.get(id(tags))
    if known is not None and known[0] is tags:
        return known[1]
    places: list[TagPlace] = []
    top = TagPlace(-1, "")
    for ix, tag in enumerate(tags):
        kind, parent_ix = tag.kind, tag.parent_ix
        above = places[parent_ix] if parent_ix >= 0 else top
        places.append(above if kind in _INLINE and above.block_ix >= 0 else _place_block(ix, kind, above))
    if isinstance(tags, tuple):
        if len(_known) >= _KEPT_PAGES:
            _known.clear()
        _known[id(tags)] = tags, places
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


def _place_block(ix: int, kind: str, above: TagPlace) -> TagPlace:
    """Place a block-level tag below the one that holds it."""
    place = TagPlace(
        ix,
        kind,
        _HEADINGS.get(kind, above.level if kind in ("P", "Div") else 0),
        above.item_ix,
        above.is_mark,
        above.table_ix,
        above.row_ix,
        above.cell_ix,
        above.is_header,
        above.figure_ix,
        above.caption_ix,
        above.contents_ix,
    )
    if kind not in _TELLING:
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
