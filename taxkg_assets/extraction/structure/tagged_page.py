"""A page with trusted structure tags to its blocks: the tags decide paragraphs, lists, headings and reading order.

Typography and the key grammar still decide run-in headings, callouts, titles and page furniture (block_maker.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from taxkg_assets.extraction.authored.structure_tree import TagPlace, find_places
from taxkg_assets.extraction.layout.lines import Line, merge_lines
from taxkg_assets.extraction.layout.paragraphs import Paragraph, is_list_start, thresholds
from taxkg_assets.extraction.layout.regions import TableRegion
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.extraction.structure.block_maker import BlockMaker
from taxkg_assets.extraction.structure.strayed_labels import find_strayed_labels
from taxkg_assets.extraction.structure.tag_fragments import join_at_links
from taxkg_assets.rules.models.roles import load_roles

# A line this many type sizes above the lowest one before it begins the next column.
_COLUMN_RISE_SIZES = 2.0
# Units wider than this share of the page's width reach over several columns.
_WIDE_FRAC = 0.6
_OUTSIDE = TagPlace(-1, "")
# The number of a table is in its first lines, and on the line of its title.
_LABEL_LINES, _ADJACENT_SIZES = 3, 0.3
_NUMBER_GAP_SIZES = 2.0


@dataclass(slots=True)
class TagUnit:
    """Consecutive text of one block-level tag, list item or table.

    Attributes:
        place: Position of the tag.
        path: Path of the tag, equal on all pages that it continues on.
        table_ix: Tag of the table, or a number after all tags for a drawn table without one; −1 for other text.
        lines: Printed lines.
        has_mark: Whether it begins with the mark of a list item.
        is_item_start: Whether it begins a list item.
    """

    place: TagPlace
    path: tuple[int, ...]
    table_ix: int = -1
    lines: list[Line] = field(default_factory=list)
    has_mark: bool = False
    is_item_start: bool = False

    @property
    def only_marks(self) -> bool:
        """Return whether the unit is only the mark of a list item."""
        return self.has_mark and self.place.is_mark


def find_units(page: Page, lines: Sequence[Line], *, regions: Sequence[TableRegion]) -> list[TagUnit]:
    """Group the lines of a page by their structure tags.

    Args:
        page: Page with its spans, rules and fields.
        lines: Lines of the page in tag order, without furniture.
        regions: Tables that are read as tables; the cells of other tagged tables are read as text. Untagged lines in
            a region are the header that a continued table repeats.

    Returns:
        Units in tag order; a table has the position of its first line.
    """
    places = find_places(page.tags)
    units: list[TagUnit] = []
    unit_by_table: dict[int, TagUnit] = {}
    seen_items: set[int] = set()
    tables = {region.tag_ix for region in regions if region.tag_ix >= 0}
    labels = find_strayed_labels(lines, places)
    strayed_ids = {id(label) for label in labels.values()}
    for line in lines:
        if id(line) in strayed_ids:
            continue
        tag_ix = line.spans[0].tag_ix
        place = places[tag_ix] if tag_ix >= 0 else _place_untagged(line, regions)
        table_ix = place.table_ix if place.table_ix in tables and place.row_ix >= 0 else -1
        if table_ix < 0 and regions:
            table_ix = _find_drawn_table(line, page, regions)
        if table_ix >= 0:
            unit = unit_by_table.get(table_ix)
            if unit is None:
                path = page.tags[table_ix].path if table_ix in tables else ()
                unit = unit_by_table[table_ix] = TagUnit(place, path, table_ix)
                units.append(unit)
            unit.lines.append(line)
            continue
        last_unit = units[-1] if units else None
        label = labels.get(id(line))
        new_lines = [line] if label is None else [label, line]
        if last_unit is not None and last_unit.table_ix < 0 and _belongs(place, last_unit):
            if last_unit.only_marks and not place.is_mark:
                last_unit.place, last_unit.path = place, page.tags[place.block_ix].path
            last_unit.lines += new_lines
            continue
        path = page.tags[place.block_ix].path if place.block_ix >= 0 else ()
        is_first = place.item_ix >= 0 and place.item_ix not in seen_items
        seen_items.add(place.item_ix)
        units.append(TagUnit(place, path, -1, new_lines, place.is_mark, is_first))
    return join_at_links(units, page.tags) if any(tag.kind == "Link" for tag in page.tags) else units


def _find_drawn_table(line: Line, page: Page, regions: Sequence[TableRegion]) -> int:
    """Return the number of the table that has no tag and whose region encloses a line; −1 for none."""
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    for ix, region in enumerate(regions):
        if region.tag_ix < 0 and region.x0 - 1 <= x <= region.x1 + 1 and region.y0 - 1 <= y <= region.y1 + 1:
            return len(page.tags) + ix
    return -1


def _place_untagged(line: Line, regions: Sequence[TableRegion]) -> TagPlace:
    """Place a line without a tag: in the table whose region encloses it, or nowhere."""
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    for region in regions:
        if region.tag_ix >= 0 and region.x0 - 1 <= x <= region.x1 + 1 and region.y0 - 1 <= y <= region.y1 + 1:
            return replace(_OUTSIDE, table_ix=region.tag_ix, row_ix=0)
    return _OUTSIDE


def _belongs(place: TagPlace, unit: TagUnit) -> bool:
    """Decide whether text continues a unit: the same block, or the words after a list item's mark."""
    if place.block_ix == unit.place.block_ix:
        return place.block_ix >= 0
    return unit.only_marks and place.item_ix == unit.place.item_ix and place.item_ix >= 0


