"""Lines of a code as placed on their page: which open a section, which begin a paragraph, which only repeat.

Blocks are made of them in statutes.py. A code may number its sections in any of several styles; which of them it
uses is decided by the lines around it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from taxkg_assets.extraction.keys import Key, find_statute_key, is_division
from taxkg_assets.extraction.layout.columns import Item, find_columns
from taxkg_assets.extraction.layout.lines import Line, merge_lines
from taxkg_assets.extraction.layout.paragraphs import thresholds
from taxkg_assets.extraction.pdf.model import Page, Source
from taxkg_assets.rules.models.roles import load_roles
from taxkg_assets.rules.models.section_grammar import load_section_grammar

_INDENT_PT = 4.0
# A line set in the middle of its column leaves at least so much room on each side.
_CENTERED_PT = 40.0
# Lines this near to a page's edge are its head and foot; what repeats there is no text.
_EDGE_FRAC = 0.1
# A gap wider than the usual leading by this share of the type size parts paragraphs.
_GAP_SIZES = 0.35
_LAST_NUMBER = re.compile(r"[.:-]?\d+[A-Za-z]?$")


@dataclass(slots=True)
class PlacedLine:
    """One line of a statute.

    Attributes:
        line: The printed line.
        is_indented: Whether it begins to the right of the column's margin.
        trailing_space_pt: Unused width of the column after it, in points.
        is_after_gap: Whether a gap parts it from the line above.
        opens_section: Whether it is the heading of a section.
        is_centered: Whether it is in the middle of the column.
    """

    line: Line
    is_indented: bool
    trailing_space_pt: float
    is_after_gap: bool = False
    opens_section: bool = False
    is_centered: bool = False


def find_placed_lines(source: Source, *, pages_lines: Sequence[Sequence[Line]]) -> tuple[list[PlacedLine], list[Line]]:
    """Collect the lines of a statute in reading order, separating running headers and footers.

    Args:
        source: The document.
        pages_lines: Lines of each page.

    Returns:
        Lines of text with their indentation, and the lines that only repeat from page to page.
    """
    placed_lines: list[PlacedLine] = []
    furniture: list[Line] = []
    repeated = _find_repeated(source.pages, pages_lines)
    for page, lines in zip(source.pages, pages_lines, strict=True):
        if source.is_text_file:
            columns = [list(lines)]
        else:
            is_furniture = [_is_furniture(line, page.height_pt, repeated) for line in lines]
            furniture += [line for line, is_out in zip(lines, is_furniture, strict=True) if is_out]
            columns = _divide_by_column([line for line, is_out in zip(lines, is_furniture, strict=True) if not is_out])
        for column in columns:
            placed_lines += _place_in_column(column, is_text_file=source.is_text_file)
    _mark_gaps(placed_lines)
    _mark_sections(placed_lines)
    return placed_lines, furniture


def _divide_by_column(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines of each column of a page, from top to bottom, in reading order."""
    items = [Item(line.x0, line.y0, line.x1, line.y1, line) for line in lines]
    return [merge_lines([item.line for item in run.items if item.line]) for run in find_columns(items)]


def _place_in_column(column: Sequence[Line], *, is_text_file: bool) -> list[PlacedLine]:
    """Return the lines of a column with their indentation, and the room to the right of each."""
    margin = min((line.x0 for line in column), default=0.0)
    right_edge = max((line.x1 for line in column), default=0.0)
    placed_lines = []
    for line in column:
        indent, room = line.x0 - margin, right_edge - line.x1
        # The middle of a text file is that of its author's lines, whose width is unknown.
        has_equal_margins = is_text_file or abs(indent - room) < _INDENT_PT
        placed_lines.append(
            PlacedLine(
                line,
                is_indented=line.x0 > margin + _INDENT_PT,
                # A text file's lines are broken twice, by its author and to fit the page: their room says nothing.
                trailing_space_pt=0.0 if is_text_file else room,
                is_centered=line.x0 > margin + _CENTERED_PT and has_equal_margins,
            )
        )
    return placed_lines


def _fold_numbers(line: Line) -> str:
    """Return the text of a line with its numbers masked."""
    return re.sub(r"\d+|\b[ivxlc]+\b", "#", line.text)


def _is_at_edge(line: Line, height: float) -> bool:
    """Decide whether a line is in the head or foot of a page of some height, in points."""
    return line.y0 > (1 - _EDGE_FRAC) * height or line.y1 < _EDGE_FRAC * height


def _find_repeated(pages: Sequence[Page], pages_lines: Sequence[Sequence[Line]]) -> set[tuple[str, int]]:
    """Find the words, numbers aside, that stand at the same height in the head or foot of several pages."""
    counts = Counter(
        key
        for page, lines in zip(pages, pages_lines, strict=True)
        for key in {(_fold_numbers(line), round(line.base)) for line in lines if _is_at_edge(line, page.height_pt)}
    )
    least = min(thresholds().repeat_pages, max(2, len(pages)))
    return {key for key, count in counts.items() if count >= least}


def _is_furniture(line: Line, height: float, repeated: set[tuple[str, int]]) -> bool:
    """Decide whether a line is a running header or footer: repeated, or short and at the very edge of the page."""
    if _is_at_edge(line, height) and (_fold_numbers(line), round(line.base)) in repeated:
        return find_statute_key(line.text) is None
    is_at_very_edge = line.y0 > 0.93 * height or line.y1 < 0.07 * height
    return is_at_very_edge and (len(line.text) < 12 or load_roles().artifacts.matches(line.text))


