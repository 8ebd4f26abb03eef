"""What the printed lines of a page are taken for before they are read: furniture, icons, claimed rectangles, the rest.

Tables, boxes of a face and numbered lines of a form claim their lines; each is then placed in the reading order as
one item. Nothing is given a role here but page furniture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

from taxkg_assets.extraction.authored.structure_tree import find_places
from taxkg_assets.extraction.forms.face_cells import assign_to_cells, stack_captions
from taxkg_assets.extraction.forms.form_lines import FormLine, cut_leader, split_brace
from taxkg_assets.extraction.forms.head_rows import find_tops
from taxkg_assets.extraction.forms.margin_labels import MarginLabel, limits
from taxkg_assets.extraction.forms.numbered_lines import read_form_lines
from taxkg_assets.extraction.forms.stated_fields import StatedField
from taxkg_assets.extraction.layout.blank_grids import find_blank_grid
from taxkg_assets.extraction.layout.columns import Item
from taxkg_assets.extraction.layout.lines import Line, make_line
from taxkg_assets.extraction.layout.paragraphs import search_for, thresholds
from taxkg_assets.extraction.layout.regions import FaceBox, TableRegion
from taxkg_assets.extraction.layout.roles import find_address_lines, find_artifact_test, is_face_page, is_in_lone_foot
from taxkg_assets.extraction.layout.style import Style
from taxkg_assets.extraction.layout.text_runs import is_filing_note
from taxkg_assets.extraction.pdf.geometry import Corners, holds
from taxkg_assets.extraction.pdf.model import Page, Span
from taxkg_assets.extraction.structure.edge_lines import (
    find_dates_in_sentences,
    find_full_stops,
    find_lines_from_head,
    find_lines_into_foot,
)
from taxkg_assets.rules.models.roles import load_roles
from taxkg_assets.rules.models.tables import load_tables

# The currency sign that a face preprints for an amount is no text.
_BLANK_AMOUNTS = frozenset({"$", "%", ".", "$ ."})
# Parentheses around the blank of a negative amount: on a line of their own, or apart from each other.
BLANK_LOSS, _PARENTHESES, _BLANK_SIZES = "( )", ("(", ")"), 1.0
# A page with at least this number of lone answers shows a decision chart, whose boxes are one text each.
_CHART_ANSWERS, _ANSWER_CHARS = 6, 8
# Items of numbered lines count down from here; tables count up from 0, boxes down from −2.
_FIRST_UNIT = -1000
# Words of a box stand this close below its upper edge.
_CELL_HEAD_PT = 8.0
# Numbers of lines stand in one column, at most a few lines apart.
_COLUMN_PT, _NEXT_ROW_SIZES = 1.5, 4.0


@dataclass(slots=True)
class Parts:
    """The lines of a page by kind.

    Attributes:
        loose: Lines of text outside all regions, in stored order.
        furniture: Running headers, footers and signs that are no text.
        callout_icons: Lines that are icons of callouts.
        braces: Tall braces next to lines.
        leaders: Dots that lead to an amount.
        inside: Lines inside each table or box, by number of the item.
        units: Numbered line or margin label of each such item, by number of the item.
        items: Lines and regions to put in reading order.
        box_keys: Key of each box, by number of the item.
        cells: Lines of each ruled cell, by number of the item.
    """

    loose: list[Line] = field(default_factory=list)
    furniture: list[Line] = field(default_factory=list)
    callout_icons: list[Line] = field(default_factory=list)
    braces: list[Line] = field(default_factory=list)
    leaders: list[Line] = field(default_factory=list)
    inside: dict[int, list[Line]] = field(default_factory=dict)
    units: dict[int, FormLine | MarginLabel] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    box_keys: dict[int, str] = field(default_factory=dict)
    cells: dict[int, list[Line]] = field(default_factory=dict)


def assign_lines(
    page: Page,
    lines: Sequence[Line],
    style: Style,
    *,
    regions: Sequence[TableRegion],
    boxes: Sequence[FaceBox],
    may_be_chart: bool = False,
) -> Parts:
    """Assign the lines of a page to its tables and boxes, or to the loose text.

    Args:
        page: The page.
        lines: Printed lines of the page.
        style: Type sizes of the document.
        regions: Rectangles of the page's tables.
        boxes: Boxes, if the page is a form's face.
        may_be_chart: Whether many lone answers (`Yes`, `No`) show a decision chart, and many blank cells a grid to fill
            in; on forms they are boxes to check and lines.

    Returns:
        Items to put in reading order, and the lines of each.
    """
    claims: dict[int, TableRegion | FaceBox] = dict(enumerate(regions))
    if len(boxes) >= thresholds().face_boxes:
        claims |= {-2 - ix: box for ix, box in enumerate(boxes)}
    parts = sort_text(page, lines, style, claims=claims, boxes=boxes)
    parts.items = [Item(line.x0, line.y0, line.x1, line.y1, line) for line in parts.loose]
    _share_cells(parts, claims)
    if any(isinstance(claim, FaceBox) for claim in claims.values()):
        assign_to_cells(page, parts.items, cells=parts.cells)
    elif may_be_chart and _count_answers(parts.loose) >= _CHART_ANSWERS:
        assign_to_cells(page, parts.items, cells=parts.cells, least_lines=2)
    elif may_be_chart:
        _group_in_blank_grid(page, lines, parts)
    for ix, enclosed_lines in parts.inside.items():
        claim = claims[ix]
        # Two boxes in one cell: each begins where its own words do.
        item_top = claim.y0 if ix >= 0 else max(claim.y0, min(line.y0 for line in enclosed_lines) - _CELL_HEAD_PT)
        if isinstance(claim, FaceBox):
            parts.box_keys[ix] = claim.box_key
        parts.items.append(Item(claim.x0, item_top, claim.x1, claim.y1, None, ix))
    return parts


def _group_in_blank_grid(page: Page, lines: Sequence[Line], parts: Parts) -> None:
    """Group the lines of each cell of a blank grid into one item."""
    grid = find_blank_grid(page, lines)
    if grid is None:
        return
    names = [item for item in parts.items if holds(grid, (item.x0, item.y0, item.x1, item.y1))]
    name_ids = {id(item) for item in names}
    parts.items = [item for item in parts.items if id(item) not in name_ids]
    assign_to_cells(page, names, cells=parts.cells, least_lines=2)
    parts.items += names


def _count_answers(lines: Sequence[Line]) -> int:
    return sum(len(line.text) < _ANSWER_CHARS and load_tables().chart_answers.matches(line.text) for line in lines)


def _find_blank_losses(lines: Sequence[Line], *, is_face: bool) -> set[int]:
    """Find the parentheses (by `id`) between which a loss is entered; on a face one of them may end a leader."""
    lone_parentheses = [line for line in lines if len(line.text) == 1 and line.text in _PARENTHESES]
    blank_losses = {id(line) for line in lines if line.text == BLANK_LOSS}
    if is_face:
        return blank_losses | {id(line) for line in lone_parentheses}
    for left, right in pairwise(lone_parentheses):
        is_pair = (left.text, right.text) == _PARENTHESES and abs(left.base - right.base) < 1.0
        if is_pair and right.x0 - left.x1 > _BLANK_SIZES * left.size:
            blank_losses |= {id(left), id(right)}
    return blank_losses


def sort_text(
    page: Page,
    lines: Sequence[Line],
    style: Style,
    *,
    claims: Mapping[int, TableRegion | FaceBox] = MappingProxyType({}),
    boxes: Sequence[FaceBox] = (),
    tables: Sequence[TableRegion] = (),
) -> Parts:
    """Sort the lines of a page into furniture, icons, leaders and text.

    Args:
        page: The page.
        lines: Printed lines of the page.
        style: Type sizes of the document.
        claims: Tables and boxes whose lines stay together, by number of the item.
        boxes: Boxes, if the page is a form's face.
        tables: Rectangles around tagged tables, whose lines are not furniture.

    Returns:
        Furniture, icons and text, and the lines inside each claimed rectangle.
    """
    parts = Parts()
    lines = _without_braces(lines, parts)
    is_face = is_face_page(page, box_count=len(boxes))
    text_lines = find_lines_into_foot(page, lines, style) | find_lines_from_head(page, lines, style)
    text_lines |= find_dates_in_sentences(lines) | _adjacent_fields(page, lines)
    text_lines |= _counted_lines(page, lines) if is_face else find_address_lines(page, lines, style)
    text_lines |= _lines_in_cells(page, lines, tables) if tables else set()
    furniture_lines = _find_marks(page, lines) if is_face else set()
    if boxes:
        lines = [part for line in lines for part in _split_by_boxes(line, boxes)]
    furniture_lines |= _find_blank_losses(lines, is_face=is_face)
    is_icon, is_leader, is_furniture = (
        search_for(load_roles().icons),
        search_for(load_roles().lone_leaders),
        find_artifact_test(page, style),
    )
    full_stops = find_full_stops(lines)
    for line in lines:
        text = line.text
        if is_icon(text):
            parts.callout_icons.append(line)
        elif (is_furniture(line) and id(line) not in text_lines and not (is_face and _is_in_row(text))) or (
            id(line) in furniture_lines
        ):
            parts.furniture.append(line)
        elif claims and (claim_ix := _claim_of(line, claims)) is not None:
            parts.inside.setdefault(claim_ix, []).append(line)
        elif id(line) in full_stops:
            parts.loose.append(line)
        elif not text[0].isalnum() and is_leader(text):
            parts.leaders.append(line)
        elif text in _BLANK_AMOUNTS:
            parts.furniture.append(line)
        else:
            parts.loose.append(line)
    return parts


def _is_in_row(text: str) -> bool:
    """Decide whether signs are part of a row of a face: a box to check, or an arrow to a blank."""
    return load_roles().checkboxes.matches(text) or load_roles().artifacts.signs_alone.search(text) is not None


def _lines_in_cells(page: Page, lines: Sequence[Line], tables: Sequence[TableRegion]) -> set[int]:
    """Find the lines that their tags and their place put into cells of tables: an office's name may be one."""
    places = find_places(page.tags)
    found: set[int] = set()
    for line in lines:
        tag_ix = line.spans[0].tag_ix
        if tag_ix < 0 or places[tag_ix].cell_ix < 0 or is_filing_note(line.text):
            continue
        x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
        if any(table.x0 < x < table.x1 and table.y0 < y < table.y1 for table in tables):
            found.add(id(line))
    return found


