"""Paragraphs whose tags end at every link: what is before, in and after a link is one text.

Some makers tag a link as a block of its own, next to the paragraphs that it separates; the standard has it in a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from taxkg_assets.extraction.authored.structure_tree import TagPlace
from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.pdf.tags import Tag
from taxkg_assets.rules.models.roles import load_roles

# On one printed line: baselines as near, and the next piece as near behind the last, in type sizes.
_SAME_LINE_SIZES, _GAP_SIZES = 0.3, 1.0
# The next line is no farther below, in type sizes.
_NEXT_LINE_SIZES = 1.6


class Fragment(Protocol):
    """Text of one structure tag, as `tagged_page` groups it."""

    place: TagPlace
    table_ix: int
    lines: list[Line]
    has_mark: bool


Unit = TypeVar("Unit", bound=Fragment)


def join_at_links(units: Sequence[Unit], tags: Sequence[Tag]) -> list[Unit]:
    """Join units of text that are one sentence interrupted by a link.

    Args:
        units: Text of a page by structure tag.
        tags: Structure tags of the page.

    Returns:
        Units in the same order; a sentence that a link interrupts is one unit.
    """
    joined_units: list[Unit] = []
    was_link = is_sentence_open = False
    for unit in units:
        is_link = _is_link(unit, tags)
        previous_unit = joined_units[-1] if joined_units else None
        if (
            previous_unit is not None
            and (is_link or was_link or is_sentence_open)
            and _continues(previous_unit, unit, tags)
        ):
            # After a link on a line of its own, only text that begins in small letters belongs to the sentence.
            is_sentence_open = (
                is_sentence_open or is_link or unit.lines[0].text[0].islower() or _is_adjacent(previous_unit, unit)
            )
            if is_sentence_open:
                previous_unit.lines += unit.lines
                continue
        joined_units.append(unit)
        was_link, is_sentence_open = is_link, False
    return joined_units


def _is_link(unit: Fragment, tags: Sequence[Tag]) -> bool:
    """Decide whether a unit is a link that is tagged next to paragraphs, and not in one."""
    tag_ix = unit.lines[0].spans[0].tag_ix
    is_sibling = tag_ix >= 0 and tags[tag_ix].kind == "Link" and tags[tag_ix].parent_ix == unit.place.block_ix
    return is_sibling and unit.place.kind in ("Div", "Sect", "Part", "Art", "Document")


def _continues(before: Fragment, unit: Fragment, tags: Sequence[Tag]) -> bool:
    """Decide whether a unit is set right behind the one before it, or in the next line of an open sentence."""
    places = before.place, unit.place
    if any(place.level > 0 or place.is_mark for place in places) or before.table_ix >= 0 or unit.table_ix >= 0:
        return False
    if places[0].item_ix != places[1].item_ix or _find_holder(before, tags) != _find_holder(unit, tags):
        return False
    if _is_adjacent(before, unit):
        return True
    last, line = before.lines[-1], unit.lines[0]
    step, size = line.base - last.base, max(last.size, line.size)
    return (
        _SAME_LINE_SIZES * size < step < _NEXT_LINE_SIZES * size
        and line.x0 < last.x0 + size
        and not load_roles().sentence_ends.matches(last.text)
    )


def _is_adjacent(before: Fragment, unit: Fragment) -> bool:
    """Decide whether a unit begins right behind the last words of another one, on their line."""
    last, line = before.lines[-1], unit.lines[0]
    size = max(last.size, line.size)
    is_level = abs(line.base - last.base) < _SAME_LINE_SIZES * size
    return is_level and -size < line.x0 - last.x1 < _GAP_SIZES * size


def _find_holder(unit: Fragment, tags: Sequence[Tag]) -> int:
    """Find the tag that holds a paragraph, or a link next to paragraphs."""
    ix = unit.place.block_ix
    return tags[ix].parent_ix if ix >= 0 and unit.place.kind == "P" else ix