def split_columns(lines: Sequence[Line]) -> list[list[Line]]:
    """Split text where it continues at the top of another column.

    Args:
        lines: Lines of the text, in order.

    Returns:
        Lines of each column.
    """
    if len(lines) == 1:
        return [list(lines)]
    segments: list[list[Line]] = [[]]
    lowest = 0.0
    for line in lines:
        base = line.base
        if segments[-1] and base < lowest - _COLUMN_RISE_SIZES * line.size:
            segments.append([])
            lowest = 0.0
        segments[-1].append(line)
        lowest = base if base > lowest else lowest
    return segments


class Columns:
    """The columns of a page, from the extent of its paragraphs."""

    def __init__(self, page: Page, segments: Sequence[Sequence[Line]]) -> None:
        spans = sorted(
            (min(line.x0 for line in lines), max(line.x1 for line in lines)) for lines in segments if len(lines) > 1
        )
        self._edges: list[list[float]] = []
        for x0, x1 in spans:
            if x1 - x0 > _WIDE_FRAC * page.width_pt:
                continue
            if self._edges and x0 < self._edges[-1][1] - 2:
                self._edges[-1][1] = max(self._edges[-1][1], x1)
            else:
                self._edges.append([x0, x1])

    def locate(self, lines: Sequence[Line]) -> tuple[int, float, float]:
        """Find the column that lines are in.

        Args:
            lines: Printed lines.

        Returns:
            0-based number of the column, −1 for lines across several; its left and right edge in points.
        """
        x0, x1 = lines[0].x0, lines[0].x1
        for line in lines[1:]:
            # Faster than the least and the greatest of two.
            x0 = line.x0 if line.x0 < x0 else x0
            x1 = line.x1 if line.x1 > x1 else x1
        touched = [ix for ix, (left, right) in enumerate(self._edges) if x0 < right - 2 and left + 2 < x1]
        if len(touched) == 1:
            left, right = self._edges[touched[0]]
            return touched[0], min(left, x0), max(right, x1)
        return -1 if touched else sum(left < x0 for left, _ in self._edges), x0, x1