def _split_by_boxes(line: Line, boxes: Sequence[FaceBox]) -> list[Line]:
    """Cut a stored line that runs through several boxes of a face; gives one line for each."""
    y = (line.y0 + line.y1) / 2
    adjacent = [box for box in boxes if box.y0 <= y <= box.y1 and box.x0 < line.x1 and box.x1 > line.x0]
    if len({box.x0 for box in adjacent}) < 2:
        return [line]
    groups: dict[float, list[Span]] = {}
    for span in line.spans:
        x = (span.x0 + span.x1) / 2
        starts = [box.x0 for box in adjacent if box.x0 - 1 <= x]
        groups.setdefault(max(starts, default=0.0), []).append(span)
    parts = [make_line(line.page, spans) for spans in groups.values()]
    return [part for part in parts if part is not None]


def _share_cells(parts: Parts, claims: Mapping[int, TableRegion | FaceBox]) -> None:
    """Assign to each of several boxes in one cell the words that begin with its key."""
    cells: dict[Corners, dict[str, int]] = {}
    for ix, claim in claims.items():
        if isinstance(claim, FaceBox):
            corners = (claim.x0, claim.y0, claim.x1, claim.y1)
            cells.setdefault(corners, {})[claim.box_key.removeprefix("box_")] = ix
    for keys in cells.values():
        enclosed = [line for ix in keys.values() for line in parts.inside.get(ix, ())]
        if len(keys) < 2 or not enclosed:
            continue
        for ix in keys.values():
            parts.inside.pop(ix, None)
        current = next(iter(keys.values()))
        for line in sorted(enclosed, key=lambda line: (round(line.base), line.x0)):
            current = keys.get(line.text.split()[0].lower(), current)
            parts.inside.setdefault(current, []).append(line)