def _mark_gaps(placed_lines: Sequence[PlacedLine]) -> None:
    """Mark the lines that stand farther below the line before them than lines of one paragraph do."""
    # (line above, line below, distance of their bases), for neighbors on one page
    neighbors: list[tuple[Line, PlacedLine, float]] = []
    for above, below in pairwise(placed_lines):
        distance = below.line.base - above.line.base
        if above.line.page == below.line.page and 0 < distance < 4 * above.line.size:
            neighbors.append((above.line, below, distance))
    distances_by_size: dict[float, list[float]] = defaultdict(list)
    for line_above, below, distance in neighbors:
        if line_above.size == below.line.size:
            distances_by_size[line_above.size].append(distance)
    usual = {size: min(median(distances), 1.35 * size) for size, distances in distances_by_size.items()}
    for _, below, distance in neighbors:
        size = below.line.size
        below.is_after_gap = distance > usual.get(size, 1.35 * size) + _GAP_SIZES * size


def _mark_sections(placed_lines: Sequence[PlacedLine]) -> None:
    """Mark the lines that open a section, in the styles that this code uses.

    A style is used if several lines have it, or if its sections are in a chapter of sections that are certain: `12-3`
    next to `§ 12-2`.
    """
    certain_keys = {ix: key.key or "" for ix, row in enumerate(placed_lines) if (key := _sure_key(row)) is not None}
    chapters = {_LAST_NUMBER.sub("", key) for key in certain_keys.values()} - {"sec_", ""}
    for ix in certain_keys:
        placed_lines[ix].opens_section = True
    for rule in load_section_grammar().statute_styles:
        keys: dict[int, str] = {}
        for ix, row in enumerate(placed_lines):
            if ix in certain_keys or row.is_indented:
                continue
            match = rule.pattern.match(row.line.text)
            if match is not None and follows_complete_sentence(placed_lines, ix):
                keys[ix] = f"sec_{match['number']}"
        is_used = len(set(keys.values())) >= rule.least
        for ix, section_key in keys.items():
            if is_used or _LAST_NUMBER.sub("", section_key) in chapters:
                placed_lines[ix].opens_section = True


def _sure_key(row: PlacedLine) -> Key | None:
    """Return the key of a line that opens a section by its `§`; None for another line."""
    return None if row.is_indented else find_statute_key(row.line.text)


def follows_complete_sentence(placed_lines: Sequence[PlacedLine], line_ix: int) -> bool:
    """Return whether a line may begin a new block: it follows a gap, a heading or a complete sentence.

    Args:
        placed_lines: Lines in reading order.
        line_ix: Index of the line.
    """
    if line_ix == 0 or placed_lines[line_ix].is_after_gap:
        return True
    before = placed_lines[line_ix - 1].line
    return load_roles().sentence_ends.matches(before.text) or is_division(before.text) or before.text.isupper()


def begins_paragraph(placed_lines: Sequence[PlacedLine], line_ix: int, *, marks_are_flush: bool) -> bool:
    """Return whether a line begins a paragraph: after a gap, at a list mark, or indented.

    Args:
        placed_lines: Lines in reading order.
        line_ix: Index of the line.
        marks_are_flush: Whether the document prints its list marks at the margin.
    """
    row, before = placed_lines[line_ix], placed_lines[line_ix - 1]
    if row.is_after_gap:
        return True
    if load_roles().lists.matches(row.line.text):
        has_room = before.trailing_space_pt > _first_word_pt(row.line)
        return row.is_indented or (_ends_clause(before.line.text) and (marks_are_flush or has_room))
    if before.is_indented and not row.is_indented and load_roles().sentence_ends.matches(before.line.text):
        # Back at the margin although the line before had room for more: an item has ended.
        return before.trailing_space_pt > _first_word_pt(row.line)
    return row.is_indented and not _hangs_under(row.line, before)


def _hangs_under(line: Line, before: PlacedLine) -> bool:
    """Decide whether an indented line only continues a line of the same indent, or that of a list mark before it."""
    line_above = before.line
    is_below = line_above.page == line.page and line_above.base < line.base
    if (
        not is_below
        or load_roles().sentence_ends.matches(line_above.text)
        or before.trailing_space_pt > _first_word_pt(line)
    ):
        return False
    if before.is_indented and abs(line.x0 - line_above.x0) < _INDENT_PT / 2:
        return True
    reach = thresholds().hanging_sizes * line.size
    return load_roles().lists.matches(line_above.text) and (
        not before.is_indented or 0 < line.x0 - line_above.x0 <= reach
    )


def _ends_clause(text: str) -> bool:
    return load_roles().sentence_ends.matches(text) or load_roles().clause_ends.matches(text)


def _first_word_pt(line: Line) -> float:
    """Estimate the width of the first word of a line and the space before it, in points."""
    share = (len(line.text.split(maxsplit=1)[0]) + 1) / max(1, len(line.text))
    return share * (line.x1 - line.x0)


def are_marks_flush(placed_lines: Sequence[PlacedLine]) -> bool:
    """Return whether a statute prints most of its list marks at the margin.

    Args:
        placed_lines: Lines in reading order.
    """
    flush = indented = 0
    for ix, row in enumerate(placed_lines):
        if ix and load_roles().lists.matches(row.line.text):
            indented += row.is_indented
            flush += not row.is_indented and _ends_clause(placed_lines[ix - 1].line.text)
    return flush > indented