def add_units(maker: BlockMaker, page: Page, units: Sequence[TagUnit], *, regions: Sequence[TableRegion]) -> None:
    """Append the blocks of a page's tagged units in tag order.

    Args:
        maker: Block maker that gets the blocks.
        page: The page.
        units: Text of the page by structure tag.
        regions: Tables of the page.
    """
    segments = [split_columns(unit.lines) for unit in units]
    texts = [parts for unit, parts in zip(units, segments, strict=True) if unit.table_ix < 0]
    columns = Columns(page, [lines for parts in texts for lines in parts])
    captions = _find_captions(units)
    titles = _find_table_titles(units)
    returned = _return_numbers(units)
    state = maker.state
    body = state.style.body(page.page)
    has_headings = state.has_heading_tags and _has_tagged_headings(units, body=body)
    for ix, (unit, parts) in enumerate(zip(units, segments, strict=True)):
        if ix in returned:
            continue
        if unit.table_ix >= 0:
            for region_ix, lines in _share_lines(unit, page, regions).items():
                maker.add_table(lines, region_ix, columns.locate(lines)[0])
            continue
        heads_table = ix in titles
        paragraphs = []
        for lines in parts:
            column_ix, x0, x1 = columns.locate(lines)
            level, is_item = unit.place.level, unit.place.item_ix >= 0
            # Titles of tables are rarely tagged as headings, and large ones are left out at times: their type decides.
            is_open = heads_table or not has_headings or _is_large(unit, body=body)
            by_type = level == 0 and not is_item and is_open
            # A title in a frame of its own, which is tagged as a table of one row, floats with the table below it.
            is_framed = level > 0 and unit.place.cell_ix >= 0
            paragraph = Paragraph(
                merge_lines(lines),
                x0,
                x1,
                column_ix,
                _is_listed(unit),
                0.0,
                heads_table=heads_table and (by_type or is_framed),
                is_under_title=ix - 1 in titles,
                is_caption=ix in captions,
                level=-1 if by_type else level,
                path=unit.path,
                is_item=is_item,
            )
            paragraphs.append(paragraph)
        maker.add_tagged(paragraphs)


def _return_numbers(units: Sequence[TagUnit]) -> set[int]:
    """Return the numbers of tables that are tagged after the text to the tables that they are printed above.

    What is printed right behind such a number is the title, which is tagged before its table. Gives the units that
    are part of a table now.
    """
    returned: set[int] = set()
    for number_ix, number in enumerate(units):
        if not _is_number(number):
            continue
        line = number.lines[0]
        title_ix = next((ix for ix, unit in enumerate(units) if _is_right_behind(unit.lines[0], line)), len(units))
        table = _find_titled_table(units[title_ix + 1 :], number)
        if table is not None:
            table.lines.insert(0, line)
            returned.add(number_ix)
    return returned


def _find_titled_table(units: Sequence[TagUnit], number: TagUnit) -> TagUnit | None:
    """Find the table among the units after its title; text and other captions are between no title and its table."""
    limit = thresholds()
    for unit in units[: int(limit.caption_units) + 1]:
        if unit.table_ix >= 0:
            return unit
        if unit is not number and (_is_text(unit) or load_roles().table_captions.matches(unit.lines[0].text)):
            return None
    return None


def _is_text(unit: TagUnit) -> bool:
    """Decide whether a unit is longer than a heading."""
    return sum(len(line.text) for line in unit.lines) > thresholds().heading_chars


def _is_number(unit: TagUnit) -> bool:
    """Decide whether a unit is the number of a table and nothing else."""
    text = unit.lines[0].text.strip()
    is_line = unit.table_ix < 0 and len(unit.lines) == 1
    return is_line and any(rule.pattern.fullmatch(text) for rule in load_roles().table_captions)


def _is_right_behind(line: Line, number: Line) -> bool:
    return _is_adjacent(line, number) and 0 <= line.x0 - number.x1 < _NUMBER_GAP_SIZES * number.size