def _without_braces(lines: Sequence[Line], parts: Parts) -> list[Line]:
    """Set the tall braces of a page aside: the words next to them are lines like others."""
    printed = "".join([line.text for line in lines])
    if "{" not in printed and "}" not in printed:
        return list(lines)
    kept: list[Line] = []
    for line in lines:
        if "{" not in line.text and "}" not in line.text:
            kept.append(line)
            continue
        words, brace = split_brace(line)
        kept += [words] if words is not None else []
        parts.braces += [brace] if brace is not None else []
    parts.furniture += parts.braces
    return kept


def claim_form_lines(page: Page, parts: Parts, *, is_face: bool, stated: Sequence[StatedField] = ()) -> bool:
    """Group each numbered line and margin label of a form page into one item.

    If no fields mark the page as a form's face, several line numbers must be repeated next to the amounts.

    Args:
        page: The page.
        parts: Lines of the page by kind; changed in place.
        is_face: Whether form fields show that the page is a form's face.
        stated: Form fields of the page, with what their spoken texts state.

    Returns:
        Whether the page has numbered lines.
    """
    text_lines: list[Line] = []
    leaders: list[Line] = []
    for line in [item.line for item in parts.items if item.line is not None]:
        words, leader = cut_leader(line)
        text_lines.append(words)
        leaders += [leader] if leader is not None else []
    form_lines = read_form_lines(page, text_lines, braces=parts.braces, leaders=leaders, stated_fields=stated)
    if not form_lines.lines or (not is_face and len(form_lines.repeats) < limits().repeats_alone):
        return False
    parts.furniture += form_lines.repeats
    parts.leaders += leaders
    parts.items = [item for item in parts.items if item.line is None]
    units: list[FormLine | MarginLabel] = [*form_lines.lines, *form_lines.labels]
    parts.items += [Item(line.x0, line.y0, line.x1, line.y1, line) for line in form_lines.rest]
    for ix, (unit, top) in enumerate(zip(units, find_tops(units, form_lines.rest), strict=True)):
        lines = unit.lines
        if isinstance(unit, MarginLabel):
            # It is read before the lines next to it, though it may be set a little lower.
            top -= limits().side_lift_sizes * lines[0].size
        # Only the first line sets the height of the item: drawn rules next to it may separate the other lines.
        right, bottom = max(line.x1 for line in lines), lines[0].y1
        parts.units[_FIRST_UNIT - ix] = unit
        parts.items.append(Item(min(line.x0 for line in lines), top, right, bottom, None, _FIRST_UNIT - ix))
    assign_to_cells(page, parts.items, cells=parts.cells, least_lines=2)
    stack_captions(page, parts.items, cells=parts.cells)
    return True


def find_separators(page: Page, regions: Sequence[TableRegion]) -> list[float]:
    """Find the heights of rules across the whole page outside of tables, at which columns end.

    Args:
        page: The page.
        regions: Rectangles of the page's tables.

    Returns:
        Heights in points, from top to bottom.
    """
    min_width = thresholds().separator_frac * page.width_pt
    heights = {rule.y0 for rule in page.rules if rule.is_horizontal and rule.x1 - rule.x0 >= min_width}
    return sorted(y for y in heights if not any(region.y0 - 3 <= y <= region.y1 + 3 for region in regions))


def find_masthead_floor(page: Page, lines: Sequence[Line], separator_ys: Sequence[float]) -> float:
    """Find the bottom of a form's masthead: the first rule across the page below the publisher's name.

    Args:
        page: The page.
        lines: Printed lines of the page.
        separator_ys: Heights of rules across the page, in points.

    Returns:
        Height in points; 0 for none.
    """
    max_height = thresholds().masthead_frac * page.height_pt
    furniture = load_roles().artifacts
    publisher_bottoms = [
        line.y1
        for line in lines
        if separator_ys
        and line.y1 < max_height
        and (furniture.publisher.search(line.text) or furniture.omb_number.search(line.text))
    ]
    return min(
        (separator_y for separator_y in separator_ys if publisher_bottoms and separator_y >= max(publisher_bottoms)),
        default=0.0,
    )


def _find_marks(page: Page, lines: Sequence[Line]) -> set[int]:
    """Find furniture of a face that its neighbors reveal: the word over a sequence number, the number in its foot."""
    height = thresholds().masthead_frac * page.height_pt
    rules, furniture = load_roles(), load_roles().artifacts
    words = [line for line in lines if line.y1 < height and rules.masthead_words.matches(line.text)]
    numbers = [line for line in lines if rules.form_numbers.matches(line.text) or is_filing_note(line.text)]
    below = [line.x0 for line in lines if words and line.y1 < height and furniture.attachment_number.search(line.text)]
    feet = [line.base for line in lines if numbers and furniture.address_of_form.search(line.text)]
    marks = {id(line) for line in words if any(abs(line.x0 - x0) < 2 * line.size for x0 in below)}
    return marks | {id(line) for line in numbers if any(abs(line.base - base) < 2 for base in feet)}


def _claim_of(line: Line, claims: Mapping[int, TableRegion | FaceBox]) -> int | None:
    """Find the claimed rectangle that holds a line's middle; of several, the smallest."""
    if not claims:
        return None
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    enclosed = [
        (claim.x1 - claim.x0, ix)
        for ix, claim in claims.items()
        if claim.x0 - 1 <= x <= claim.x1 + 1 and claim.y0 - 1 <= y <= claim.y1 + 1
    ]
    return min(enclosed)[1] if enclosed else None


def _adjacent_fields(page: Page, lines: Sequence[Line]) -> set[int]:
    """Find lines at the foot that stand on the row of a form field: they belong to what is filled in."""
    if not page.widgets:
        return set()
    low = [line for line in lines if is_in_lone_foot(line, page) and not load_roles().artifacts.matches(line.text)]
    return {id(line) for line in low if _is_on_field(page, line)}


def _counted_lines(page: Page, lines: Sequence[Line]) -> set[int]:
    """Find numbers that count on from the one above them: at the foot of a face they are no page numbers.

    The one above is near, or the number is on the row of a field.
    """
    numbers = [line for line in lines if line.text.isdigit()]
    lines_by_number: dict[int, list[Line]] = {}
    for line in numbers:
        lines_by_number.setdefault(int(line.text), []).append(line)
    return {
        id(line)
        for number, lines_of_number in lines_by_number.items()
        for line in lines_of_number
        for above in lines_by_number.get(number - 1, ())
        if abs(line.x0 - above.x0) < _COLUMN_PT
        and line.base - above.base > 0
        and (line.base - above.base < _NEXT_ROW_SIZES * line.size or _is_on_field(page, line))
    }


def _is_on_field(page: Page, line: Line) -> bool:
    return any(field.y0 <= (line.y0 + line.y1) / 2 <= field.y1 for field in page.widgets)