def _find_captions(units: Sequence[TagUnit]) -> set[int]:
    """Find the units that are captions of tables: the numbered one and what is set with it.

    A caption is no heading, whatever its tag: the table floats, and the text around it continues.
    """
    captions: set[int] = set()
    limit = thresholds()
    for ix, unit in enumerate(units):
        if unit.table_ix < 0:
            continue
        # Some makers tag the number of a table inside it, or behind its title.
        number = next(
            (line for line in unit.lines[:_LABEL_LINES] if load_roles().table_captions.matches(line.text)), None
        )
        candidates: list[int] = []
        for unit_ix in range(ix - 1, max(-1, ix - 1 - int(limit.caption_units)), -1):
            other = units[unit_ix]
            if other.table_ix >= 0 or _is_text(other):
                break
            candidates.append(unit_ix)
            if load_roles().table_captions.matches(other.lines[0].text):
                number = other.lines[0]
                captions |= set(candidates)
            elif number is not None and _is_adjacent(other.lines[0], number):
                captions.add(unit_ix)
    return captions


def _find_table_titles(units: Sequence[TagUnit]) -> set[int]:
    """Find the units that title a table: the one right before it, and those that share their line or their caption."""
    titles: set[int] = set()
    for ix, unit in enumerate(units):
        if unit.table_ix < 0:
            continue
        for unit_ix in range(ix - 1, max(-1, ix - 1 - int(thresholds().caption_units)), -1):
            unit_above, below = units[unit_ix], units[unit_ix + 1]
            is_one_title = unit_ix == ix - 1 or (
                unit_above.place.caption_ix >= 0 and unit_above.place.caption_ix == below.place.caption_ix
            )
            if unit_above.table_ix >= 0 or not (is_one_title or _is_adjacent(unit_above.lines[0], below.lines[0])):
                break
            titles.add(unit_ix)
    return titles


def _is_adjacent(line: Line, other: Line) -> bool:
    return abs(line.base - other.base) < _ADJACENT_SIZES * line.size


def _has_tagged_headings(units: Sequence[TagUnit], *, body: float) -> bool:
    """Decide whether the maker tagged headings on a page: some, and most of the short units in clearly larger type."""
    if not any(unit.place.level > 0 for unit in units):
        return False
    large = [unit for unit in units if unit.place.item_ix < 0 and _is_large(unit, body=body)]
    return 2 * sum(unit.place.level > 0 for unit in large) >= len(large)


def _is_large(unit: TagUnit, *, body: float) -> bool:
    """Decide whether a unit of running text is short and set in clearly larger type than the text."""
    limit = thresholds()
    if unit.table_ix >= 0 or unit.place.figure_ix >= 0 or unit.lines[0].size < limit.display_size_frac * body:
        return False
    return not _is_text(unit)


def _share_lines(unit: TagUnit, page: Page, regions: Sequence[TableRegion]) -> dict[int, list[Line]]:
    """Assign the lines of a tagged table to its regions: the layout may read several tables of one tag."""
    if unit.table_ix >= len(page.tags):
        return {unit.table_ix - len(page.tags): unit.lines}
    region_indices = [ix for ix, region in enumerate(regions) if region.tag_ix == unit.table_ix]
    lines_by_region: dict[int, list[Line]] = {}
    for line in unit.lines:
        x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
        enclosing = (
            ix for ix in region_indices if regions[ix].x0 - 1 <= x <= regions[ix].x1 + 1 and y <= regions[ix].y1 + 1
        )
        lines_by_region.setdefault(next(enclosing, region_indices[-1]), []).append(line)
    return lines_by_region


def _is_listed(unit: TagUnit) -> bool:
    """Decide whether a unit is a list item with a mark; bold words after the mark of a paragraph are a heading."""
    line = unit.lines[0]
    if unit.place.item_ix >= 0:
        return unit.is_item_start and (unit.has_mark or load_roles().lists.matches(line.text))
    if unit.place.level > 0 or not is_list_start(line):
        return False
    shown_spans = [span for span in line.spans if span.text.strip()]
    bold_text = "".join(span.text for span in takewhile(lambda span: span.is_bold, shown_spans))
    return len(bold_text.strip()) <= len(line.text.split()[0]) + 1
